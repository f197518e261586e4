// Coordinates and values for MatSetPreallocationCOO() and MatSetValuesCOO(), the same for any type.
#pragma once

#include <numeric>

#include "../src/support/environment.hpp"
#include "compare.hpp"

namespace petsc_test {

/// Entries as one process gives them.
struct Entries {
  std::vector<PetscInt> row, column;
  PetscCount size() const { return static_cast<PetscCount>(row.size()); }
};

/// 0 to n - 1 each, many of them twice and more, one in nine with a negative index. The last process of three gives
/// none.
inline Entries random_entries(std::uint64_t seed, const Shape& shape, int count) {
  Random random(seed + 1000 * static_cast<std::uint64_t>(rank()));
  const int rows = shape.block_rows() * shape.bs, cols = shape.block_cols() * shape.bs;
  Entries e;
  if (rank() == 2 || rows == 0 || cols == 0) return e;
  for (int k = 0; k < count; ++k) {
    e.row.push_back(random.below(9) == 0 ? -1 - random.below(3) : random.below(rows));
    e.column.push_back(random.below(9) == 0 ? -1 : random.below(cols));
  }
  return e;
}

/// Block rows and columns, as random_entries() draws them for scalars.
inline Entries random_blocks(std::uint64_t seed, const Shape& shape, int count) {
  return random_entries(seed, {1, shape.rows, shape.cols}, count);
}

/// The scalars of the blocks, each block by rows.
inline Entries scalars_of(const Entries& blocks, int bs) {
  Entries e;
  for (std::size_t k = 0; k < blocks.row.size(); ++k)
    for (int i = 0; i < bs; ++i)
      for (int j = 0; j < bs; ++j) {
        e.row.push_back(blocks.row[k] < 0 ? -1 : blocks.row[k] * bs + i);
        e.column.push_back(blocks.column[k] < 0 ? -1 : blocks.column[k] * bs + j);
      }
  return e;
}

/// In which order the scalars of an element matrix with n nodes come: that of the scalar (i, j) of the nodes (r, c).
struct Order {
  const char* name;
  int (*of)(int r, int c, int i, int j, int n, int bs);
};
inline constexpr Order orders[] = {
    {"rows", [](int r, int c, int i, int j, int n, int bs) { return ((r * bs + i) * n + c) * bs + j; }},
    {"columns", [](int r, int c, int i, int j, int n, int bs) { return ((c * bs + j) * n + r) * bs + i; }},
    {"components", [](int r, int c, int i, int j, int n, int bs) { return ((i * bs + j) * n + r) * n + c; }},
    {"blocks", [](int r, int c, int i, int j, int n, int bs) { return ((r * n + c) * bs + i) * bs + j; }},
};

/// Elements of 2 to 4 nodes, with neighbours on other processes.
inline Entries elements(std::uint64_t seed, const Shape& shape, const Order& order) {
  Random random(seed + 100 * static_cast<std::uint64_t>(rank()));
  Entries e;
  const int bs = shape.bs, nodes = shape.block_rows();
  for (int element = 0; element < 20; ++element) {
    const int n = 2 + element % 3;
    std::vector<int> node(static_cast<std::size_t>(nodes));
    std::iota(node.begin(), node.end(), 0);
    for (int k = 0; k < n; ++k) std::swap(node[k], node[k + random.below(nodes - k)]);
    const std::size_t begin = e.row.size(), words = static_cast<std::size_t>(n * n * bs * bs);
    e.row.resize(begin + words);
    e.column.resize(begin + words);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c)
        for (int i = 0; i < bs; ++i)
          for (int j = 0; j < bs; ++j) {
            const std::size_t k = begin + static_cast<std::size_t>(order.of(r, c, i, j, n, bs));
            e.row[k] = node[r] * bs + i;
            e.column[k] = node[c] * bs + j;
          }
  }
  return e;
}

/// Whole numbers, so that sums are exact in any order.
inline std::vector<PetscScalar> whole_values(std::uint64_t seed, const Entries& e) {
  Random random(seed + 77 * static_cast<std::uint64_t>(rank()));
  std::vector<PetscScalar> v(e.row.size());
  for (auto& s : v) {
    s = random.below(19) - 9;
#if defined(PETSC_USE_COMPLEX)
    s += PetscScalar(0, random.below(19) - 9);
#endif
  }
  return v;
}

/// Copies, since the call may change its arrays.
inline PetscErrorCode preallocate(Mat A, Entries e) {
  return MatSetPreallocationCOO(A, e.size(), e.row.data(), e.column.data());
}

/// aij leaves the last block size unset with size 1.
inline Matrix made_of(const std::string& type, const Shape& shape, const Entries& e) {
  auto A = empty_matrix(type, "", shape);
  PETSC_OK(preallocate(A, e));
  return A;
}

inline void set(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
  PETSC_OK(MatSetValuesCOO(A, v.data(), mode));
}

/// No scalar differs, stored zeros apart.
inline testing::AssertionResult same_scalars(Mat A, Mat aij) {
  Matrix difference;
  PetscReal norm;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, difference.out()));
  PETSC_OK(MatAXPY(difference, -1.0, aij, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatNorm(difference, NORM_FROBENIUS, &norm));  // largest sums pass over NaN
  if (norm == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the Frobenius norm of the difference is " << norm;
}

inline testing::AssertionResult same_matrix(Mat A, Mat aij, std::uint64_t seed) {
  if (auto result = same_scalars(A, aij); !result) return result;
  if (auto result = same_mult(A, aij, seed); !result) return result;
  return same_product(A, aij, all_products()[3], seed);
}

/// The variable that has lists and values on the host treated as those of a device, which has its own copies.
inline constexpr const char* values_apart = "COMPOUND_VALUES_APART";

struct Coo : testing::TestWithParam<int> {
  Shape square() const { return spread(GetParam(), 11, 11); }
};

}  // namespace petsc_test
