// How a layout keeps the column of each slot: `columns=` in a plan. The decoders are in device/layout/columns.hpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "layout.hpp"

namespace compound {

inline constexpr slot_t columns_beyond = 8;

struct ColumnCode {
  std::string_view word;  ///< as in a plan: "32"
  std::string_view type;  ///< of its decoder, a template of Cache
  idx padding;            ///< what encode() wants to be given for slots without a column
  /// Puts the columns of all slots into the layout's arrays, from the `first` on; where nothing needs to be changed,
  /// they may be borrowed. `start`: [slices + 1] where slices begin, in units of the layout's height.
  void (*encode)(Layout& layout, int first, const LayoutSpec& spec, std::span<const count32> start,
                 IntegerArray&& columns);
  /// The columns of `slots` slots from `slot` on, all of them of a group of positions that `position` is of. `first`:
  /// as of encode().
  void (*decode)(const layout_args& layout, int first, idx position, slot_t slot, slot_t slots, idx* to);
};

std::span<const ColumnCode> column_codes();

/// Throws `argument` listing the words there are.
const ColumnCode& column_code(std::string_view word);

}  // namespace compound
