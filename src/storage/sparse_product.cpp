#include "storage/sparse_product.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "host/instruction_set.hpp"
#include "host/simd/sparse_traversal.hpp"

namespace compound {

namespace {

using Sum = std::span<const Term<PatternView>>;

void check_equal(const char* left, idx of_left, const char* right, idx of_right) {
  if (of_left == of_right) return;
  throw error(ErrorKind::argument, "product of sparse matrices: " + std::to_string(of_left) + " block " + left +
                                       " but " + std::to_string(of_right) + " block " + right);
}

void check_shapes(Sum sum) {
  for (const Term<PatternView>& t : sum) {
    check_equal("columns", t.A.cols, "rows", t.B.rows);
    check_equal("rows", sum.front().A.rows, "rows in its second part", t.A.rows);
    check_equal("columns", sum.front().B.cols, "columns in its second part", t.B.cols);
  }
}

/// Rows that are appended one after the other, each of columns in any order, once or several times.
class PatternWriter {
 public:
  /// `most`: no more columns are added. Room for so many is address space alone until they come; to grow would touch
  /// memory anew, which takes longer than to find the columns.
  PatternWriter(idx rows, idx cols, double most)
      : p_{rows, cols, {0}, {}}, met_((static_cast<std::size_t>(cols) + 63) / 64) {
    p_.start.reserve(static_cast<std::size_t>(rows) + 1);
    try {
      p_.column.reserve(static_cast<std::size_t>(std::min(most, double(rows) * cols)));
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }  // it grows
  }
  void add(idx column) {
    const std::uint64_t bit = bit_of(column);
    std::uint64_t& word = met_[word_of(column)];
    if (word & bit) return;
    word |= bit;
    p_.column.push_back(column);
  }
  void add(const PatternView& p, idx row) {
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) add(p.column[e]);
  }
  void end_row() {
    for (const idx column : row()) met_[word_of(column)] = 0;
    if (p_.column.size() > std::numeric_limits<count32>::max())
      throw error(ErrorKind::too_large, "the product of two sparse matrices has " + std::to_string(p_.column.size()) +
                                            " blocks and more on one process, beyond 32 bits; use more processes");
    p_.start.push_back(static_cast<count32>(p_.column.size()));
  }
  /// By the marks, where columns are as near to each other as grids and meshes have them in most orders.
  void sort_row() {
    const std::span<idx> columns = row();
    if (columns.size() < 2) return;
    const auto [least, most] = std::ranges::minmax(columns);
    const std::size_t first = word_of(least), last = word_of(most);
    if (last - first > words_an_entry * columns.size()) {
      std::ranges::sort(columns);
      return;
    }
    idx* to = columns.data();
    for (std::size_t w = first; w <= last; ++w)
      for (std::uint64_t rest = met_[w]; rest != 0; rest &= rest - 1)
        *to++ = static_cast<idx>(w * 64) + std::countr_zero(rest);
  }
  Pattern take() { return std::move(p_); }

 private:
  /// Fewer words are gone through faster than an entry is put in order by comparisons.
  static constexpr std::size_t words_an_entry = 8;

  static std::size_t word_of(idx column) { return static_cast<std::size_t>(column) / 64; }
  static std::uint64_t bit_of(idx column) { return std::uint64_t{1} << (column % 64); }
  std::span<idx> row() { return std::span(p_.column).subspan(p_.start.back()); }

  Pattern p_;
  std::vector<std::uint64_t> met_;  ///< a bit for each column of the row
};

/// Columns of a row in ascending order, or as they are met.
Pattern pattern_of_sum(Sum sum, bool ascending) {
  double most = 0;
  for (const auto& [A, B] : sum) most += block_products(A, B);
  PatternWriter to(sum.front().A.rows, sum.front().B.cols, most);
  for (idx row = 0; row < sum.front().A.rows; ++row) {
    for (const auto& [A, B] : sum)
      for (count32 e = A.start[row]; e < A.start[row + 1]; ++e) to.add(B, A.column[e]);
    if (ascending) to.sort_row();
    to.end_row();
  }
  return to.take();
}

/// Blocks as they are, without vectors.
template <class S>
struct PlainTiles {
  using scalar = S;

  template <bool, bool>
  static void add(int rows, int inner, int width, const S* a, slot_t row_step, slot_t inner_step, const S* b,
                  slot_t b_step, S* c, slot_t c_step) {
    for (int i = 0; i < rows; ++i, a += row_step, c += c_step)
      for (int k = 0; k < inner; ++k) {
        const S factor = a[k * inner_step];
        for (int j = 0; j < width; ++j) c[j] += factor * b[k * b_step + j];
      }
  }
};

struct PlainRow {
  ScalarType scalar;
  double (*run)(const host::SparseTask&);
};

template <class S>
constexpr PlainRow plain_row() {
  return {scalar_type_of<S>(), host::run_sparse<PlainTiles<S>>};
}

constexpr PlainRow plain_rows[] = {plain_row<float>(), plain_row<double>(), plain_row<complex_number<float>>(),
                                   plain_row<complex_number<double>>()};

auto runner(const host::SparseTask& t, ScalarType scalar) -> double (*)(const host::SparseTask&) {
  const host::SparseKernel* k = host::simd_table(host::instruction_set_in_use()).sparse;
  if (!k || scalar != scalar_type_of<double>()) return std::ranges::find(plain_rows, scalar, &PlainRow::scalar)->run;
  const host::SparseRows &a = t.a[0], &b = t.b[0];
  const bool is_known = !t.q.start || a.block_rows == a.block_cols;
  while (k->inner != 0 && !(is_known && k->inner == a.block_cols && k->width == b.block_cols)) ++k;
  return k->run;
}

host::SparseRows rows_of(const PatternView& p, BlockShape block, const void* values) {
  return {p.rows, p.start.data(), p.column.data(), block.rows, block.cols, values};
}

void take(std::span<const Term<FullBlocks>> sum, host::SparseTask& t) {
  t.terms = 0;
  for (const auto& [A, B] : sum) {
    t.a[t.terms] = rows_of(A.pattern, A.block, A.values);
    t.b[t.terms++] = rows_of(B.pattern, B.block, B.values);
  }
}

double run(host::SparseTask t, ScalarType scalar, const PatternView& C, BlockShape block, void* values) {
  if (C.entries() == 0) return 0;
  std::memset(values, 0, C.entries() * scalars_in(block) * bytes_of(scalar));
  std::vector<idx> place(static_cast<std::size_t>(C.cols), -1), found;
  std::vector<std::byte> tiles;
  t.c = rows_of(C, block, nullptr);
  t.to = values;
  t.place = place.data();
  if (t.q.start) {
    idx longest = 0;
    for (idx row = 0; row < C.rows; ++row) longest = std::max(longest, C.length(row));
    found.resize(static_cast<std::size_t>(longest));
    tiles.resize(found.size() * t.a[0].block_rows * host::padded_width(block.cols) * bytes_of(scalar));
    t.found = found.data();
    t.tiles = tiles.data();
  }
  return runner(t, scalar)(t);
}

}  // namespace

Pattern product_pattern(Sum sum) {
  check_shapes(sum);
  return pattern_of_sum(sum, true);
}

Pattern galerkin_pattern(const PatternView& Q, Sum sum) {
  check_shapes(sum);
  check_equal("rows", sum.front().A.rows, "rows", Q.rows);
  const Pattern product = pattern_of_sum(sum, false);
  const PatternView rows = product.view();
  const Transposed to_fine = transposed(Q);
  PatternWriter to(Q.cols, rows.cols, block_products(to_fine.pattern.view(), rows));
  for (idx row = 0; row < Q.cols; ++row) {
    for (count32 e = to_fine.pattern.start[row]; e < to_fine.pattern.start[row + 1]; ++e)
      to.add(rows, to_fine.pattern.column[e]);
    to.sort_row();
    to.end_row();
  }
  return to.take();
}

GalerkinPatterns galerkin_patterns(const PatternView& Q, const Term<PatternView>& term) {
  check_equal("rows", term.A.rows, "rows", Q.rows);
  GalerkinPatterns p;
  p.product = product_pattern({&term, 1});
  p.to_coarse = transposed(Q);
  const Term<PatternView> of_coarse{p.to_coarse.pattern.view(), p.product.view()};
  p.result = product_pattern({&of_coarse, 1});
  return p;
}

double block_products(const PatternView& A, const PatternView& B) {
  slot_t products = 0;
  for (const idx column : A.column) products += B.length(column);
  return static_cast<double>(products);
}

double multiply(std::span<const Term<FullBlocks>> sum, ScalarType scalar, const PatternView& C, void* values) {
  host::SparseTask t;
  take(sum, t);
  return run(t, scalar, C, {t.a[0].block_rows, t.b[0].block_cols}, values);
}

double multiply_galerkin(const FullBlocks& Q, std::span<const Term<FullBlocks>> sum, ScalarType scalar,
                         const PatternView& C, void* values) {
  host::SparseTask t;
  t.q = rows_of(Q.pattern, Q.block, Q.values);
  take(sum, t);
  return run(t, scalar, C, {Q.block.cols, t.b[0].block_cols}, values);
}

}  // namespace compound
