// Builds kernel_table<S, Real>(): included once by each kernels_*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "../entry_list.hpp"
#include "kernels.hpp"

namespace compound::host {

/// Compressed rows of contiguous column-major blocks, as in PETSc's BAIJ: the same text with its integers known.
struct BaijForm {
  using Slices = slices<1, Occupancy::lengths>;
  using Words = matrix_words<1, WordOrder::column>;
  using Vector = vector_words<1>;

  static bool serves(const LayoutSpec& l) { return lies_as_baij(l) && l.vector_group == 1; }
};

/// Slices of 8 rows and words by column in groups of 8, as vector code reads them.
struct SlicesOf8Form {
  using Slices = slices<8, Occupancy::lengths>;
  using Words = matrix_words<8, WordOrder::column>;
  using Vector = vector_words<1>;

  static bool serves(const LayoutSpec& l) {
    return l.slice == 8 && l.word_group == 8 && l.word_order == WordOrder::column && l.occupancy == Occupancy::lengths;
  }
};

template <class Entry, class Stored>
void multiply(const ProductTask& t) {
  using host_forms::product_over;
  const LayoutSpec& l = t.plan.layout;
  const host_product p = host_product_of(t);
  if (BaijForm::serves(l)) return host_forms::run(product_over<Entry, Stored, BaijForm>(p), p);
  const bool gathers_all_rows = t.op == Op::none && !l.row_list && l.vector_group == 1;
  if (gathers_all_rows && SlicesOf8Form::serves(l)) {
    const auto product = product_over<Entry, Stored, SlicesOf8Form>(p);
    return p.update == Update::add ? host_forms::gather<Update::add>(product)
                                   : host_forms::gather<Update::assign>(product);
  }
  multiply_on_host<Entry, Stored>(p);
}

/// Slice by slice in the order of the slots, so that every line of the packed words is written once and whole.
template <class Entry, class Stored>
void pack_slices(const PackTask& t) {
  const auto p = packing_over<Entry, Stored, SlicesOf8Form>(host_packing_of(t));
  constexpr idx height = 8;
  for (idx position = 0; position < p.slices.positions; position += height) {
    const slot_t first = p.slices.first(position);
    const idx width = p.slices.width(position);
    idx count[height] = {};
    slot_t entry[height] = {};
    for (idx lane = 0; lane < std::min(height, p.slices.positions - position); ++lane) {
      count[lane] = p.slices.count(position + lane);
      entry[lane] = p.entry_of_first(position + lane);
    }
    for (idx k = 0; k < width; ++k)
      for (idx lane = 0; lane < height; ++lane) {
        const slot_t slot = first + k * height + lane;
        k < count[lane] ? pack_slot(p, slot, entry[lane] + k) : pack_padding(p, slot);
      }
  }
}

template <class Entry, class Stored>
void pack(const PackTask& t) {
  if (SlicesOf8Form::serves(t.plan.layout)) return pack_slices<Entry, Stored>(t);
  const host_packing p = host_packing_of(t);
  return BaijForm::serves(t.plan.layout) ? pack_on_host<Entry, Stored, BaijForm>(p) : pack_on_host<Entry, Stored>(p);
}

/// Diagonals are taken once in a while: one form will do.
template <class Entry, class Stored>
inline constexpr Kernels kernels_of{multiply<Entry, Stored>, pack<Entry, Stored>, first_misfit_on_host<Entry>,
                                    diagonal_on_host<Entry, Stored>, invert_diagonal_on_host<Entry, Stored>};

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
