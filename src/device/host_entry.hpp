// One kind of entry's products, packing and diagonals on the host in any layout, as plain functions of plain
// structures: what kernels compiled elsewhere (a user's program) are called by.
#pragma once

#include "diagonal.hpp"
#include "entry_trial.hpp"
#include "host_check.hpp"
#include "layout/layout_args.hpp"
#include "pack_values.hpp"
#include "spmv_rows.hpp"

namespace compound {

/// y = [z +] op(A) x; z may be y. Vectors and words in any map.
struct host_product {
  layout_args layout;
  int rows = 0, cols = 0;  ///< of a block
  word_map<dynamic> words, x_words, y_words;
  bool words_by_row = false;
  bool row_list = false;  ///< rows that the layout does not list are 0, or z
  slot_t y_scalars = 0;   ///< whole groups
  Op op = Op::none;
  Update update = Update::assign;
  const void* values = nullptr;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
};

/// values <- blocks [entries][cols][rows], in pattern order.
struct host_packing {
  layout_args layout;
  int rows = 0, cols = 0;
  word_map<dynamic> words;
  bool words_by_row = false;
  const count32* first_entry = nullptr;
  const void* blocks = nullptr;
  void* values = nullptr;
};

namespace host_forms {

/// The plain kernel: everything but entry, precision and operation at run time.
struct any {
  using Slices = slices<dynamic, Occupancy::any>;
  using Words = matrix_words<dynamic, WordOrder::any>;
  using Vector = vector_words<dynamic>;
};

inline WordOrder order_of(bool by_row) { return by_row ? WordOrder::row : WordOrder::column; }

/// The map for a group that is known, or `map`.
template <slot_t Group>
word_map<Group> map_in(const word_map<dynamic>& map) {
  if constexpr (Group == dynamic)
    return map;
  else
    return {};
}

template <slot_t Group, WordOrder Order>
auto words_in(matrix_words<Group, Order>*, const word_map<dynamic>& map, bool by_row) {
  return matrix_words<Group, Order>{map_in<Group>(map), order_of(by_row)};
}
template <slot_t Group>
auto vector_in(vector_words<Group>*, const word_map<dynamic>& map) {
  return vector_words<Group>{map_in<Group>(map)};
}

template <class Form>
auto matrix_words_over(const word_map<dynamic>& map, bool by_row) {
  return words_in(static_cast<typename Form::Words*>(nullptr), map, by_row);
}

template <class Entry, class Stored, class Form>
auto product_over(const host_product& t) {
  using S = typename Entry::scalar;
  using Vector = typename Form::Vector;
  product<Entry, Stored, typename Form::Slices, typename Form::Words, Vector> p;
  p.entry = Entry::of(t.rows, t.cols);
  p.slices = slices_from<typename Form::Slices>(t.layout);
  p.matrix_words = matrix_words_over<Form>(t.words, t.words_by_row);
  p.x_words = vector_in(static_cast<Vector*>(nullptr), t.x_words);
  p.y_words = vector_in(static_cast<Vector*>(nullptr), t.y_words);
  p.values = static_cast<const Stored*>(t.values);
  p.x = static_cast<const S*>(t.x);
  p.z = static_cast<const S*>(t.z);
  p.y = static_cast<S*>(t.y);
  return p;
}

template <class S>
void start_from(S* y, const S* z, slot_t scalars) {
  if (y == z) return;
  for (slot_t i = 0; i < scalars; ++i) y[i] = z ? z[i] : S{};
}

/// Fetches what a position's entries are some 2 KB later, into all caches: they may be used again. Compressed rows of a
/// form that is known only.
template <class Entry, class Stored, class Words, class Vector>
void prefetch_row(const product<Entry, Stored, slices<1, Occupancy::lengths>, Words, Vector>& p, idx position) {
  const slot_t entry_bytes = slot_t(p.entry.words()) * slot_t(sizeof(Stored));
  const char* const first = reinterpret_cast<const char*>(p.values) + p.slices.first(position) * entry_bytes + 2048;
  for (slot_t at = 0; at < p.slices.count(position) * entry_bytes; at += 64) __builtin_prefetch(first + at);
}
template <class Product>
void prefetch_row(const Product&, idx) {}

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

/// The product `t` over `p`, which is it in some form.
template <class Product>
void run(Product p, const host_product& t) {
  constexpr bool complex = is_complex<typename Product::scalar>;
  const auto* const z = t.update == Update::add ? p.z : nullptr;
  if (t.op != Op::none) {
    start_from(p.y, z, t.y_scalars);
    // A real matrix's Hermitian transpose is its transpose; one kernel less to compile.
    if (complex && t.op == Op::hermitian) return scatter < complex ? Op::hermitian : Op::transpose > (p);
    return scatter<Op::transpose>(p);
  }
  if (t.row_list) {  // the rows that are listed add to what the others are
    start_from(p.y, z, t.y_scalars);
    p.z = p.y;
    return gather<Update::add>(p);
  }
  return z ? gather<Update::add>(p) : gather<Update::assign>(p);
}

}  // namespace host_forms

template <class Entry, class Stored>
void multiply_on_host(const host_product& t) {
  host_forms::run(host_forms::product_over<Entry, Stored, host_forms::any>(t), t);
}

template <class Entry, class Stored, class Form = host_forms::any>
auto packing_over(const host_packing& t) {
  packing<Entry, Stored, typename Form::Slices, typename Form::Words> p;
  p.entry = Entry::of(t.rows, t.cols);
  p.slices = slices_from<typename Form::Slices>(t.layout);
  p.matrix_words = host_forms::matrix_words_over<Form>(t.words, t.words_by_row);
  p.first_entry = t.first_entry;
  p.blocks = static_cast<const typename Entry::scalar*>(t.blocks);
  p.values = static_cast<Stored*>(t.values);
  return p;
}

template <class Entry, class Stored, class Form = host_forms::any>
void pack_on_host(const host_packing& t) {
  const auto p = packing_over<Entry, Stored, Form>(t);
  for (idx position = 0; position < p.slices.positions; ++position) pack_row(p, position);
}

template <class Entry, class Stored>
void diagonal_on_host(const DiagonalArgs& a) {
  for (idx position = 0; position < a.positions; ++position)
    write_diagonal<Entry, Stored, host_forms::any::Slices, host_forms::any::Words>(a, position);
}

template <class Entry, class Stored>
void invert_diagonal_on_host(const DiagonalArgs& a) {
  for (idx position = 0; position < a.positions; ++position)
    invert_diagonal<Entry, Stored, host_forms::any::Slices, host_forms::any::Words>(a, position);
}

/// The functions of a kind whose words are stored in one precision.
struct host_kernels {
  void (*multiply)(const host_product&);
  void (*pack)(const host_packing&);
  void (*diagonal)(const DiagonalArgs&);
  void (*invert_diagonal)(const DiagonalArgs&);
};

/// A kind of entry for one scalar: what is registered.
struct host_entry {
  /// Raised whenever a structure of this file changes.
  static constexpr int current_version = 2;
  int version = current_version;
  const char* name = nullptr;
  bool complex_scalars = false;
  int real_bytes = 8;  ///< 4 or 8: of the vectors and blocks
  int rows = 0, cols = 0, words = 0;
  bool real_words = false;  ///< words are real numbers although the block is complex
  slot_t (*first_misfit)(const void* blocks, slot_t entries, int rows, int cols) = nullptr;
  host_kernels in_float{}, in_double{};  ///< by the words' precision; doubles for vectors of doubles only
  /// The full block [cols][rows] of `words` words in the blocks' precision.
  void (*block)(const void* words, void* block) = nullptr;
  trial_found (*trial)() = nullptr;  ///< of its promises, before it is used
};

template <class S, class Real>
struct stored_as {
  using type = Real;
};
template <class T, class Real>
struct stored_as<complex_number<T>, Real> {
  using type = complex_number<Real>;
};

template <class Entry, class Real>
constexpr host_kernels host_kernels_of() {
  using Stored = typename stored_as<typename Entry::word, Real>::type;
  return {multiply_on_host<Entry, Stored>, pack_on_host<Entry, Stored>, diagonal_on_host<Entry, Stored>,
          invert_diagonal_on_host<Entry, Stored>};
}

template <class Entry>
void block_on_host(const void* words, void* block) {
  const auto w = matrix_words<1, WordOrder::column>{}.at(Entry{}, static_cast<const typename Entry::word*>(words), 0);
  auto* to = static_cast<typename Entry::scalar*>(block);
  for (int j = 0; j < Entry::block_cols; ++j)
    for (int i = 0; i < Entry::block_rows; ++i) *to++ = Entry::block(w, i, j);
}

template <class Entry>
constexpr host_entry host_entry_of() {
  using S = typename Entry::scalar;
  host_entry e;
  e.name = Entry::name;
  e.complex_scalars = is_complex<S>;
  e.real_bytes = int(sizeof(real_of<S>));
  e.rows = Entry::block_rows;
  e.cols = Entry::block_cols;
  e.words = Entry::word_count;
  e.real_words = is_complex<S> && !is_complex<typename Entry::word>;
  e.first_misfit = first_misfit_on_host<Entry>;
  e.in_float = host_kernels_of<Entry, float>();
  if constexpr (sizeof(real_of<S>) == 8) e.in_double = host_kernels_of<Entry, double>();
  e.block = block_on_host<Entry>;
  e.trial = [] { return try_entry(Entry{}); };
  return e;
}

}  // namespace compound
