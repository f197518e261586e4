// The families of layouts as a table: everything that knows one is its row, its encoder (src/layout/<family>.cpp) and
// its decoder (src/device/layout).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "layout.hpp"
#include "lists.hpp"

namespace compound {

struct LayoutFamily {
  std::string_view number;  ///< what LayoutSpec::slice is, for messages
  /// What the numbers of `spec` may not be, or what does not go with them, in words; empty if all is well.
  std::optional<std::string> (*why_not)(const LayoutSpec& spec);
  Layout (*encode)(const PatternView& pattern, const LayoutSpec& spec, PatternLifetime lifetime);
  /// What encode() would make, without making it.
  LayoutCount (*count)(const PatternView& pattern, const LayoutSpec& spec, PatternLifetime lifetime);

  /// The decoder as the device text names it, with this order of rows and code of columns ("columns32<...>").
  std::string (*decoder)(const LayoutSpec& spec, std::string_view order, std::string_view columns);
  /// The same where only the family is known: for kernels that all its layouts share.
  std::string_view any_decoder;
  HostTraversal host_form;  ///< `lists` where the host has no kernels that know the family or its lists
  /// lists.hpp
  idx (*list_rows)(const layout_args&, idx from, RowLists& to);
  idx (*list_slots)(const layout_args&, idx from, SlotLists& to);

  std::span<const Traversal> traversals;      ///< that go through it, the usual one first
  bool slots_are_entries;                     ///< slot s holds entry s of the pattern
  bool interleaved;                           ///< neighbouring positions' slots lie side by side
  int visited_rows = -1;                      ///< the array that lists the rows visited where not all are
  int columns = -1;                           ///< the first array of a column for each slot, in a code: `columns=`
  bool has_presence;                          ///< padding may be told by presence bits: `presence`
  bool has_row_list;                          ///< empty rows may be left out: `rowlist`
  idx (*word_group)(const LayoutSpec& spec);  ///< that suits it
  /// Of a block of threads, where the layout depends on it; null: any number.
  int (*threads)(const LayoutSpec& spec) = nullptr;
  /// outline(), of columns as they are; null where more than the columns depends on them.
  Layout (*outline)(const PatternView& pattern, const LayoutSpec& spec) = nullptr;

  bool has_columns() const { return columns >= 0; }
  /// Whether slots are in chunks of slots_of_chunk().
  bool has_chunks() const { return threads != nullptr; }
  bool goes_by(Traversal traversal) const { return std::ranges::find(traversals, traversal) != traversals.end(); }
};

const LayoutFamily& family_of(const LayoutSpec& spec);

/// Whether products write all rows of y, by a list of rows or not; where they do not, y must be 0 or z before.
inline bool visits_all_rows(const LayoutFamily& family, bool row_list, const layout_args& layout) {
  return !row_list && (family.visited_rows < 0 || !layout.array[family.visited_rows]);
}

/// Whether rows may be stored in another order, so that y is written by a list.
inline bool may_reorder(const LayoutSpec& spec) { return spec.row_list || spec.sigma != 1; }

/// f(lists) for all of a layout that `list` gives, some at a time.
template <class Lists, class F>
void for_each_lists(idx (*list)(const layout_args&, idx, Lists&), const layout_args& layout, const F& f,
                    Lists lists = {}) {
  for (idx position = 0; position < layout.positions;) {
    position = list(layout, position, lists);
    f(lists.view());
  }
}

/// Its rows.
template <class F>
void for_each_row_lists(const LayoutFamily& family, const layout_args& layout, const F& f) {
  for_each_lists(family.list_rows, layout, f);
}

/// Its rows where slots follow each other: the first one of each list is given.
template <class F>
void for_each_piece(const LayoutFamily& family, const layout_args& layout, const F& f) {
  RowLists lists;
  lists.first_slot_only = true;
  for_each_lists(family.list_rows, layout, f, std::move(lists));
}

/// Its slots.
template <class F>
void for_each_slot_lists(const LayoutFamily& family, const layout_args& layout, const F& f) {
  for_each_lists(family.list_slots, layout, f);
}

/// Words interleaved over a slice.
idx words_of_slices(const LayoutSpec& spec);

// The rows.
extern const LayoutFamily compressed_rows_family, slices_family, diagonal_slices_family, coordinates_family;

}  // namespace compound
