// Rows of a layout, some at a time, as a layout of their own: with columns of 32 bits, and words in place of codes.
// Kernels that know a family of layouts, but no codes, go through these while they are in a core's first cache.
#pragma once

#include <vector>

#include "../layout/column_codes.hpp"
#include "../layout/family.hpp"
#include "backend/backend.hpp"
#include "decoded_values.hpp"

namespace compound::host {

/// Whether kernels that know the family of the plan's layout read it by pieces alone.
bool is_read_by_pieces(const Plan& plan, const Problem& problem);
/// The plan that such kernels then read; otherwise the plan itself.
Plan plan_as_read(const Plan& plan, const Problem& problem);

/// Whether what pieces have in padding may be multiplied by 0: of codes of blocks it is the first block, which may hold
/// infinity.
bool padding_is_finite(const ProductTask& task);

/// Of a task without transposition, or of one over rows of which the kernels know the plan as read.
class Pieces {
 public:
  /// `read`: of plan_as_read().
  Pieces(const ProductTask& task, const Plan& read);

  /// f() for each: task() multiplies its rows.
  template <class F>
  void for_each(const F& f);
  const ProductTask& task() const { return piece_; }

 private:
  idx take_rows(idx from);
  idx take_slices(idx from);
  void take_columns(idx position, slot_t slot, slot_t slots);
  void take_run(idx position, slot_t slot, slot_t slots);
  void take_list(const row_lists& lists);
  void place(idx first, idx positions);

  const ProductTask& whole_;
  const LayoutFamily& family_;
  const ColumnCode& columns_;
  HostTraversal form_;
  idx height_;    ///< of a piece's slices
  idx together_;  ///< of words; 0: they are read where they lie
  bool columns_lie_there_;
  std::size_t bytes_of_entry_;
  slot_t most_slots_;
  DecodedValues values_;
  std::vector<count32> start_, presence_;
  std::vector<idx> column_, offset_;
  std::size_t taken_columns_ = 0;  ///< of `column_`
  layout_args layout_;
  ProductTask piece_;
};

template <class F>
void Pieces::for_each(const F& f) {
  if (form_ == HostTraversal::pieces) {
    return for_each_piece(family_, whole_.layout, [&](const row_lists& lists) {
      take_list(lists);
      f();
    });
  }
  for (idx position = 0; position < whole_.layout.positions;) {
    const idx next = form_ == HostTraversal::rows ? take_rows(position) : take_slices(position);
    place(position, next - position);
    f();
    position = next;
  }
}

}  // namespace compound::host
