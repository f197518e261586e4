#include "renumber.hpp"

#include <algorithm>
#include <numeric>

#include "failure.hpp"

namespace compound::bench {

BlockRows rows_of(const BlockArrays& a, BlockShape block) {
  BlockRows b;
  b.all_rows = a.rows;
  b.all_columns = a.columns;
  b.start.assign(a.start, a.start + a.rows + 1);
  b.column.assign(a.column, a.column + a.entries());
  b.values.assign(a.values, a.values + a.entries() * block.rows * block.cols);
  return b;
}

std::vector<PetscInt> ordering_of(const BlockRows& rows, const std::string& ordering, double& seconds) {
  if (rows.all_rows != rows.all_columns)
    throw usage_error("-renumber takes rows and columns in the same order: the matrix has " +
                      std::to_string(rows.all_rows) + " block rows and " + std::to_string(rows.all_columns) +
                      " block columns; leave it out");
  Matrix graph;
  std::vector<PetscScalar> ones(rows.column.size(), 1.0);
  const auto size = static_cast<PetscInt>(rows.all_rows);
  // PETSc takes pointers to what it will not change.
  must(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, size, size, const_cast<PetscInt*>(rows.start.data()),
                                 const_cast<PetscInt*>(rows.column.data()), ones.data(), graph.out()));
  Handle<IS, ISDestroy> row_order, column_order;
  const double begin = MPI_Wtime();
  must(MatGetOrdering(graph, ordering.c_str(), row_order.out(), column_order.out()));
  seconds = MPI_Wtime() - begin;
  const PetscInt* places;
  must(ISGetIndices(row_order, &places));
  std::vector<PetscInt> order(places, places + size);
  must(ISRestoreIndices(row_order, &places));
  return order;
}

BlockRows renumbered(const BlockRows& from, std::span<const PetscInt> order, BlockShape block) {
  const auto area = static_cast<std::size_t>(block.rows) * static_cast<std::size_t>(block.cols);
  std::vector<PetscInt> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<PetscInt>(i);
  BlockRows to;
  to.all_rows = from.all_rows;
  to.all_columns = from.all_columns;
  to.column.reserve(from.column.size());
  to.values.reserve(from.values.size());
  std::vector<std::size_t> entries;
  const auto column_of = [&](std::size_t entry) { return place[static_cast<std::size_t>(from.column[entry])]; };
  for (const PetscInt row : order) {
    const auto r = static_cast<std::size_t>(row);
    entries.resize(static_cast<std::size_t>(from.start[r + 1] - from.start[r]));
    std::iota(entries.begin(), entries.end(), static_cast<std::size_t>(from.start[r]));
    std::ranges::sort(entries, {}, column_of);
    for (const std::size_t e : entries) {
      to.column.push_back(column_of(e));
      const auto block_at = from.values.begin() + static_cast<std::ptrdiff_t>(e * area);
      to.values.insert(to.values.end(), block_at, block_at + static_cast<std::ptrdiff_t>(area));
    }
    to.start.push_back(static_cast<PetscInt>(to.column.size()));
  }
  return to;
}

Matrix renumbered(Matrix matrix, const std::string& ordering, int block_size, double& seconds) {
  const BlockShape block{block_size, block_size};
  BlockRows rows = rows_of(block_arrays(matrix).front(), block);
  matrix.reset();
  rows = renumbered(rows, ordering_of(rows, ordering, seconds), block);
  return assemble(PETSC_COMM_SELF, rows, block_size, nullptr);
}

}  // namespace compound::bench
