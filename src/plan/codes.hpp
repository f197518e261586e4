// How a plan keeps values: as they are, or as codes into a dictionary of those that differ: `codes=`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "device/target.hpp"

namespace compound {

/// What a code stands for.
/// (`chunks`: for words, in those chunks of a layout where each has a code.)
enum class CodeOf { nothing, words, chunks, blocks };

/// Where the code of a slot lies: among the values, in the highest bit of its column, or nowhere, since there is one.
enum class CodesIn { values, columns, nowhere };

struct ValueCode {
  std::string_view word;  ///< as in a plan: "blocks8"
  CodeOf of;
  std::size_t bytes;      ///< of a code
  std::size_t most;       ///< items of a dictionary
  std::string_view type;  ///< of a code in the device text
  CodesIn in = CodesIn::values;

  bool in_values() const { return in == CodesIn::values; }
  bool in_columns() const { return in == CodesIn::columns; }
};

std::span<const ValueCode> value_codes();

/// Throws `argument` listing the words there are.
const ValueCode& value_code(std::string_view word);

/// That more values differ than a dictionary has room for, and what to do.
[[noreturn]] void throw_too_many_values(const ValueCode& code);

/// Throws `too_large` for more items than a count32 numbers.
void check_items(slot_t count);

/// Codes of `count` items of `bytes` bytes each (a multiple of 4): `codes` [count], each of `code.bytes`. Items are
/// told apart by their bits (0.0 and -0.0 differ) and numbered by their first place. The distinct ones [number][bytes],
/// or nothing where they are more than code.most.
std::optional<std::vector<std::byte>> code_items(const ValueCode& code, const void* items, slot_t count,
                                                 std::size_t bytes, void* codes);

}  // namespace compound
