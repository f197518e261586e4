#include "products.hpp"

#include <cstring>
#include <vector>

#include "../layout/family.hpp"
#include "instruction_set.hpp"
#include "processor.hpp"
#include "shape.hpp"

namespace compound::host {

namespace {

/// The form that serves a layout: its own, or that of its lists.
HostTraversal form_of(const LayoutSpec& l) {
  const HostTraversal form = family_of(l).host_form;
  return form == HostTraversal::pieces ? HostTraversal::rows : form;
}

/// Where the layout's slots and words are as a SIMD traversal of this form expects them.
bool has_form(const LayoutSpec& l, bool by_column, HostTraversal form) {
  if (form_of(l) != form || l.occupancy != Occupancy::lengths || l.vector_group != 1 || !by_column) return false;
  if (form == HostTraversal::rows) return l.word_group == 1;
  const bool wide_slices = l.slice == whole || l.slice % 8 == 0;
  const bool wide_groups = l.word_group == group_all || l.word_group % 8 == 0;
  return wide_slices && wide_groups;
}

/// Only words of dense blocks are in two orders.
bool is_by_column(const Plan& plan) { return plan.entry != "dense" || plan.layout.word_order == WordOrder::column; }

bool serves(const SimdKernel& k, const Plan& plan, const Problem& problem) {
  return has_shape(k, problem.block) && plan.entry == k.entry && (plan.values == Precision::single) == k.single &&
         (problem.scalar.field == Field::complex) == k.complex_scalars &&
         has_form(plan.layout, is_by_column(plan), k.form);
}

}  // namespace

const SimdKernel* find_simd(const Plan& plan, const Problem& problem) {
  if (!plan.schedule.simd || problem.scalar.precision != Precision::double_) return nullptr;
  const SimdTable table = simd_table(instruction_set_in_use());
  for (int i = 0; i < table.count; ++i)
    if (serves(table.first[i], plan, problem)) return &table.first[i];
  return nullptr;
}

namespace {

SimdTask simd_task(const ProductTask& t) {
  const LayoutSpec& l = t.plan.layout;
  SimdTask s;
  s.layout = t.layout;
  s.words = word_map_of(l.word_group, t.layout.slots);
  s.rows = t.problem.block.rows;
  s.cols = t.problem.block.cols;
  s.fetch_x = t.plan.schedule.fetch_x;
  s.gathers = processor().fast_gathers;
  s.values = t.values;
  s.x = static_cast<const double*>(t.x);
  s.z = t.update == Update::add ? static_cast<const double*>(t.z) : nullptr;
  s.y = static_cast<double*>(t.y);
  return s;
}

bool is_in_rows(const Plan& plan) {
  const LayoutSpec& l = plan.layout;
  return form_of(l) == HostTraversal::rows && l.word_group == 1 && is_by_column(plan) && l.vector_group == 1;
}

bool is_in_slices_of_8(const Plan& plan) {
  const LayoutSpec& l = plan.layout;
  return family_of(l).host_form == HostTraversal::slices && l.slice == 8 && l.occupancy == Occupancy::lengths &&
         l.word_group == 8 && l.word_order == WordOrder::column && l.vector_group == 1;
}

}  // namespace

HostCode::HostCode(const Plan& plan, const Problem& problem)
    : family(family_of(plan.layout)),
      kernels(*find_kernels(plan, problem)),
      simd(find_simd(plan, problem)),
      in_rows(kernels.in_rows && is_in_rows(plan)),
      in_slices_of_8(kernels.gather_in_slices_of_8 && is_in_slices_of_8(plan)),
      in_pieces(in_rows && family.host_form == HostTraversal::pieces) {}

namespace {

/// y = 0 or z, for products that add to it.
void start(const ProductTask& t) {
  const std::size_t bytes = bytes_of_y(t);
  if (bytes == 0) return;
  if (t.update == Update::assign)
    std::memset(t.y, 0, bytes);
  else if (t.y != t.z)
    std::memcpy(t.y, t.z, bytes);
}

void multiply_in_lists(const ProductTask& t, const HostCode& code) {
  host_product p = host_product_of(t);
  for_each_row_lists(code.family, t.layout, [&](const row_lists& lists) {
    p.lists = lists;
    code.kernels.in_lists(p);
  });
}

void multiply_plainly(const ProductTask& t, const HostCode& code) {
  if (code.in_rows) return code.kernels.in_rows(t);
  if (code.in_slices_of_8 && t.op == Op::none) return code.kernels.gather_in_slices_of_8(t);
  multiply_in_lists(t, code);
}

/// By forms that know how the rows are stored.
void multiply_stored_rows(const ProductTask& t, const HostCode& code) {
  if (code.simd && t.op == Op::none)
    code.simd->run(simd_task(t));
  else
    multiply_plainly(t, code);
}

/// Each list of rows as compressed rows of its own.
void multiply_in_pieces(const ProductTask& t, const HostCode& code) {
  const std::size_t bytes_of_entry = bytes_of(entry_shape(t.plan, t.problem), {t.problem.scalar.field, t.plan.values});
  std::vector<count32> start;
  layout_args rows;
  ProductTask piece{.plan = t.plan, .problem = t.problem, .layout = rows, .reordered = true};
  piece.op = t.op;
  piece.update = t.update;
  piece.x = t.x;
  piece.z = t.z;
  piece.y = t.y;
  for_each_row_lists(code.family, t.layout, [&](const row_lists& l) {
    start.assign(l.first, l.first + l.rows + 1);
    rows.positions = l.rows;
    rows.slots = l.first[l.rows];
    rows.array[common_arrays::row_of] = l.row;
    rows.array[compressed_rows_arrays::start] = start.data();
    rows.array[compressed_rows_arrays::columns] = l.column;
    piece.values = static_cast<const std::byte*>(t.values) + l.slot[0] * bytes_of_entry;
    multiply_stored_rows(piece, code);
  });
}

void multiply_all_rows(const ProductTask& t, const HostCode& code) {
  code.in_pieces ? multiply_in_pieces(t, code) : multiply_stored_rows(t, code);
}

}  // namespace

void multiply(const ProductTask& t) {
  const HostCode& code = static_cast<const HostCode&>(*t.code);
  if (t.op == Op::none && visits_all_rows(code.family, t.plan.layout, t.layout)) return multiply_all_rows(t, code);
  start(t);  // rows that are not visited are 0 or z; the others, and scattered ones, add to that
  ProductTask rest = t;
  rest.update = Update::add;
  rest.z = t.y;
  multiply_all_rows(rest, code);
}

void pack(const PackTask& t) {
  const LayoutSpec& l = t.plan.layout;
  const Kernels kernels = *find_kernels(t.plan, t.problem);
  const bool by_column = l.word_order == WordOrder::column;
  auto* const run = by_column && l.word_group == 1 && kernels.pack_in_rows          ? kernels.pack_in_rows
                    : by_column && l.word_group == 8 && kernels.pack_in_groups_of_8 ? kernels.pack_in_groups_of_8
                                                                                    : kernels.pack;
  host_packing p;
  p.rows = t.problem.block.rows;
  p.cols = t.problem.block.cols;
  p.words = word_map_of(l.word_group, t.layout.slots);
  p.words_by_row = !by_column;
  p.blocks = t.blocks;
  p.values = t.values;
  for_each_slot_lists(family_of(l), t.layout, [&](const slot_lists& lists) {
    p.lists = lists;
    run(p);
  });
}

}  // namespace compound::host
