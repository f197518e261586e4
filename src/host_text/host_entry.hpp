// One kind of entry's products, packing and diagonals on the host, as plain functions of plain structures: what kernels
// compiled elsewhere (a user's program) are called by. They are given rows as lists and know no layout.
#pragma once

#include "../device/diagonal.hpp"
#include "../device/entry_trial.hpp"
#include "../device/layout/listed_rows.hpp"
#include "../device/pack_values.hpp"
#include "../device/spmv_rows.hpp"
#include "host_check.hpp"

namespace compound {

/// y = [z +] op(A) x of some rows; z may be y. Vectors and words in any map. Transposed products add to y alone.
///
/// `half`: the rows have the entries on the diagonal and above of a matrix that is op(itself), a (Hermitian) transpose.
/// The product is by all of it, and adds to y alone.
struct host_product {
  row_lists lists;
  int rows = 0, cols = 0;  ///< of a block
  word_map<dynamic> words, x_words, y_words;
  bool words_by_row = false;
  Op op = Op::none;
  Update update = Update::assign;
  bool half = false;
  const void* values = nullptr;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
};

/// values <- blocks [entries][cols][rows], in pattern order, of some slots.
struct host_packing {
  slot_lists lists;
  int rows = 0, cols = 0;
  word_map<dynamic> words;
  bool words_by_row = false;
  const void* blocks = nullptr;
  void* values = nullptr;
};

/// Diagonals of some rows; `args.layout` is of no meaning.
struct host_diagonal {
  row_lists lists;
  DiagonalArgs args;
};

namespace host_forms {

/// Words and vectors in any map, known at run time.
struct any {
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

template <class Entry, class Stored, class Form, class Layout, class Values>
auto product_over(const host_product& t, const Layout& layout, Values value_of) {
  using S = typename Entry::scalar;
  using Vector = typename Form::Vector;
  return product<Entry, Stored, Layout, typename Form::Words, Vector, Values>{
      Entry::of(t.rows, t.cols),
      layout,
      matrix_words_over<Form>(t.words, t.words_by_row),
      vector_in(static_cast<Vector*>(nullptr), t.x_words),
      vector_in(static_cast<Vector*>(nullptr), t.y_words),
      value_of,
      static_cast<const Stored*>(t.values),
      static_cast<const S*>(t.x),
      static_cast<const S*>(t.z),
      static_cast<S*>(t.y)};
}

/// Fetches what a position's entries are some 2 KB later, into all caches: they may be used again. Layouts whose slots
/// are entries only: their words come one after the other.
template <class Product>
void prefetch_row(const Product& p, idx position) {
  if constexpr (decltype(p.layout)::slots_are_entries) {
    const slot_t entry_bytes = slot_t(p.entry.words()) * slot_t(sizeof(typename Product::stored_type));
    const char* const first = reinterpret_cast<const char*>(p.values) + p.layout.first(position) * entry_bytes + 2048;
    for (slot_t at = 0; at < p.layout.count(position) * entry_bytes; at += 64) __builtin_prefetch(first + at);
  }
}

template <Update update, class Product>
void gather(const Product& p) {
  for (idx position = 0; position < p.layout.positions; ++position) {
    prefetch_row(p, position);
    multiply_row<Op::none, update, 1>(p, position, 0);
  }
}

template <Op op, class Product>
void scatter(const Product& p) {
  for (idx position = 0; position < p.layout.positions; ++position) {
    prefetch_row(p, position);
    scatter_row<op>(p, position);
  }
}

/// sum += block x of a diagonal block that is op(itself), by what is on its diagonal and above alone: PETSc's SBAIJ
/// leaves undefined what is below.
template <Op op, class Entry, class Words, class S>
void multiply_diagonal_block(int size, const Words& words, const S* x, S* sum) {
  for (int j = 0; j < size; ++j)
    for (int i = 0; i <= j; ++i) {
      const S a = Entry::block(words, i, j);
      add_product<S>(sum[i], a, x[j]);
      if (i == j) continue;
      if constexpr (op == Op::hermitian)
        add_product<S>(sum[j], conjugate(a), x[i]);
      else
        add_product<S>(sum[j], a, x[i]);
    }
}

/// A row of the stored half: y(row) += entry x(column), and for those above the diagonal y(column) += op(entry) x(row).
template <Op op, class Product>
void multiply_half_row(const Product& p, idx position) {
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  constexpr int most = Entry::block_rows;
  const int size = p.entry.rows();
  const idx row = p.layout.row(position), count = p.layout.count(position);
  const slot_t first = p.layout.first(position);
  const auto columns = p.layout.columns_of(position);
  const auto* const y_before = static_cast<const S*>(p.y);
  S x[most], sum[most];
  p.x_words.load(p.x, row, size, x);
  for (int i = 0; i < size; ++i) sum[i] = S{};
  for (idx k = 0; k < count; ++k) {
    const slot_t slot = first + k * p.layout.apart();
    const idx column = columns.at(slot);
    const auto words = p.words(slot);
    if (column == row) {
      multiply_diagonal_block<op, Entry>(size, words, x, sum);
      continue;
    }
    S other[most];
    p.x_words.load(p.x, column, size, other);
    p.entry.template madd<Op::none>(words, other, sum);
    p.y_words.load(y_before, column, size, other);
    p.entry.template madd<op>(words, x, other);
    p.y_words.store(p.y, column, size, other);
  }
  S y[most];
  p.y_words.load(y_before, row, size, y);
  for (int i = 0; i < size; ++i) y[i] += sum[i];
  p.y_words.store(p.y, row, size, y);
}

template <Op op, class Product>
void multiply_half(const Product& p) {
  if constexpr (Product::entry_type::block_rows == Product::entry_type::block_cols)
    for (idx position = 0; position < p.layout.positions; ++position) {
      prefetch_row(p, position);
      multiply_half_row<op>(p, position);
    }
}

/// The product by `op` and `update` over `p`, which is it in some form.
template <class Product>
void run(const Product& p, Op op, Update update, bool half) {
  // A real matrix's Hermitian transpose is its transpose; one kernel less to compile.
  constexpr bool complex = is_complex<typename Product::scalar>;
  constexpr Op hermitian = complex ? Op::hermitian : Op::transpose;
  if (half) return complex && op == Op::hermitian ? multiply_half<hermitian>(p) : multiply_half<Op::transpose>(p);
  if (complex && op == Op::hermitian)
    scatter<hermitian>(p);
  else if (op != Op::none)
    scatter<Op::transpose>(p);
  else if (update == Update::add)
    gather<Update::add>(p);
  else
    gather<Update::assign>(p);
}

}  // namespace host_forms

template <class Entry, class Stored>
void multiply_on_host(const host_product& t) {
  const listed_values<slot_t> slots{t.lists.slot};
  host_forms::run(host_forms::product_over<Entry, Stored, host_forms::any>(t, listed_rows(t.lists), slots), t.op,
                  t.update, t.half);
}

template <class Entry, class Stored, class Form = host_forms::any>
void pack_on_host(const host_packing& t) {
  packing<Entry, Stored, typename Form::Words> p;
  p.entry = Entry::of(t.rows, t.cols);
  p.matrix_words = host_forms::matrix_words_over<Form>(t.words, t.words_by_row);
  p.blocks = static_cast<const typename Entry::scalar*>(t.blocks);
  p.values = static_cast<Stored*>(t.values);
  pack_slots(p, t.lists);
}

template <class Entry, class Stored>
auto diagonals_on_host(const host_diagonal& t) {
  return diagonals<Entry, Stored, listed_rows, listed_values<slot_t>>(t.args, listed_rows(t.lists), {t.lists.slot});
}
template <class Entry, class Stored>
void diagonal_on_host(const host_diagonal& t) {
  const auto d = diagonals_on_host<Entry, Stored>(t);
  for (idx position = 0; position < d.layout.positions; ++position) write_diagonal(d, position);
}
template <class Entry, class Stored>
void invert_diagonal_on_host(const host_diagonal& t) {
  const auto d = diagonals_on_host<Entry, Stored>(t);
  for (idx position = 0; position < d.layout.positions; ++position) invert_diagonal(d, position);
}

/// The functions of a kind whose words are stored in one precision.
struct host_kernels {
  void (*multiply)(const host_product&);
  void (*pack)(const host_packing&);
  void (*diagonal)(const host_diagonal&);
  void (*invert_diagonal)(const host_diagonal&);
};

/// A kind of entry for one scalar: what is registered.
struct host_entry {
  /// Raised whenever a structure of this file changes.
  static constexpr int current_version = 5;
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
