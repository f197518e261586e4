#include "column_codes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "../device/layout/columns.hpp"
#include "base/error.hpp"
#include "base/nearest.hpp"
#include "patches.hpp"

namespace compound {

namespace {

void keep_columns(Layout& layout, int first, const LayoutSpec&, std::span<const count32>, IntegerArray&& columns) {
  layout.arrays[first] = std::move(columns);
}

void copy_columns(const layout_args& layout, int first, idx, slot_t slot, slot_t slots, idx* to) {
  const columns31<> columns(layout, first);
  for (slot_t n = 0; n < slots; ++n) to[n] = columns.at(slot + n);
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
void tile_columns(Layout& layout, int first, const LayoutSpec&, std::span<const count32> start,
                  IntegerArray&& columns) {
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

/// Whole eights: the rest of a run that has no such length, and differs from run to run, would take most of the time.
constexpr slot_t untiled_together = 8;
static_assert(untiled_together <= columns_beyond);

template <class Offset>
void add_base(idx base, const unsigned char* offsets, slot_t slots, idx* to) {
  const auto* const from = reinterpret_cast<const Offset*>(offsets);
  for (slot_t n = 0; n < slots; n += untiled_together)
    for (slot_t k = 0; k < untiled_together; ++k) to[n + k] = base + idx(from[n + k]);
}

/// Reads no more than there is.
template <class Offset>
void add_base_at_end(idx base, const unsigned char* offsets, slot_t slots, idx* to) {
  const auto* const from = reinterpret_cast<const Offset*>(offsets);
  for (slot_t n = 0; n < slots; ++n) to[n] = base + idx(from[n]);
}

void untile_columns(const layout_args& layout, int first, idx position, slot_t slot, slot_t slots, idx* to) {
  using Add = void (*)(idx, const unsigned char*, slot_t, idx*);
  constexpr Add in_eights[] = {add_base<std::uint8_t>, add_base<std::uint16_t>, add_base<std::uint32_t>};
  constexpr Add at_end[] = {add_base_at_end<std::uint8_t>, add_base_at_end<std::uint16_t>,
                            add_base_at_end<std::uint32_t>};
  const columns_of_group<Cache::keep> group = tiled_columns<>(layout, first).of(position, layout.height);
  const slot_t end = slot + slots;
  // Each slot has a byte or more: so many slots after these are bytes enough for those that are read beyond them.
  const bool is_at_end = end + slot_t{untiled_together * sizeof(count32)} > layout.slots;
  const Add add = (is_at_end ? at_end : in_eights)[group.log2_bytes()];
  const auto* const offsets = reinterpret_cast<const unsigned char*>(group.offset);
  while (slot < end) {
    const slot_t next = std::min(end, (slot | (slots_of_tile - 1)) + 1);
    add(group.base[slot / slots_of_tile], offsets + group.byte_of(slot), next - slot, to);
    to += next - slot;
    slot = next;
  }
}

void patch_columns_of(Layout& layout, int first, const LayoutSpec& spec, std::span<const count32> start,
                      IntegerArray&& columns) {
  encode_patches(layout, first, spec, start, columns.as<idx>(), no_column);
}

void find_in_patch(const layout_args& layout, int first, idx position, slot_t slot, slot_t slots, idx* to) {
  const columns_of_patch<Cache::keep> columns = patch_columns<>(layout, first).of(position, layout.height);
  for (slot_t n = 0; n < slots; ++n) to[n] = columns.at(slot + n);
}

/// The last is columns_by_patches.
constexpr ColumnCode table[] = {
    {"32", "columns32", 0, keep_columns, copy_columns},
    {"16", "tiled_columns", no_column, tile_columns<1>, untile_columns},
    {"8", "tiled_columns", no_column, tile_columns<0>, untile_columns},
    {"patch", "patch_columns", no_column, patch_columns_of, find_in_patch},
};

}  // namespace

std::span<const ColumnCode> column_codes() { return table; }

const ColumnCode& column_code(std::string_view word) {
  std::vector<std::string_view> names;
  for (const ColumnCode& c : table) {
    if (c.word == word) return c;
    names.push_back(c.word);
  }
  throw error(ErrorKind::argument, "columns=" + std::string(word) + choose({}, names));
}

}  // namespace compound
