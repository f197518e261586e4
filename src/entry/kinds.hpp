// The kinds of entry there are, as a table: name, shape, words.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/scalar.hpp"
#include "base/shape.hpp"
#include "device/entry/traits.hpp"

namespace compound {

/// Rows, columns and stored words of one entry; words 0 where a kind does not exist.
struct EntryShape {
  int rows = 0, cols = 0, words = 0;
  bool real_words = false;  ///< words are real numbers although the block is complex
  bool operator==(const EntryShape&) const = default;
};

/// Of one entry's words in a matrix of these scalars, or in the precision they are stored in.
constexpr std::size_t bytes_of(const EntryShape& shape, ScalarType scalar) {
  return shape.words * (shape.real_words ? bytes_of(scalar.precision) : bytes_of(scalar));
}

/// What device/entry/traits.hpp says, for code that learns the kind while it runs.
struct EntryKind {
  std::string_view name;
  std::string_view type;           ///< its template
  EntryShape in_real, in_complex;  ///< of a kind with one shape
  int sizes = 0;                   ///< that `type` takes beside the scalar: 2 rows and columns, 1 that of square blocks
  int (*words)(BlockShape) = nullptr;  ///< of a kind that takes sizes
  bool approximate = false;            ///< a block may differ a little: never chosen unasked
  bool user_defined = false;           ///< registered while the program runs (entry_registry.hpp): only by name
  Multiples multiples = Multiples::none;
  HostForm host_form = HostForm::plain;

  /// Of this kind in a matrix of such blocks; words 0 where it does not exist.
  EntryShape shape(Field field, BlockShape block) const;
  /// Why that is, in words: "entry complex needs blocks of 2x2, the matrix has 3x3". Empty where it does exist.
  std::string why_not(Field field, BlockShape block) const;
};

/// All kinds there are by now; those that are added come last and leave the others where they are.
const std::deque<EntryKind>& entry_kinds();

/// For entry_registry.cpp alone. `name` and `type` must live as long as the program, as the row does.
EntryKind& add_entry_kind(const EntryKind& kind);

/// Throws `argument` listing the names there are.
const EntryKind& entry_kind(std::string_view name);

/// Names for messages and help: "dense, complex, quaternion".
std::string entry_kind_names();

/// Those of the kinds that are built in, for help and documents: "..., unit_quaternion (approximate)".
std::string built_in_entry_names();

}  // namespace compound
