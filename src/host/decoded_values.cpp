#include "decoded_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace compound::host {

namespace {

/// f(code_of) with what gives the code of a slot, of codes of blocks.
template <class F>
void with_codes(const ValueCode& code, const void* codes, const F& f) {
  if (code.in == CodesIn::nowhere) return f([](slot_t) { return slot_t{0}; });
  if (code.in_columns())
    return f(
        [bit = values_by_bit<>{{}, static_cast<const count32*>(codes)}](slot_t slot) { return slot_t(bit.at(slot)); });
  if (code.bytes == 1)
    return f([of = static_cast<const std::uint8_t*>(codes)](slot_t slot) { return slot_t{of[slot]}; });
  f([of = static_cast<const std::uint16_t*>(codes)](slot_t slot) { return slot_t{of[slot]}; });
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
  with_codes(code_, coded_.codes, [&](auto code_of) {
    for (std::size_t n = 0; n < slot_.size(); ++n) slot_[n] = code_of(lists.slot[n]);
  });
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
struct Word {
  std::byte of[bytes];
};

template <std::size_t bytes>
void look_up_words(const std::uint8_t* code, const std::byte* table, slot_t words, std::byte* to) {
  const auto* const from = reinterpret_cast<const Word<bytes>*>(table);
  auto* const all = reinterpret_cast<Word<bytes>*>(to);
#pragma GCC unroll 8
  for (slot_t n = 0; n < words; ++n) all[n] = from[code[n]];
}

auto* look_up_of(std::size_t bytes) {
  return bytes == 4 ? look_up_words<4> : bytes == 8 ? look_up_words<8> : look_up_words<16>;
}

/// The same of a multiple of 8, rows of one diagonal or neighbours in a slice: on uniform meshes eight of them have one
/// code nearly everywhere.
template <std::size_t bytes>
void look_up_neighbours(const std::uint8_t* code, const std::byte* table, slot_t words, std::byte* to) {
  const auto* const from = reinterpret_cast<const Word<bytes>*>(table);
  auto* const all = reinterpret_cast<Word<bytes>*>(to);
  for (slot_t n = 0; n < words; n += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, code + n, sizeof(eight));
    if (eight == code[n] * 0x0101010101010101u)
      for (int k = 0; k < 8; ++k) all[n + k] = from[code[n]];
    else
      for (int k = 0; k < 8; ++k) all[n + k] = from[code[n + k]];
  }
}

/// Blocks of `bytes`, known to the compiler, or of any number of them.
template <std::size_t bytes, class CodeOf>
void copy_blocks(const CodeOf& code_of, const std::byte* table, slot_t first, slot_t slots, std::byte* to) {
  for (slot_t n = 0; n < slots; ++n) std::memcpy(to + n * bytes, table + code_of(first + n) * bytes, bytes);
}
template <class CodeOf>
void copy_blocks(const CodeOf& code_of, const std::byte* table, slot_t first, slot_t slots, std::byte* to,
                 std::size_t bytes) {
  constexpr std::size_t most_known = 128;
  bool done = false;
  const auto copy_known = [&]<std::size_t n>(std::integral_constant<std::size_t, n>) {
    if (bytes == n) copy_blocks<n>(code_of, table, first, slots, to), done = true;
  };
  if (bytes % 8 == 0 && bytes <= most_known) [&]<std::size_t... n>(std::index_sequence<n...>) {
      (copy_known(std::integral_constant<std::size_t, 8 * (n + 1)>{}), ...);
    }
  (std::make_index_sequence<most_known / 8>{});
  for (slot_t n = 0; !done && n < slots; ++n) std::memcpy(to + n * bytes, table + code_of(first + n) * bytes, bytes);
}

}  // namespace

void DecodedValues::copy_blocks_in_order(slot_t first, slot_t slots) {
  with_codes(code_, coded_.codes, [&](auto code_of) {
    copy_blocks(code_of, static_cast<const std::byte*>(coded_.values), first, slots, copied_.data(),
                words_of_entry_ * bytes_of_word_);
  });
}

const void* DecodedValues::in_order(slot_t first, slot_t slots) {
  const auto* const values = static_cast<const std::uint8_t*>(coded_.values);
  const auto* const table = static_cast<const std::byte*>(coded_.table);
  if (code_.of == CodeOf::nothing) return values + first * words_of_entry_ * bytes_of_word_;
  const slot_t each = words_of_entry_, apart = each * bytes_of_word_;
  if (copied_.size() < std::size_t(slots * apart)) copied_.resize(slots * apart);
  std::byte* to = copied_.data();
  if (code_.of == CodeOf::blocks) {
    copy_blocks_in_order(first, slots);
    return to;
  }
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

namespace {

/// A group of blocks from a table: word k of block i to place k * together + i.
template <std::size_t bytes, int together, class CodeOf>
void copy_group(const CodeOf& code_of, const Word<bytes>* table, slot_t first, int words, Word<bytes>* to) {
  const Word<bytes>* from[together];
  bool one = true;
  for (int i = 0; i < together; ++i) {
    from[i] = table + code_of(first + i) * words;
    one = one && from[i] == from[0];
  }
  if (one)  // nearly everywhere on uniform meshes
    for (int k = 0; k < words; ++k)
      for (int i = 0; i < together; ++i) to[k * together + i] = from[0][k];
  else
    for (int k = 0; k < words; ++k)
      for (int i = 0; i < together; ++i) to[k * together + i] = from[i][k];
}

}  // namespace

template <std::size_t bytes, int together>
void DecodedValues::append(slot_t first, slot_t slots, std::byte* to) {
  const int words = words_of_entry_;
  if (code_.of == CodeOf::blocks)
    return with_codes(code_, coded_.codes, [&](auto code_of) {
      for (slot_t n = 0; n < slots; n += together)
        copy_group<bytes, together>(code_of, static_cast<const Word<bytes>*>(coded_.values), first + n, words,
                                    reinterpret_cast<Word<bytes>*>(to) + n * words);
    });
  const auto* const values = static_cast<const std::uint8_t*>(coded_.values);
  const auto copy = [&](slot_t word, slot_t count) {
    if (code_.of == CodeOf::words)
      look_up_neighbours<bytes>(values + word, static_cast<const std::byte*>(coded_.table), count, to);
    else
      std::memcpy(to, values + word * bytes, count * bytes);
    to += count * bytes;
  };
  if (coded_map_.stride == together) return copy(coded_map_.first(first, words), slots * words);
  for (slot_t n = 0; n < slots; n += together)
    for (int k = 0; k < words; ++k) copy(coded_map_.first(first + n, words) + k * coded_map_.stride, together);
}

void DecodedValues::append_groups(slot_t first, slot_t slots, int together) {
  const std::size_t more = slots * words_of_entry_ * bytes_of_word_;
  if (copied_.size() < filled_ + more) copied_.resize(2 * (filled_ + more));
  std::byte* const to = copied_.data() + filled_;
  filled_ += more;
  const bool wide = together == 32;
  if (bytes_of_word_ == 4) return wide ? append<4, 32>(first, slots, to) : append<4, 8>(first, slots, to);
  if (bytes_of_word_ == 8) return wide ? append<8, 32>(first, slots, to) : append<8, 8>(first, slots, to);
  wide ? append<16, 32>(first, slots, to) : append<16, 8>(first, slots, to);
}

}  // namespace compound::host
