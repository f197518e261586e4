#include "sparse_product.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "error.hpp"
#include "host/instruction_set.hpp"
#include "host/simd/sparse_traversal.hpp"

namespace compound {

namespace {

void check_shapes(const char* left, idx of_left, const char* right, idx of_right) {
  if (of_left == of_right) return;
  throw error(ErrorKind::argument, "product of sparse matrices: " + std::to_string(of_left) + " block " + left +
                                       " but " + std::to_string(of_right) + " block " + right);
}

/// Rows that are appended one after the other, each of columns in any order, once or several times.
class PatternWriter {
 public:
  PatternWriter(idx rows, idx cols) : p_{rows, cols, {0}, {}}, row_of_(static_cast<std::size_t>(cols), -1) {
    p_.start.reserve(static_cast<std::size_t>(rows) + 1);
  }
  void add(idx column) {
    idx& row = row_of_[static_cast<std::size_t>(column)];
    const idx here = static_cast<idx>(p_.start.size()) - 1;
    if (row == here) return;
    row = here;
    p_.column.push_back(column);
  }
  void add(const PatternView& p, idx row) {
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) add(p.column[e]);
  }
  void end_row() {
    if (p_.column.size() > std::numeric_limits<count32>::max())
      throw error(ErrorKind::too_large, "the product of two sparse matrices has " + std::to_string(p_.column.size()) +
                                            " blocks and more on one process, beyond 32 bits; use more processes");
    p_.start.push_back(static_cast<count32>(p_.column.size()));
  }
  void sort_row() { std::sort(p_.column.begin() + p_.start.back(), p_.column.end()); }
  Pattern take() { return std::move(p_); }

 private:
  Pattern p_;
  std::vector<idx> row_of_;
};

Pattern unordered_product(const PatternView& A, const PatternView& B) {
  PatternWriter to(A.rows, B.cols);
  for (idx row = 0; row < A.rows; ++row) {
    for (count32 e = A.start[row]; e < A.start[row + 1]; ++e) to.add(B, A.column[e]);
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
  const bool is_known = !t.q.start || t.a.block_rows == t.a.block_cols;
  while (k->inner != 0 && !(is_known && k->inner == t.a.block_cols && k->width == t.b.block_cols)) ++k;
  return k->run;
}

host::SparseRows rows_of(const PatternView& p, BlockShape block, const void* values) {
  return {p.rows, p.start.data(), p.column.data(), block.rows, block.cols, values};
}

double run(host::SparseTask t, ScalarType scalar, const PatternView& C, BlockShape block, void* values) {
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
    tiles.resize(found.size() * t.a.block_rows * host::padded_width(block.cols) * bytes_of(scalar));
    t.found = found.data();
    t.tiles = tiles.data();
  }
  return runner(t, scalar)(t);
}

}  // namespace

Pattern product_pattern(const PatternView& A, const PatternView& B) {
  check_shapes("columns", A.cols, "rows", B.rows);
  PatternWriter to(A.rows, B.cols);
  for (idx row = 0; row < A.rows; ++row) {
    for (count32 e = A.start[row]; e < A.start[row + 1]; ++e) to.add(B, A.column[e]);
    to.sort_row();
    to.end_row();
  }
  return to.take();
}

Pattern galerkin_pattern(const PatternView& Q, const PatternView& A, const PatternView& P) {
  check_shapes("columns", A.cols, "rows", P.rows);
  check_shapes("rows", A.rows, "rows", Q.rows);
  const Pattern product = unordered_product(A, P);
  const PatternView rows = product.view();
  const Transposed to_fine = transposed(Q);
  PatternWriter to(Q.cols, P.cols);
  for (idx row = 0; row < Q.cols; ++row) {
    for (count32 e = to_fine.pattern.start[row]; e < to_fine.pattern.start[row + 1]; ++e)
      to.add(rows, to_fine.pattern.column[e]);
    to.sort_row();
    to.end_row();
  }
  return to.take();
}

double multiply(const FullBlocks& A, const FullBlocks& B, ScalarType scalar, const PatternView& C, void* values) {
  host::SparseTask t;
  t.a = rows_of(A.pattern, A.block, A.values);
  t.b = rows_of(B.pattern, B.block, B.values);
  return run(t, scalar, C, {A.block.rows, B.block.cols}, values);
}

double multiply_galerkin(const FullBlocks& Q, const FullBlocks& A, const FullBlocks& P, ScalarType scalar,
                         const PatternView& C, void* values) {
  host::SparseTask t;
  t.q = rows_of(Q.pattern, Q.block, Q.values);
  t.a = rows_of(A.pattern, A.block, A.values);
  t.b = rows_of(P.pattern, P.block, P.values);
  return run(t, scalar, C, {Q.block.cols, P.block.cols}, values);
}

}  // namespace compound
