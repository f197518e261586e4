// How much a layout pads, before anything is packed in it.
#pragma once

#include <cstdint>

#include "layout/layout_spec.hpp"
#include "pattern.hpp"

namespace compound::bench {

/// Slots, padding among them: from the lengths of rows, where a layout goes by diagonals from the columns. Memory for
/// some integers a row.
std::uint64_t slots_of(const PatternView& pattern, const LayoutSpec& spec);

}  // namespace compound::bench
