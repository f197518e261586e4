// Which size of blocks has the fastest products (Choi, Singh and Vuduc 2010, section 6.5).
#pragma once

#include <span>

#include "backend/backend.hpp"
#include "options/settings.hpp"
#include "pattern/block_size.hpp"

namespace compound::plugin {

/// Of these sizes, by the default plan of each, or one of the layout that is asked for: as settings.block_size.by says,
/// predicted, or measured with two packed matrices at a time. A size that has no product (memory above all) is left
/// out; of equals the first.
BlockShape fastest_block(const Settings& settings, const PatternView& pattern, int given,
                         std::span<const DetectedBlock> sizes, Backend& on);

}  // namespace compound::plugin
