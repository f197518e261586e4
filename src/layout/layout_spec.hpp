// LayoutSpec: a layout as a value. The names of the literature are rows of one table of presets.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "../device/layout/slices.hpp"
#include "../device/layout/words.hpp"

namespace compound {

/// Word groups as printed: a power of two, or `all`.
inline constexpr idx group_all = 0;
/// Matrix words in the order of a matrix's scalar rows (ValueOrder::rows of plan.hpp), which is no grouping of entries.
inline constexpr idx group_rows = -1;
inline std::string word_group_text(idx group) { return group == group_all ? "all" : std::to_string(group); }
/// A slice, or a sorting window, of all rows.
inline constexpr idx whole = 0;
inline constexpr idx any_number = std::numeric_limits<idx>::max();

struct LayoutFamily;

/// Columns as places in patches of rows (device/layout/columns.hpp): those of the half of a matrix on a device.
inline constexpr std::string_view columns_by_patches = "patch";

/// What may stand at a place of a layout's name: a number from `least` to `most`, or `all` where `whole` is among what
/// is allowed. Fixed where the two are one.
struct PresetNumber {
  idx usual, least, most;
  bool all = false;
  std::string_view letter = {};  ///< in the form of the name: "C" of sell[:C[:sigma]]
  constexpr bool is_fixed() const { return least == most; }
};

/// A name of the literature for a member of a family; also what follows a type's name where it is pinned.
struct Preset {
  std::string_view name;
  std::string_view description;
  const LayoutFamily* family;
  PresetNumber slice, sigma, each = {1, 1, 1};
};

inline constexpr std::size_t preset_count = 7;
std::span<const Preset> presets();
std::string preset_names();
/// With the numbers that may follow: "csr, ellr, sell[:C[:sigma]]".
std::string preset_forms();
const Preset& preset(std::string_view name);

struct LayoutSpec {
  std::string_view preset = "csr";
  idx slice = 1;                             ///< slice height C; coordinates: threads of a chunk, B
  idx sigma = 1;                             ///< rows sorted by length in windows of sigma positions; 1: kept
  idx each = 1;                              ///< coordinates: entries of a thread, K
  std::string_view columns = "32";           ///< code of the columns (column_codes.hpp)
  Occupancy occupancy = Occupancy::lengths;  ///< how padding is told from entries
  bool row_list = false;                     ///< only non-empty rows are stored
  idx word_group = 1;                        ///< matrix words: grouped<word_group>, or group_rows
  WordOrder word_order = WordOrder::column;  ///< order of a dense block's words
  bool padded = false;                       ///< each entry's words fill whole accesses of 16 bytes; groups of 1 alone
  idx vector_group = 1;                      ///< vector words: grouped<vector_group>
  bool operator==(const LayoutSpec&) const = default;
};

/// "csr", "ellr", "sell:32", "sell:8:256" (sigma), "bellpack:64", "dia", "hdia:32", "ccoo:256:2". Where two names say
/// the same ("sell:64:all"), the spec has the narrower one's. Throws `argument` listing what is allowed.
LayoutSpec parse_layout(std::string_view text);

/// The same notation; parse_layout(layout_name(s)) gives preset and numbers back.
std::string layout_name(const LayoutSpec& spec);

/// Throws `argument` unless the whole text is a number in [least, most]; `what` names it in the message.
idx parse_number(std::string_view text, idx least, idx most, std::string_view what);

/// Scalars of a vector of `items` blocks of n scalars in groups of `group`: whole groups.
inline std::size_t vector_scalars(idx items, int n, idx group) {
  const std::size_t size = items;
  return n * (group <= 1 ? size : (size + group - 1) / group * group);
}

/// Whether words lie entry after entry, with nothing between.
inline bool have_same_words(const LayoutSpec& a, const LayoutSpec& b) {
  return a.word_group == b.word_group && a.word_order == b.word_order && a.padded == b.padded;
}
inline bool words_adjoin(const LayoutSpec& spec) { return spec.word_group == 1 && !spec.padded; }

/// Of coordinates.
inline idx slots_of_chunk(const LayoutSpec& spec) { return spec.slice * spec.each; }

/// The device text's word map for words in groups of `group` over `items` items, each followed by `padding` more.
inline word_map<dynamic> word_map_of(idx group, slot_t items, int padding = 0) {
  word_map<dynamic> map;
  map.padding = padding;
  map.shift = group == group_all ? slot_t{word_map<1>::one_group} : word_map<1>::log2_of(group);
  map.stride = group == group_all ? items : slot_t{group};
  return map;
}

}  // namespace compound
