// LayoutSpec: a layout as a value. The names of the literature are rows of one table of presets.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/layout/slices.hpp"
#include "device/layout/words.hpp"

namespace compound {

/// Word groups as printed: a power of two, or `all`.
inline constexpr idx group_all = 0;
/// A slice, or a sorting window, of all rows.
inline constexpr idx whole = 0;

struct Preset {
  std::string_view name;
  std::string_view description;
  idx slice;                     ///< default slice height; `whole`: one slice
  idx slice_least, slice_most;   ///< heights that may be asked for; equal: the height is part of the name
  std::string_view constructor;  ///< suffix of the registered PETSc type
};

inline constexpr std::size_t preset_count = 3;
std::span<const Preset> presets();
std::string preset_names();
const Preset& preset(std::string_view name);

struct LayoutSpec {
  std::string_view preset = "csr";
  idx slice = 1;                             ///< slice height C
  idx sigma = 1;                             ///< rows sorted by length in windows of sigma positions; 1: kept
  Occupancy occupancy = Occupancy::lengths;  ///< how padding is told from entries
  bool row_list = false;                     ///< only non-empty rows are stored
  idx word_group = 1;                        ///< matrix words: grouped<word_group>
  WordOrder word_order = WordOrder::column;  ///< order of a dense block's words
  idx vector_group = 1;                      ///< vector words: grouped<vector_group>
  bool operator==(const LayoutSpec&) const = default;
};

/// "csr", "ellr", "sell:32", "sell:8:256" (sigma), "sell:32:all". Throws `argument` listing what is allowed.
LayoutSpec parse_layout(std::string_view text);

/// Why its sorting window does not fit its slices, in words.
std::optional<std::string> misfit_of_window(const LayoutSpec& spec);

/// The same notation; parse_layout(layout_name(s)) gives preset, slice and sigma back.
std::string layout_name(const LayoutSpec& spec);

/// Throws `argument` unless the whole text is a number in [least, most]; `what` names it in the message.
idx parse_number(std::string_view text, idx least, idx most, std::string_view what);

/// Compressed rows whose entries' words lie together, column by column: so PETSc's BAIJ has its blocks.
inline bool lies_as_baij(const LayoutSpec& l) {
  return l.slice == 1 && l.word_group == 1 && l.word_order == WordOrder::column;
}

/// Scalars of a vector of `items` blocks of n scalars in groups of `group`: whole groups.
inline std::size_t vector_scalars(idx items, int n, idx group) {
  const std::size_t size = items;
  return n * (group <= 1 ? size : (size + group - 1) / group * group);
}

/// The device text's word map for words in groups of `group` over `items` items.
inline word_map<dynamic> word_map_of(idx group, slot_t items) {
  word_map<dynamic> map;
  map.shift = group == group_all ? slot_t{word_map<1>::one_group} : word_map<1>::log2_of(group);
  map.stride = group == group_all ? items : slot_t{group};
  return map;
}

}  // namespace compound
