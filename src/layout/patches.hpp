// Columns by patches: `columns=patch` of device/layout/columns.hpp, which products of a half go by on devices.
#pragma once

#include <span>

#include "layout.hpp"

namespace compound {

/// What positions of a layout with patches store: some entries of a block row each, longer rows in several. Patch after
/// patch, in each the longer ones first.
struct Segments {
  std::vector<idx> row, length;
  std::vector<count32> first;  ///< entry of the pattern
};

/// Of all block rows: as the pattern has them where that makes patches of few columns, else grown along the entries.
/// Throws `argument` unless the pattern is square and a patch has segments.
Segments segments_of_patches(const PatternView& upper, idx segments_of_patch);

/// Puts the places and turns of all slots and rows, and the patches' columns, into the layout's arrays from the `first`
/// on. Patches are the sorting windows of `spec`. `columns`: `padding` where a slot has none. Throws `argument` where a
/// patch has more columns than a place can number.
void encode_patches(Layout& layout, int first, const LayoutSpec& spec, std::span<const count32> start,
                    std::span<const idx> columns, idx padding);

}  // namespace compound
