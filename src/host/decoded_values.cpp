#include "decoded_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace compound::host {

namespace {

template <class Code>
void look_up_as(const row_lists& lists, const void* codes, slot_t* to) {
  const auto* const code = static_cast<const Code*>(codes);
  for (slot_t n = 0; n < lists.first[lists.rows]; ++n) to[n] = code[lists.slot[n]];
}

void look_up_bits(const row_lists& lists, const count32* columns, slot_t* to) {
  const values_by_bit<> bit{{}, columns};
  for (slot_t n = 0; n < lists.first[lists.rows]; ++n) to[n] = bit.at(lists.slot[n]);
}

/// Words of `bytes` each, known to the compiler.
template <std::size_t bytes>
void copy_words_of(const std::uint8_t* code, const std::byte* table, slot_t apart, int words, std::byte* to) {
  for (int k = 0; k < words; ++k) std::memcpy(to + k * bytes, table + code[k * apart] * bytes, bytes);
}

}  // namespace

DecodedValues::DecodedValues(const Plan& plan, const Problem& problem, const CodedValues& coded,
                             const word_map<dynamic>& map)
    : code_(value_code(plan.codes)),
      coded_(coded),
      coded_map_(map),
      map_(code_.of == CodeOf::nothing ? map : word_map_of(1, 0)),
      words_of_entry_(entry_shape(plan, problem).words),
      bytes_of_word_(bytes_of_word(plan, problem)),
      words_(coded.values) {}

row_lists DecodedValues::decoded(const row_lists& lists) {
  if (code_.of == CodeOf::nothing) return lists;
  slot_.resize(lists.first[lists.rows]);
  if (code_.of == CodeOf::blocks)
    look_up(lists);
  else if (code_.of == CodeOf::chunks)
    copy_words_of_chunks(lists);
  else
    copy_coded_words(lists);
  row_lists found = lists;
  found.slot = slot_.data();
  return found;
}

void DecodedValues::look_up(const row_lists& lists) {
  if (code_.in == CodesIn::nowhere)
    std::ranges::fill(slot_, slot_t{0});
  else if (code_.in_columns())
    look_up_bits(lists, static_cast<const count32*>(coded_.codes), slot_.data());
  else if (code_.bytes == 1)
    look_up_as<std::uint8_t>(lists, coded_.codes, slot_.data());
  else
    look_up_as<std::uint16_t>(lists, coded_.codes, slot_.data());
}

namespace {

using CopyCoded = void (*)(const std::uint8_t*, const std::byte*, slot_t, int, std::byte*);
CopyCoded copy_of(std::size_t bytes) {
  return bytes == 4 ? copy_words_of<4> : bytes == 8 ? copy_words_of<8> : copy_words_of<16>;
}

}  // namespace

/// copy(slot, to) for each of the lists.
template <class Copy>
void DecodedValues::copy_words(const row_lists& lists, const Copy& copy) {
  const std::size_t each = words_of_entry_ * bytes_of_word_;
  copied_.resize(slot_.size() * each);
  for (std::size_t n = 0; n < slot_.size(); ++n) {
    copy(lists.slot[n], copied_.data() + n * each);
    slot_[n] = static_cast<slot_t>(n);
  }
  words_ = copied_.data();
}

void DecodedValues::copy_coded_words(const row_lists& lists) {
  const auto* const codes = static_cast<const std::uint8_t*>(coded_.values);
  copy_words(lists, [&, copy = copy_of(bytes_of_word_), table = static_cast<const std::byte*>(coded_.table)](
                        slot_t slot, std::byte* to) {
    copy(codes + coded_map_.first(slot, words_of_entry_), table, coded_map_.stride, words_of_entry_, to);
  });
}

void DecodedValues::copy_words_of_chunks(const row_lists& lists) {
  const auto* const places = static_cast<const chunk_place*>(coded_.codes);
  const auto* const values = static_cast<const std::uint8_t*>(coded_.values);
  copy_words(lists, [&, copy = copy_of(bytes_of_word_), table = static_cast<const std::byte*>(coded_.table)](
                        slot_t slot, std::byte* to) {
    const slot_t chunk = slot / coded_.chunk, first = coded_map_.first(slot % coded_.chunk, words_of_entry_);
    const chunk_place place = places[chunk];
    const auto* const words = values + place.unit() * coded_.chunk * words_of_entry_;
    if (place.is_coded()) return copy(words + first, table, coded_map_.stride, words_of_entry_, to);
    for (int k = 0; k < words_of_entry_; ++k)
      std::memcpy(to + k * bytes_of_word_, words + (first + k * coded_map_.stride) * bytes_of_word_, bytes_of_word_);
  });
}

namespace {

template <std::size_t bytes>
void look_up_words(const std::uint8_t* code, const std::byte* table, slot_t words, std::byte* to) {
  struct Word {
    std::byte of[bytes];
  };
  const auto* const from = reinterpret_cast<const Word*>(table);
  auto* const all = reinterpret_cast<Word*>(to);
  for (slot_t n = 0; n < words; ++n) all[n] = from[code[n]];
}

auto* look_up_of(std::size_t bytes) {
  return bytes == 4 ? look_up_words<4> : bytes == 8 ? look_up_words<8> : look_up_words<16>;
}

}  // namespace

const void* DecodedValues::in_order(slot_t first, slot_t slots) {
  const auto* const values = static_cast<const std::uint8_t*>(coded_.values);
  const auto* const table = static_cast<const std::byte*>(coded_.table);
  if (code_.of == CodeOf::nothing) return values + first * words_of_entry_ * bytes_of_word_;
  const slot_t each = words_of_entry_, apart = each * bytes_of_word_;
  copied_.resize(slots * apart);
  std::byte* to = copied_.data();
  if (code_.of == CodeOf::words) {
    look_up_of(bytes_of_word_)(values + first * each, table, slots * each, to);
    return to;
  }
  const auto* const places = static_cast<const chunk_place*>(coded_.codes);
  for (slot_t slot = first, end = first + slots, next; slot < end; slot = next) {
    const slot_t chunk = slot / coded_.chunk, begin = chunk * coded_.chunk;
    next = std::min(end, begin + coded_.chunk);
    const auto* const words = values + places[chunk].unit() * coded_.chunk * each;
    if (places[chunk].is_coded())
      look_up_of(bytes_of_word_)(words + (slot - begin) * each, table, (next - slot) * each, to);
    else
      std::memcpy(to, words + (slot - begin) * apart, (next - slot) * apart);
    to += (next - slot) * apart;
  }
  return copied_.data();
}

}  // namespace compound::host
