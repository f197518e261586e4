#include "column_codes.hpp"

#include <algorithm>
#include <string>

#include "../device/layout/columns.hpp"
#include "../error.hpp"

namespace compound {

namespace {

void keep_columns(Layout& layout, int first, IntegerArray columns) { layout.arrays[first] = std::move(columns); }

constexpr idx no_column = -1;

struct Tile {
  idx base = 0;
  int log2_bytes = 0;  ///< of an offset from it
};

/// Padding takes the base, whatever it is.
Tile tile_of(std::span<const idx> columns, int least_log2) {
  idx least = any_number, most = 0;
  for (const idx c : columns)
    if (c != no_column) {
      least = std::min(least, c);
      most = std::max(most, c);
    }
  if (least > most) return {0, least_log2};
  const idx range = most - least;
  return {least, std::max(least_log2, range < 1 << 8 ? 0 : range < 1 << 16 ? 1 : 2)};
}

void put_offsets(std::span<const idx> columns, const Tile& tile, count32* to) {
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const std::size_t byte = n << tile.log2_bytes;
    const auto offset = static_cast<count32>(columns[n] == no_column ? 0 : columns[n] - tile.base);
    to[byte / sizeof(count32)] |= offset << (8 * (byte % sizeof(count32)));
  }
}

/// The arrays of device/layout/columns.hpp.
template <int least_log2>
void tile_columns(Layout& layout, int first, IntegerArray columns) {
  const std::span<const idx> all = columns.as<idx>();
  const std::size_t tiles = (all.size() + slots_of_tile - 1) / slots_of_tile;
  const auto columns_of = [&](std::size_t t) {
    return all.subspan(t * slots_of_tile, std::min<std::size_t>(slots_of_tile, all.size() - t * slots_of_tile));
  };
  std::vector<slot_t> tile(tiles);
  std::vector<count32> offsets;
  for (std::size_t t = 0; t < tiles; ++t) {
    constexpr std::size_t unit = slots_of_tile / sizeof(count32);  // words of a tile of bytes
    const Tile made = tile_of(columns_of(t), least_log2);
    const std::size_t at = offsets.size();
    if (at / unit >= std::size_t{1} << 30)
      throw error(ErrorKind::too_large, "codes of columns beyond 32 GB; use columns=32");
    tile[t] = static_cast<slot_t>((4 * (at / unit) + made.log2_bytes) << 32 | static_cast<count32>(made.base));
    offsets.resize(at + (unit << made.log2_bytes), 0);
    put_offsets(columns_of(t), made, &offsets[at]);
  }
  if (offsets.empty()) offsets.push_back(0);  // no array means columns of 32 bits
  layout.arrays[first + tiled_columns_arrays::tile] = {"column_tile", std::move(tile)};
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
