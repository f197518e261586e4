#include "pieces.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../device/layout/compressed_rows.hpp"
#include "../device/layout/diagonal_slices.hpp"
#include "../device/layout/slices.hpp"

namespace compound::host {

namespace {

bool has_columns32(const Plan& plan) { return plan.layout.columns == LayoutSpec{}.columns; }

/// Kernels that know codes are those of diagonals, of words of real dense blocks.
bool reads_codes(const Plan& plan, const Problem& problem) {
  const CodeOf codes = value_code(plan.codes).of;
  const bool may_be_coded = family_of(plan.layout).host_form == HostTraversal::diagonals && plan.entry == "dense" &&
                            problem.scalar.field == Field::real;
  return codes == CodeOf::nothing || (codes == CodeOf::words && may_be_coded);
}

/// Rows that traversals take together, of words in groups of as many.
int rows_together(HostTraversal form) {
  return form == HostTraversal::slices ? 8 : form == HostTraversal::diagonals ? 32 : 1;
}

/// Columns and words of a piece: half of a first cache.
constexpr slot_t bytes_of_piece = 16384;

/// Pieces of slices are whole ones up to this height.
constexpr idx most_rows = 64;
idx height_of_pieces(idx height) { return height <= most_rows ? height : height % 32 == 0 ? 32 : 8; }

/// Whether the words of whole slices are those of a layout of them alone.
bool words_of_slices_adjoin(const LayoutSpec& l) {
  return l.slice != whole && l.slice <= most_rows && l.word_group != group_all && l.slice % l.word_group == 0;
}

}  // namespace

bool is_read_by_pieces(const Plan& plan, const Problem& problem) {
  const HostTraversal form = family_of(plan.layout).host_form;
  if (form == HostTraversal::lists || plan.layout.word_group == group_rows) return false;
  return form == HostTraversal::pieces || !has_columns32(plan) || !reads_codes(plan, problem);
}

Plan plan_as_read(const Plan& plan, const Problem& problem) {
  Plan read = plan;
  if (!is_read_by_pieces(plan, problem)) return read;
  const HostTraversal form = family_of(plan.layout).host_form;
  const CodeOf codes = value_code(plan.codes).of;
  const int together = rows_together(form);
  idx& group = read.layout.word_group;
  read.layout.columns = LayoutSpec{}.columns;
  read.codes = "none";
  if (codes == CodeOf::blocks) read.layout.padded = false;
  const bool in_groups = codes == CodeOf::blocks || group == group_all || group % together == 0;
  const bool lie_there = codes == CodeOf::nothing && words_of_slices_adjoin(plan.layout);
  if (together > 1 && in_groups && !lie_there) group = together;
  return read;
}

bool padding_is_finite(const ProductTask& t) {
  const bool has_padding = rows_together(family_of(t.plan.layout).host_form) > 1;
  if (!has_padding || value_code(t.plan.codes).of != CodeOf::blocks || t.layout.slots == 0) return true;
  const auto all_finite = [&]<class Real>(const Real* number) {
    const std::size_t bytes = entry_shape(t.plan, t.problem).words * bytes_of_word(t.plan, t.problem);
    return std::all_of(number, number + bytes / sizeof(Real), [](Real r) { return std::isfinite(r); });
  };
  return t.plan.values == Precision::single ? all_finite(static_cast<const float*>(t.values))
                                            : all_finite(static_cast<const double*>(t.values));
}

Pieces::Pieces(const ProductTask& t, const Plan& read)
    : whole_(t),
      family_(family_of(t.plan.layout)),
      columns_(column_code(t.plan.layout.columns)),
      form_(family_.host_form),
      height_(height_of_pieces(t.layout.height)),
      together_(value_code(t.plan.codes).of == CodeOf::nothing && words_of_slices_adjoin(t.plan.layout)
                    ? 0
                    : rows_together(form_)),
      columns_lie_there_(has_columns32(t.plan) && !value_code(t.plan.codes).in_columns() && t.layout.height <= height_),
      bytes_of_entry_(entry_shape(t.plan, t.problem).words * bytes_of_word(t.plan, t.problem)),
      most_slots_(std::clamp<slot_t>(bytes_of_piece / (sizeof(idx) + bytes_of_entry_), 64, 2048)),
      values_(t.plan, t.problem, {t.values, t.codes, t.table, t.layout.height},
              matrix_word_map(t.plan, t.problem, t.layout.slots)),
      piece_{.plan = read, .problem = t.problem, .layout = layout_, .reordered = t.reordered} {
  layout_.height = form_ == HostTraversal::slices || form_ == HostTraversal::diagonals ? height_ : 1;
  piece_.rows = t.rows;
  piece_.cols = t.cols;
  piece_.op = t.op;
  piece_.update = t.update;
  piece_.x = t.x;
  piece_.z = t.z;
  piece_.y = t.y;
}

/// Adds the columns of slots of one group of positions to the piece's `columns`.
void Pieces::take_columns(idx position, slot_t slot, slot_t slots) {
  const std::size_t needed = taken_columns_ + slots + columns_beyond;
  if (column_.size() < needed) column_.resize(2 * needed);
  columns_.decode(whole_.layout, family_.columns, position, slot, slots, column_.data() + taken_columns_);
  taken_columns_ += slots;
}

/// Rows from `from` on; the one to go on with.
idx Pieces::take_rows(idx from) {
  const auto* const start = whole_.layout.get<count32>(compressed_rows_arrays::start);
  const idx together = static_cast<idx>(positions_of_group(1));
  const slot_t first = start[from], most = first + most_slots_;
  idx to = from;
  taken_columns_ = 0;
  while (to < whole_.layout.positions && (to == from || start[to] < most)) {
    const idx next = std::min(to + together - to % together, whole_.layout.positions);
    if (!columns_lie_there_) take_columns(to, start[to], slot_t{start[next]} - start[to]);
    to = next;
  }
  start_.resize(to - from + 1);
  for (idx p = from; p <= to; ++p) start_[p - from] = static_cast<count32>(start[p] - first);
  layout_.slots = start[to] - first;
  layout_.array[compressed_rows_arrays::start] = start_.data();
  layout_.array[compressed_rows_arrays::columns] =
      columns_lie_there_ ? whole_.layout.get<idx>(compressed_rows_arrays::columns) + first : column_.data();
  piece_.values = values_.in_order(first, layout_.slots);
  return to;
}

/// Slots of one slice, and rows, of all that is kept for each.
void Pieces::take_run(idx position, slot_t slot, slot_t slots) {
  if (form_ == HostTraversal::slices) {
    if (!columns_lie_there_) take_columns(position, slot, slots);
  } else {
    const auto* const presence = whole_.layout.get<count32>(diagonal_slices_arrays::presence);
    presence_.insert(presence_.end(), presence + slot / 32, presence + (slot + slots) / 32);
  }
  if (together_ > 0) values_.append_groups(slot, slots, together_);
}

/// The same of slices, or of parts of them.
idx Pieces::take_slices(idx from) {
  static_assert(int{slices_arrays::start} == int{diagonal_slices_arrays::start});
  const auto* const start = whole_.layout.get<count32>(slices_arrays::start);
  const auto* const offset = whole_.layout.get<idx>(diagonal_slices_arrays::offset);
  const slot_t height = whole_.layout.height, most = most_slots_;
  taken_columns_ = 0;
  presence_.clear();
  offset_.clear();
  values_.clear();
  start_.assign(1, 0);
  idx to = from;
  while (to < whole_.layout.positions && slot_t{start_.back()} * height_ < most) {
    const slot_t slice = to / height, width = slot_t{start[slice + 1]} - start[slice];
    const slot_t first = start[slice] * height + to % height;
    if (height == height_)
      take_run(to, first, width * height);
    else
      for (slot_t k = 0; k < width; ++k) take_run(to, first + k * height, height_);
    if (form_ == HostTraversal::diagonals)
      offset_.insert(offset_.end(), offset + start[slice], offset + start[slice + 1]);
    start_.push_back(static_cast<count32>(start_.back() + width));
    to = std::min(to + height_, whole_.layout.positions);
  }
  layout_.slots = slot_t{start_.back()} * height_;
  layout_.array[slices_arrays::start] = start_.data();
  if (form_ == HostTraversal::slices) {
    layout_.array[slices_arrays::length] = whole_.layout.get<idx>(slices_arrays::length) + from;
    layout_.array[slices_arrays::columns] =
        columns_lie_there_ ? whole_.layout.get<idx>(slices_arrays::columns) + start[from / height] * height
                           : column_.data();
  } else {
    layout_.array[diagonal_slices_arrays::offset] = offset_.data();
    layout_.array[diagonal_slices_arrays::presence] = presence_.data();
  }
  piece_.values = together_ > 0
                      ? values_.groups()
                      : static_cast<const std::byte*>(whole_.values) + start[from / height] * height * bytes_of_entry_;
  return to;
}

void Pieces::take_list(const row_lists& l) {
  start_.assign(l.first, l.first + l.rows + 1);
  layout_.positions = l.rows;
  layout_.slots = l.first[l.rows];
  layout_.array[common_arrays::row_of] = l.row;
  layout_.array[compressed_rows_arrays::start] = start_.data();
  layout_.array[compressed_rows_arrays::columns] = l.column;
  piece_.reordered = true;
  piece_.values = values_.in_order(l.slot[0], layout_.slots);
}

namespace {

template <class T>
T* beyond(T* vector, std::size_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return vector ? static_cast<Byte*>(vector) + bytes : nullptr;
}

}  // namespace

/// Positions are rows, unless they are listed: then vectors begin where the piece does, and so does x for diagonals.
void Pieces::place(idx first, idx positions) {
  layout_.positions = positions;
  if (const auto* const row_of = whole_.layout.get<idx>(common_arrays::row_of)) {
    layout_.array[common_arrays::row_of] = row_of + first;
    return;
  }
  const BlockShape& b = whole_.problem.block;
  const std::size_t scalar = bytes_of(whole_.problem.scalar), rows = scalar * first * b.rows;
  if (whole_.op == Op::none) {
    piece_.y = beyond(whole_.y, rows);
    piece_.z = beyond(whole_.z, rows);
    if (form_ == HostTraversal::diagonals) piece_.x = beyond(whole_.x, scalar * first * b.cols);
  } else {
    piece_.x = beyond(whole_.x, rows);
  }
}

}  // namespace compound::host
