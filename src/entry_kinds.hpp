// The kinds of entry there are, as a table: name, shape, words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scalar_type.hpp"

namespace compound {

/// Rows, columns and stored words of one entry; words 0 where the kind does not exist in a field.
struct EntryShape {
  int rows = 0, cols = 0, words = 0;
  bool real_words = false;  ///< words are real numbers although the block is complex
  bool operator==(const EntryShape&) const = default;
};

struct EntryKind {
  std::string_view name;
  std::string_view description;
  EntryShape in_real, in_complex;  ///< rows 0: any shape (dense)

  const EntryShape& shape(Field field) const { return field == Field::real ? in_real : in_complex; }
};

std::span<const EntryKind> entry_kinds();

/// Throws `argument` listing the names there are.
const EntryKind& entry_kind(std::string_view name);

/// Names for messages and help: "dense, complex, quaternion".
std::string entry_kind_names();

}  // namespace compound
