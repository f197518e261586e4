// Columns by patches: `columns=patch` of device/layout/columns.hpp, which products of a half go by on devices.
#pragma once

#include <span>

#include "layout.hpp"

namespace compound {

/// All block rows, patch after patch, each of `rows` of them: as the pattern has them where that makes patches of few
/// columns, else grown along the entries. Within a patch longer rows come first.
std::vector<idx> patch_order(const PatternView& upper, idx rows);

/// Puts the places and turns of all slots, and the patches' columns, into the layout's arrays from the `first` on.
/// Patches are the sorting windows of `spec`; all rows are stored. `columns`: `padding` where a slot has none. Throws
/// `argument` where a patch has more columns than a place can number.
void encode_patches(Layout& layout, int first, const LayoutSpec& spec, std::span<const count32> start,
                    std::span<const idx> columns, idx padding);

}  // namespace compound
