#include "plan/codes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "device/code_items.hpp"

namespace compound {

namespace {

constexpr ValueCode table[] = {
    {"none", CodeOf::nothing, 0, 0, ""},
    {"blocks0", CodeOf::blocks, 1, 1, "unsigned char", CodesIn::nowhere},
    {"blocks1", CodeOf::blocks, 1, 2, "unsigned char", CodesIn::columns},
    {"scalars8", CodeOf::words, 1, 256, "unsigned char"},
    {"chunks8", CodeOf::chunks, 1, 256, "unsigned char"},
    {"blocks8", CodeOf::blocks, 1, 256, "unsigned char"},
    {"blocks16", CodeOf::blocks, 2, 65536, "unsigned short"},
};

}  // namespace

std::span<const ValueCode> value_codes() { return table; }

const ValueCode& value_code(std::string_view word) {
  std::vector<std::string_view> names;
  for (const ValueCode& c : table) {
    if (c.word == word) return c;
    names.push_back(c.word);
  }
  throw error(ErrorKind::argument, "codes=" + std::string(word) + choose(word, names));
}

void throw_too_many_values(const ValueCode& code) {
  const std::string what = std::string(code.of == CodeOf::blocks ? "block" : "scalar") + (code.most == 1 ? "" : "s");
  throw error(ErrorKind::argument, "codes=" + std::string(code.word) + " has room for " + std::to_string(code.most) +
                                       " different " + what + " and the matrix has more; use codes=none" +
                                       (code.of == CodeOf::blocks && code.most <= 256 ? " or codes=blocks16" : ""));
}

void check_items(slot_t count) {
  if (count >= no_item) throw error(ErrorKind::too_large, "codes for more than 2^32 values; use codes=none");
}

std::optional<std::vector<std::byte>> code_items(const ValueCode& code, const void* items, slot_t count,
                                                 std::size_t bytes, void* codes) {
  check_items(count);
  std::vector<count32> first(places_of(code.most), no_item), code_at(first.size());
  const item_table found{static_cast<const bits32*>(items), static_cast<int>(bytes / sizeof(bits32)), first.data(),
                         static_cast<count32>(first.size() - 1)};
  std::vector<std::byte> distinct;
  for (slot_t item = 0; item < count; ++item) {
    const count32 place = found.place_of(item);
    if (first[place] == no_item) {
      const std::size_t number = distinct.size() / bytes;
      if (number == code.most) return {};
      first[place] = static_cast<count32>(item);
      code_at[place] = static_cast<count32>(number);
      const auto* const from = static_cast<const std::byte*>(items) + item * bytes;
      distinct.insert(distinct.end(), from, from + bytes);
    }
    // Of little endian, as devices and their hosts are.
    std::memcpy(static_cast<std::byte*>(codes) + item * code.bytes, &code_at[place], code.bytes);
  }
  return distinct;
}

}  // namespace compound
