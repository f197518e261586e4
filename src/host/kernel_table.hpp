// Builds kernel_table<S, Real>(): included once by each kernels_*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "../device/pack_values.hpp"
#include "../device/spmv_rows.hpp"
#include "../entry_list.hpp"
#include "kernels.hpp"

namespace compound::host {

/// Scalars of a vector of `items` blocks of n scalars: whole groups.
inline std::size_t vector_scalars(idx items, int n, idx group) {
  const std::size_t size = items;
  return n * (group <= 1 ? size : (size + group - 1) / group * group);
}

template <class Entry>
Entry entry_of(const Problem& problem) {
  return Entry::of(problem.block.rows, problem.block.cols);
}

template <class Slices>
Slices slices_of(const LayoutArrays& l) {
  Slices s;
  s.height = l.height;
  s.positions = l.positions;
  s.start = l.start;
  s.length = l.length;
  s.column = l.column;
  s.presence = l.presence;
  s.row_of = l.row_of;
  return s;
}

/// The plain kernel: everything but entry, precision and operation at run time.
struct AnyForm {
  using Slices = slices<dynamic, Occupancy::any>;
  static constexpr slot_t group = dynamic, vector_group = dynamic;
  static constexpr WordOrder order = WordOrder::any;
};

/// Compressed rows of contiguous column-major blocks, as in PETSc's BAIJ: the same text with its integers known.
struct BaijForm {
  using Slices = slices<1, Occupancy::lengths>;
  static constexpr slot_t group = 1, vector_group = 1;
  static constexpr WordOrder order = WordOrder::column;

  static bool serves(const LayoutSpec& l) {
    return l.slice == 1 && l.word_group == 1 && l.word_order == WordOrder::column && l.vector_group == 1;
  }
};

/// Slices of 8 rows and words by column in groups of 8, as vector code reads them.
struct SlicesOf8Form {
  using Slices = slices<8, Occupancy::lengths>;
  static constexpr slot_t group = 8, vector_group = 1;
  static constexpr WordOrder order = WordOrder::column;

  static bool serves(const LayoutSpec& l) {
    return l.slice == 8 && l.word_group == 8 && l.word_order == WordOrder::column && l.occupancy == Occupancy::lengths;
  }
};

template <class Form>
auto matrix_words_of(const LayoutSpec& l, slot_t slots) {
  return matrix_words<Form::group, Form::order>{map_of<Form::group>(l.word_group, slots), l.word_order};
}

template <class Entry, class Stored, class Form>
auto product_of(const ProductTask& t) {
  using Words = matrix_words<Form::group, Form::order>;
  using Vector = vector_words<Form::vector_group>;
  using S = typename Entry::scalar;
  product<Entry, Stored, typename Form::Slices, Words, Vector> p;
  const LayoutSpec& l = t.plan.layout;
  const bool gathers = t.op == Op::none;
  p.entry = entry_of<Entry>(t.problem);
  p.slices = slices_of<typename Form::Slices>(t.layout);
  p.matrix_words = matrix_words_of<Form>(l, t.layout.slots);
  p.x_words = Vector{map_of<Form::vector_group>(l.vector_group, gathers ? t.cols : t.rows)};
  p.y_words = Vector{map_of<Form::vector_group>(l.vector_group, gathers ? t.rows : t.cols)};
  p.values = static_cast<const Stored*>(t.values);
  p.x = static_cast<const S*>(t.x);
  p.z = static_cast<const S*>(t.z);
  p.y = static_cast<S*>(t.y);
  return p;
}

/// Fetches what a position's entries are some 2 KB later, into all caches: they may be used again.
template <class Product>
void prefetch_row(const Product& p, idx position) {
  if constexpr (!std::is_same_v<decltype(p.slices), slices<1, Occupancy::lengths>>) return;
  const slot_t entry_bytes = slot_t(p.entry.words()) * sizeof(typename Product::stored_type);
  const char* const first = reinterpret_cast<const char*>(p.values) + p.slices.first(position) * entry_bytes + 2048;
  for (slot_t at = 0; at < p.slices.count(position) * entry_bytes; at += 64) __builtin_prefetch(first + at);
}

template <Update update, class Product>
void gather(const Product& p) {
  for (idx position = 0; position < p.slices.positions; ++position) {
    prefetch_row(p, position);
    multiply_row<Op::none, update, 1>(p, position, 0);
  }
}

template <Op op, class Product>
void scatter(const Product& p) {
  for (idx position = 0; position < p.slices.positions; ++position) {
    prefetch_row(p, position);
    scatter_row<op>(p, position);
  }
}

template <class Entry, class Stored, class Form>
void multiply_form(const ProductTask& t) {
  using S = typename Entry::scalar;
  auto p = product_of<Entry, Stored, Form>(t);
  const idx group = t.plan.layout.vector_group;
  const auto start_from_z = [&](idx blocks, int n) {
    fill(p.y, t.update == Update::add ? p.z : static_cast<const S*>(nullptr), vector_scalars(blocks, n, group));
  };
  if (t.op != Op::none) {
    start_from_z(t.cols, p.entry.cols());
    // A real matrix's Hermitian transpose is its transpose; one kernel less to compile.
    if (is_complex<S> && t.op == Op::hermitian) return scatter < is_complex<S> ? Op::hermitian : Op::transpose > (p);
    return scatter<Op::transpose>(p);
  }
  if (t.plan.layout.row_list) {  // rows that are not listed are 0 or z, the others add to that
    start_from_z(t.rows, p.entry.rows());
    p.z = p.y;
    return gather<Update::add>(p);
  }
  return t.update == Update::add ? gather<Update::add>(p) : gather<Update::assign>(p);
}

template <class Entry, class Stored>
void multiply(const ProductTask& t) {
  const LayoutSpec& l = t.plan.layout;
  if (BaijForm::serves(l)) return multiply_form<Entry, Stored, BaijForm>(t);
  const bool gathers_all_rows = t.op == Op::none && !l.row_list && l.vector_group == 1;
  if (gathers_all_rows && SlicesOf8Form::serves(l)) {
    const auto p = product_of<Entry, Stored, SlicesOf8Form>(t);
    return t.update == Update::add ? gather<Update::add>(p) : gather<Update::assign>(p);
  }
  return multiply_form<Entry, Stored, AnyForm>(t);
}

template <class Entry, class Stored, class Form>
auto packing_of(const PackTask& t) {
  packing<Entry, Stored, typename Form::Slices, matrix_words<Form::group, Form::order>> p;
  p.entry = entry_of<Entry>(t.problem);
  p.slices = slices_of<typename Form::Slices>(t.layout);
  p.matrix_words = matrix_words_of<Form>(t.plan.layout, t.layout.slots);
  p.first_entry = t.layout.first_entry;
  p.blocks = static_cast<const typename Entry::scalar*>(t.blocks);
  p.values = static_cast<Stored*>(t.values);
  return p;
}

template <class Entry, class Stored, class Form>
void pack_rows(const PackTask& t) {
  const auto p = packing_of<Entry, Stored, Form>(t);
  for (idx position = 0; position < p.slices.positions; ++position) pack_row(p, position);
}

/// Slice by slice in the order of the slots, so that every line of the packed words is written once and whole.
template <class Entry, class Stored>
void pack_slices(const PackTask& t) {
  const auto p = packing_of<Entry, Stored, SlicesOf8Form>(t);
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
  return BaijForm::serves(t.plan.layout) ? pack_rows<Entry, Stored, BaijForm>(t) : pack_rows<Entry, Stored, AnyForm>(t);
}

/// A kind of square blocks with its size known.
template <class Entry, int size>
struct of_size {};
template <template <class, slot_t> class Kind, class S, int size>
struct of_size<Kind<S, dynamic>, size> {
  using type = Kind<S, size>;
};

/// All bits set where two numbers differ by ==: in a width of which compilers make vector instructions.
template <class Real>
auto difference(Real a, Real b) {
  using Mask = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  return a == b ? Mask{0} : Mask{-1};
}

/// fits() for a kind of known size, made for vector instructions: column by column, each anew from the words.
template <class Entry>
bool fits_by_columns(const Entry& entry, const typename Entry::scalar* block) {
  using S = typename Entry::scalar;
  using Real = real_of<S>;
  constexpr int rows = Entry::block_rows, numbers = rows * static_cast<int>(sizeof(S) / sizeof(Real));
  local_words<typename Entry::word, Entry::most_words> w{};
  entry.from_block(full_block<S>{block, rows}, [&](int k, int, typename Entry::word v) { w.word[k] = v; });
  decltype(difference(Real{}, Real{})) differs = 0;
  unroll<Entry::block_cols>([&]<int j>() {
    S column[rows];
    unroll<rows>([&]<int i>() { column[i] = entry.block(w, i, j); });
    const auto* const anew = reinterpret_cast<const Real*>(column);
    const auto* const given = reinterpret_cast<const Real*>(block + j * rows);
    for (int k = 0; k < numbers; ++k) differs |= difference(anew[k], given[k]);
  });
  return differs == 0;
}

template <class Entry>
std::optional<count32> first_misfit_of(const Entry& entry, const FitTask& t) {
  using S = typename Entry::scalar;
  constexpr bool by_columns = !Entry::any_size && !requires { Entry::tolerance; };
  const slot_t size = slot_t{entry.rows()} * entry.cols();
  const S* block = static_cast<const S*>(t.blocks);
  for (count32 e = 0; e < t.entries; ++e, block += size) {
    const char* const ahead = reinterpret_cast<const char*>(block) + 2048;
    for (slot_t at = 0; at < size * slot_t{sizeof(S)}; at += 64) __builtin_prefetch(ahead + at);
    bool good;
    if constexpr (by_columns)
      good = fits_by_columns(entry, block);
    else
      good = fits(entry, full_block<S>{block, entry.rows()});
    if (!good) return e;
  }
  return {};
}

/// Of blocks whose size comes with the matrix the common sizes are known to the compiler all the same: a check is then
/// as fast as the blocks come from memory.
template <class Entry, int size = 2>
std::optional<count32> first_misfit(const FitTask& t) {
  constexpr int largest_known = 8;
  if constexpr (!requires { Entry::most_words; })
    return {};
  else if constexpr (Entry::any_size && size <= largest_known)
    return t.problem.block.rows == size ? first_misfit_of(typename of_size<Entry, size>::type{}, t)
                                        : first_misfit<Entry, size + 1>(t);
  else
    return first_misfit_of(entry_of<Entry>(t.problem), t);
}

/// Diagonals are taken once in a while: one form will do.
template <class Entry, class Stored>
void diagonal(const DiagonalArgs& a) {
  using Words = matrix_words<AnyForm::group, AnyForm::order>;
  for (idx position = 0; position < a.positions; ++position)
    write_diagonal<Entry, Stored, AnyForm::Slices, Words>(a, position);
}

template <class Entry, class Stored>
void invert_diagonal(const DiagonalArgs& a) {
  using Words = matrix_words<AnyForm::group, AnyForm::order>;
  for (idx position = 0; position < a.positions; ++position)
    compound::invert_diagonal<Entry, Stored, AnyForm::Slices, Words>(a, position);
}

template <class S, class Real>
struct stored_as {
  using type = Real;
};
template <class T, class Real>
struct stored_as<complex_number<T>, Real> {
  using type = complex_number<Real>;
};

template <class Entry, class Stored>
inline constexpr Kernels kernels_of{multiply<Entry, Stored>, pack<Entry, Stored>, first_misfit<Entry>,
                                    diagonal<Entry, Stored>, invert_diagonal<Entry, Stored>};

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
