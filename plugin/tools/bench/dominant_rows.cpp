#include "dominant_rows.hpp"

#include <map>

#include "failure.hpp"

namespace compound::bench {

double dominant_diagonal(Mat A) {
  PetscReal by_rows, by_columns;
  must(MatNorm(A, NORM_INFINITY, &by_rows));
  must(MatNorm(A, NORM_1, &by_columns));
  return 1.1 * static_cast<double>(PetscMax(by_rows, by_columns));
}

BlockRows with_diagonal(const CaseMatrix& c, double shift) {
  const auto parts = block_arrays(c.parent);
  PetscInt first;
  must(MatGetOwnershipRange(c.parent, &first, nullptr));
  BlockRows to;
  to.first = first / c.block.rows;
  to.all_rows = to.all_columns = c.block_rows;
  const std::vector<PetscScalar> zeros(static_cast<std::size_t>(c.area()), 0.0);
  std::map<std::int64_t, const PetscScalar*> row;
  for (PetscInt r = 0; r < parts.front().rows; ++r) {
    row = {{to.first + r, zeros.data()}};
    for (const BlockArrays& part : parts)
      for (PetscInt k = part.start[r]; k < part.start[r + 1]; ++k)
        row[part.global(part.column[k])] = part.values + k * c.area();
    for (const auto& [column, block] : row) {
      to.column.push_back(static_cast<PetscInt>(column));
      to.values.insert(to.values.end(), block, block + c.area());
      if (column != to.first + r) continue;
      PetscScalar* const diagonal = to.values.data() + to.values.size() - static_cast<std::size_t>(c.area());
      for (int i = 0; i < c.block.rows; ++i) diagonal[i * (c.block.rows + 1)] += shift;
    }
    to.start.push_back(static_cast<PetscInt>(to.column.size()));
  }
  return to;
}

}  // namespace compound::bench
