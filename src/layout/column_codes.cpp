#include "column_codes.hpp"

#include <algorithm>
#include <string>

#include "../device/layout/columns.hpp"
#include "../error.hpp"

namespace compound {

namespace {

void keep_columns(Layout& layout, int first, std::span<const count32>, IntegerArray columns) {
  layout.arrays[first] = std::move(columns);
}

constexpr idx no_column = -1;

/// The least column of each tile; padding has none.
std::vector<idx> bases_of(std::span<const idx> columns) {
  std::vector<idx> base((columns.size() + slots_of_tile - 1) / slots_of_tile, any_number);
  for (std::size_t slot = 0; slot < columns.size(); ++slot)
    if (columns[slot] != no_column) base[slot / slots_of_tile] = std::min(base[slot / slots_of_tile], columns[slot]);
  std::ranges::replace(base, any_number, 0);
  return base;
}

/// A group of positions: its slots, and its offsets from the tiles' bases.
struct Group {
  std::span<const idx> columns, base;
  std::size_t first, end;

  /// Padding takes the base, whatever it is.
  count32 offset(std::size_t slot) const {
    return columns[slot] == no_column ? 0 : static_cast<count32>(columns[slot] - base[slot / slots_of_tile]);
  }
  int log2_bytes(int least) const {
    count32 range = 0;
    for (std::size_t slot = first; slot < end; ++slot) range = std::max(range, offset(slot));
    return std::max(least, range < 1 << 8 ? 0 : range < 1 << 16 ? 1 : 2);
  }
  void put(int log2_bytes, count32* to) const {
    for (std::size_t slot = first; slot < end; ++slot) {
      const std::size_t byte = (slot - first) << log2_bytes;
      to[byte / sizeof(count32)] |= offset(slot) << (8 * (byte % sizeof(count32)));
    }
  }
};

/// The arrays of device/layout/columns.hpp.
template <int least_log2>
void tile_columns(Layout& layout, int first, std::span<const count32> start, IntegerArray columns) {
  const std::span<const idx> all = columns.as<idx>();
  std::vector<idx> base = bases_of(all);
  std::vector<slot_t> groups;
  std::vector<count32> offsets;
  const auto slices = static_cast<slot_t>(start.size()) - 1,
             together = positions_of_group(layout.height) / layout.height;
  const auto slots_before = [&](slot_t slice) { return std::size_t{start[slice]} * layout.height; };
  for (slot_t slice = 0; slice < slices; slice += together) {
    const Group group{all, base, slots_before(slice), slots_before(std::min(slice + together, slices))};
    const int log2_bytes = group.log2_bytes(least_log2);
    const std::size_t at = offsets.size();
    const auto of_slot_0 = static_cast<slot_t>(at * sizeof(count32)) - static_cast<slot_t>(group.first << log2_bytes);
    groups.push_back(4 * of_slot_0 + log2_bytes);
    offsets.resize(at + (((group.end - group.first) << log2_bytes) + 3) / sizeof(count32), 0);
    group.put(log2_bytes, offsets.data() + at);
  }
  if (offsets.empty()) offsets.push_back(0);  // no array means columns of 32 bits
  layout.arrays[first + tiled_columns_arrays::base] = {"column_base", std::move(base)};
  layout.arrays[first + tiled_columns_arrays::group] = {"column_group", std::move(groups)};
  layout.arrays[first + tiled_columns_arrays::offset] = {"column_offset", std::move(offsets)};
}

constexpr ColumnCode table[] = {
    {"32", "columns32", 0, keep_columns},
    {"16", "tiled_columns", no_column, tile_columns<1>},
    {"8", "tiled_columns", no_column, tile_columns<0>},
};

}  // namespace

std::span<const ColumnCode> column_codes() { return table; }

const ColumnCode& column_code(std::string_view word) {
  std::string names;
  for (const ColumnCode& c : table) {
    if (c.word == word) return c;
    names += (names.empty() ? "" : ", ") + std::string(c.word);
  }
  throw error(ErrorKind::argument, "columns=" + std::string(word) + "; choose " + names);
}

}  // namespace compound
