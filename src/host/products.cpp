#include "products.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../layout/family.hpp"
#include "backend.hpp"
#include "base/error.hpp"
#include "decoded_values.hpp"
#include "instruction_set.hpp"
#include "pieces.hpp"
#include "plan/entry_shifts.hpp"
#include "processor.hpp"
#include "row_words.hpp"
#include "shape.hpp"

namespace compound::host {

namespace {

/// The form of kernels that know a plan's family of layouts.
HostTraversal form_of(const Plan& p) {
  if (p.layout.word_group == group_rows) return HostTraversal::row_words;
  const HostTraversal form = family_of(p.layout).host_form;
  return form == HostTraversal::pieces ? HostTraversal::rows : form;
}

/// Whether slices, and groups of words, are whole numbers of so many rows.
bool are_multiples_of(idx rows, const LayoutSpec& l) {
  const bool wide_slices = l.slice == whole || l.slice % rows == 0;
  const bool wide_groups = l.word_group == group_all || l.word_group % rows == 0;
  return wide_slices && wide_groups;
}

/// Where the layout's slots and words are as a SIMD traversal of this form expects them.
bool has_form(const Plan& plan, bool by_column, HostTraversal form) {
  const LayoutSpec& l = plan.layout;
  if (form_of(plan) != form || l.occupancy != Occupancy::lengths || l.vector_group != 1 || !by_column) return false;
  if (form == HostTraversal::row_words) return true;
  if (form == HostTraversal::rows) return words_adjoin(l);
  if (form == HostTraversal::diagonals) return !may_reorder(l) && are_multiples_of(32, l);
  return are_multiples_of(8, l);
}

/// Only words of dense blocks are in two orders.
bool is_by_column(const Plan& plan) { return plan.entry != "dense" || plan.layout.word_order == WordOrder::column; }

bool serves(const SimdKernel& k, const Plan& plan, const Problem& problem) {
  return has_shape(k, problem.block) && plan.entry == k.entry &&
         (k.form == HostTraversal::diagonals && value_code(plan.codes).of == CodeOf::words) == k.coded &&
         (problem.scalar.field == Field::complex) == k.complex_scalars && has_form(plan, is_by_column(plan), k.form);
}

}  // namespace

const SimdKernel* find_simd(const Plan& plan, const Problem& problem) {
  const bool half = plan.half != Half::none;
  if (!plan.schedule.simd || problem.scalar.precision != Precision::double_) return nullptr;
  const SimdTable table = simd_table(instruction_set_in_use());
  const Plan read = plan_as_read(plan, problem);
  for (const SimdKernel& k : plan.values == Precision::single ? table.of_floats : table.of_doubles)
    if (serves(k, read, problem) && (k.half || !half)) return &k;
  return nullptr;
}

namespace {

SimdTask simd_task(const ProductTask& t) {
  SimdTask s;
  s.layout = t.layout;
  s.words = matrix_word_map(t.plan, t.problem, t.layout.slots);
  s.rows = t.problem.block.rows;
  s.cols = t.problem.block.cols;
  s.fetch_x = t.plan.schedule.fetch_x;
  s.conjugate = t.op == Op::hermitian;
  s.gathers = processor().fast_gathers;
  s.values = t.values;
  s.table = t.table;
  s.x = static_cast<const double*>(t.x);
  s.z = t.update == Update::add ? static_cast<const double*>(t.z) : nullptr;
  s.y = static_cast<double*>(t.y);
  return s;
}

bool is_in_rows(const Plan& plan) {
  const LayoutSpec& l = plan.layout;
  return form_of(plan) == HostTraversal::rows && words_adjoin(l) && is_by_column(plan) && l.vector_group == 1;
}

bool is_in_slices_of_8(const Plan& plan) {
  const LayoutSpec& l = plan.layout;
  return form_of(plan) == HostTraversal::slices && l.slice == 8 && l.occupancy == Occupancy::lengths &&
         l.word_group == 8 && l.word_order == WordOrder::column && l.vector_group == 1;
}

}  // namespace

bool HostCode::knows_rows(Op op) const {
  if (row_words || in_rows || (simd && simd->scatter)) return true;
  return op == Op::none && (simd || in_slices_of_8);
}

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

/// The task that adds to y, once y is 0 or z.
ProductTask started(const ProductTask& t) {
  start(t);
  ProductTask rest = t;
  rest.update = Update::add;
  rest.z = t.y;
  return rest;
}

void multiply_in_lists(const ProductTask& t, const HostCode& code) {
  host_product p = host_product_of(t);
  DecodedValues values(t.plan, t.problem, {p.values, t.codes, t.table, t.layout.height}, p.words);
  for_each_row_lists(code.family, t.layout, [&](const row_lists& lists) {
    p.lists = values.decoded(lists);
    p.values = values.words();
    p.words = values.map();
    code.kernels.in_lists(p);
  });
}

/// By kernels that know how the rows are stored.
void multiply_stored_rows(const ProductTask& t, const HostCode& code) {
  if (code.simd && t.op == Op::none) return code.simd->run(simd_task(t));
  if (code.simd && code.simd->scatter && t.op != Op::none) return code.simd->scatter(simd_task(t));
  if (code.row_words) return code.row_words(t);
  code.in_rows ? code.kernels.in_rows(t) : code.kernels.gather_in_slices_of_8(t);
}

void multiply_all_rows(const ProductTask& t, const HostCode& code) {
  if (!code.knows_rows(t.op)) return multiply_in_lists(t, code);
  if (!code.by_pieces) return multiply_stored_rows(t, code);
  if (!padding_is_finite(t)) return multiply_in_lists(t, code);
  Pieces pieces(t, code.read);
  pieces.for_each([&] { multiply_stored_rows(pieces.task(), code); });
}

/// f(lists) for all slots, with the entries of `blocks`.
template <class F>
void for_each_packed(const PackTask& t, const F& f) {
  if (t.runs.runs == 0) return for_each_slot_lists(family_of(t.plan.layout), t.layout, f);
  std::vector<slot_t> of_whole;
  EntryShifts shift(*t.part);
  for_each_slot_lists(family_of(t.plan.layout), t.layout, [&](const slot_lists& lists) {
    of_whole.assign(lists.entry, lists.entry + lists.slots);
    for (slot_t& entry : of_whole)
      if (entry >= 0) entry += shift(entry);
    f({lists.slots, lists.slot, of_whole.data()});
  });
}

/// Slots of padding get the first code: they are never read.
template <class Code>
void pack_codes_as(const PackTask& t) {
  const auto* const from = static_cast<const Code*>(t.blocks);
  auto* const to = static_cast<Code*>(t.values);
  for_each_packed(t, [&](const slot_lists& lists) {
    for (slot_t n = 0; n < lists.slots; ++n) to[lists.slot[n]] = lists.entry[n] >= 0 ? from[lists.entry[n]] : Code{0};
  });
}

void pack_bits(const PackTask& t) {
  const auto* const from = static_cast<const std::uint8_t*>(t.blocks);
  auto* const columns = static_cast<count32*>(t.values);
  for_each_packed(t, [&](const slot_lists& lists) {
    for (slot_t n = 0; n < lists.slots; ++n)
      if (lists.entry[n] >= 0) bit_words::put(columns + lists.slot[n], from[lists.entry[n]]);
  });
}

void pack_codes(const PackTask& t, const ValueCode& code) {
  if (code.in_columns()) return pack_bits(t);
  code.bytes == 1 ? pack_codes_as<std::uint8_t>(t) : pack_codes_as<std::uint16_t>(t);
}

/// Whatever the plan.
void run_any(const ProductTask& t, const HostCode& code) {
  if (t.op == Op::none && visits_all_rows(code.family, t.plan.layout.row_list, t.layout))
    return multiply_all_rows(t, code);
  multiply_all_rows(started(t), code);  // rows that are not visited are 0 or z; the others, and scattered ones, add
}

/// The op of the task that the stored half of a plan stands for.
Op op_of(Half half) { return half == Half::hermitian ? Op::hermitian : Op::transpose; }

/// y = [z +] A x, and as well A^T x or A^H x, whichever A is.
void multiply_by_half(const ProductTask& t, const HostCode& code) {
  ProductTask rest = started(t);
  rest.op = op_of(t.plan.half);
  if (code.by_pieces) return multiply_in_lists(rest, code);
  if (code.simd) return code.simd->half(simd_task(rest));
  code.in_rows ? code.kernels.in_rows(rest) : multiply_in_lists(rest, code);
}

/// n numbers, every other one of which is the imaginary part of the one before it.
template <class Real>
void conjugate_numbers(const Real* from, Real* to, slot_t n) {
  for (slot_t k = 0; k < n; k += 2) {
    to[k] = from[k];
    to[k + 1] = -from[k + 1];
  }
}

/// By the conjugate of A, which A^H is of a symmetric one and A^T of a Hermitian one: that of A times conjugate x. Of
/// complex matrices alone, and seldom asked for.
template <class Real>
void multiply_by_conjugate_half(const ProductTask& t, const HostCode& code) {
  const slot_t n = 2 * scalars_of_y(t);
  Buffer<Real> x(*host_backend(), n), y(*host_backend(), n);
  conjugate_numbers(static_cast<const Real*>(t.x), x.data(), n);
  ProductTask whole = t;
  whole.x = x.data();
  whole.y = y.data();
  if (t.update == Update::add) {
    conjugate_numbers(static_cast<const Real*>(t.z), y.data(), n);
    whole.z = y.data();
  }
  multiply_by_half(whole, code);
  conjugate_numbers(y.data(), static_cast<Real*>(t.y), n);
}

void multiply_transposed_half(const ProductTask& t, const HostCode& code) {
  const ScalarType& scalar = t.problem.scalar;
  if (t.op == op_of(t.plan.half) || scalar.field == Field::real) return multiply_by_half(t, code);
  scalar.precision == Precision::single ? multiply_by_conjugate_half<float>(t, code)
                                        : multiply_by_conjugate_half<double>(t, code);
}

void gather_by_simd(const ProductTask& t, const HostCode& code) { code.simd->run(simd_task(t)); }

void scatter_by_simd(const ProductTask& t, const HostCode& code) { code.simd->scatter(simd_task(started(t))); }

}  // namespace

HostCode::HostCode(const Plan& plan, const Problem& problem)
    : gather(run_any),
      scatter(run_any),
      family(family_of(plan.layout)),
      read(plan_as_read(plan, problem)),
      kernels(*find_kernels(plan, problem)),
      simd(find_simd(plan, problem)),
      row_words(find_row_words(plan, problem)),
      in_rows(kernels.in_rows && is_in_rows(read)),
      in_slices_of_8(kernels.gather_in_slices_of_8 && is_in_slices_of_8(read)),
      by_pieces(is_read_by_pieces(plan, problem)) {
  if (plan.half != Half::none) {
    gather = multiply_by_half;
    scatter = multiply_transposed_half;
    return;
  }
  if (by_pieces || plan.layout.row_list || family.visited_rows >= 0) return;
  if (simd) {
    gather = gather_by_simd;
    if (simd->scatter) scatter = scatter_by_simd;
  } else if (row_words) {
    gather = [](const ProductTask& t, const HostCode& code) { code.row_words(t); };
  } else if (in_rows) {
    gather = [](const ProductTask& t, const HostCode& code) { code.kernels.in_rows(t); };
  }
}

double* HostCode::room_for(slot_t numbers) const {
  if (room_.bytes() < numbers * sizeof(double)) {
    room_ = {};
    room_ = Buffer<double>(*host_backend(), numbers);
  }
  return room_.data();
}

std::string_view HostCode::name() const { return name_of(simd ? instruction_set_in_use() : InstructionSet::plain); }

/// Vector traversals of slices take several rows at once.
std::string HostCode::remark(const Plan& plan, const Problem& problem) const {
  const idx height = plan.layout.slice;
  if (simd || height == whole) return {};
  for (const idx together : {8, 32}) {
    Plan other = plan;
    other.layout.slice = together;
    if (other.layout.word_group != group_all) other.layout.word_group = together;
    if (height % together != 0 && find_simd(other, problem))
      return "slices of " + std::to_string(height) + " rows have no vector code, heights that are multiples of " +
             std::to_string(together) + " have";
  }
  return {};
}

bool multiply_vectors(const ProductTask& t, const VectorsTask& vectors) {
  const auto& code = static_cast<const HostCode&>(*t.code);
  if (t.op != Op::none || code.gather != gather_by_simd || !code.simd->several || vectors.count == 1) return false;
  const int parts = t.problem.scalar.field == Field::complex ? 2 : 1, together = code.simd->together;
  const int most = 2 * together;  // a traversal: x of more falls out of the second cache
  SimdTask s = simd_task(t);
  s.numbers = slot_t{t.cols} * parts * t.problem.block.cols;
  s.x_apart = parts * vectors.x_apart;
  s.z_apart = parts * vectors.z_apart;
  s.y_apart = parts * vectors.y_apart;
  s.interleaved = code.room_for(s.numbers * ((std::min(vectors.count, most) + together - 1) / together * together));
  for (int left = vectors.count; left > 0; left -= most) {
    s.vectors = std::min(left, most);
    (s.vectors > 1 ? code.simd->several : code.simd->run)(s);
    s.x += most * s.x_apart;
    if (s.z) s.z += most * s.z_apart;
    s.y += most * s.y_apart;
  }
  return true;
}

void pack(const PackTask& t) {
  const LayoutSpec& l = t.plan.layout;
  if (const ValueCode& code = value_code(t.plan.codes); code.of == CodeOf::blocks) return pack_codes(t, code);
  const Kernels kernels = *find_kernels(t.plan, t.problem);
  const bool by_column = l.word_order == WordOrder::column;
  auto* const run = by_column && words_adjoin(l) && kernels.pack_in_rows            ? kernels.pack_in_rows
                    : by_column && l.word_group == 8 && kernels.pack_in_groups_of_8 ? kernels.pack_in_groups_of_8
                                                                                    : kernels.pack;
  host_packing p;
  p.rows = t.problem.block.rows;
  p.cols = t.problem.block.cols;
  p.words = matrix_word_map(t.plan, t.problem, t.layout.slots);
  p.words_by_row = !by_column;
  p.blocks = t.blocks;
  p.values = t.values;
  for_each_packed(t, [&](const slot_lists& lists) {
    p.lists = lists;
    run(p);
  });
}

}  // namespace compound::host
