// Builds kernel_table<S, Real>(): included once by each kernels_*.cpp.
#pragma once

#include <array>
#include <type_traits>

#include "../device/layout/compressed_rows.hpp"
#include "../device/layout/slices.hpp"
#include "entry/list.hpp"
#include "kernels.hpp"

namespace compound::host {

/// Compressed rows of contiguous column-major blocks, as in PETSc's BAIJ: the same text with its integers known.
struct BaijForm {
  using Layout = compressed_rows<RowOrder::any, columns32<>>;
  using Words = matrix_words<1, WordOrder::column>;
  using Vector = vector_words<1>;
};

/// Slices of 8 rows and words by column in groups of 8, as vector code reads them.
struct SlicesOf8Form {
  using Layout = slices<8, Occupancy::lengths, RowOrder::any, columns32<>>;
  using Words = matrix_words<8, WordOrder::column>;
  using Vector = vector_words<1>;
};

template <class Entry, class Stored>
void multiply_in_rows(const ProductTask& t) {
  using Form = BaijForm;
  const auto p =
      host_forms::product_over<Entry, Stored, Form>(host_product_of(t), Form::Layout(t.layout), own_values{});
  host_forms::run(p, t.op, t.update, t.plan.half != Half::none);
}

template <class Entry, class Stored>
void gather_in_slices_of_8(const ProductTask& t) {
  using Form = SlicesOf8Form;
  const auto p =
      host_forms::product_over<Entry, Stored, Form>(host_product_of(t), Form::Layout(t.layout), own_values{});
  t.update == Update::add ? host_forms::gather<Update::add>(p) : host_forms::gather<Update::assign>(p);
}

/// Diagonals are taken once in a while, and packing waits for memory: one form of rows will do.
template <class Entry, class Stored>
inline constexpr Kernels kernels_of{.in_lists = multiply_on_host<Entry, Stored>,
                                    .in_rows = multiply_in_rows<Entry, Stored>,
                                    .gather_in_slices_of_8 = gather_in_slices_of_8<Entry, Stored>,
                                    .pack = pack_on_host<Entry, Stored>,
                                    .pack_in_rows = pack_on_host<Entry, Stored, BaijForm>,
                                    .pack_in_groups_of_8 = pack_on_host<Entry, Stored, SlicesOf8Form>,
                                    .first_misfit = first_misfit_on_host<Entry>,
                                    .diagonal = diagonal_on_host<Entry, Stored>,
                                    .invert_diagonal = invert_diagonal_on_host<Entry, Stored>};

template <class Entry, class Real>
constexpr KernelRow kernel_row() {
  using Stored = typename stored_as<typename Entry::word, Real>::type;
  return {Entry::name, Entry::any_size, Entry::block_rows, Entry::block_cols, kernels_of<Entry, Stored>};
}

template <class Real, class... Entries>
constexpr auto rows_of(entry_list<Entries...>) {
  return std::array{kernel_row<Entries, Real>()...};
}

template <class S, class Real>
std::span<const KernelRow> kernel_table() {
  static constexpr auto rows = rows_of<Real>(typename compiled_entries<S>::list{});
  return rows;
}

}  // namespace compound::host
