#include "spgemm/new_entries.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "petsc/base_types.hpp"

namespace compound::plugin {

namespace {

bool are_sorted(PetscInt rows, const PetscInt* start, const PetscInt* column) {
  for (PetscInt row = 0; row < rows; ++row)
    if (!std::is_sorted(column + start[row], column + start[row + 1])) return false;
  return true;
}

/// Of columns that ascend in each row.
PetscErrorCode set_ascending(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values) {
  PetscFunctionBegin;
  const PetscInt rows = C->rmap->n;
  PetscScalar* to;
  std::vector<PetscInt> counts;
  PetscCall(guarded(comm_of(C), [&] {
    counts.resize(static_cast<std::size_t>(rows));
    for (PetscInt row = 0; row < rows; ++row) counts[static_cast<std::size_t>(row)] = start[row + 1] - start[row];
  }));
  PetscCall(MatSeqAIJSetPreallocation(C, 0, counts.data()));
  PetscCall(MatSeqAIJSetColumnIndices(C, const_cast<PetscInt*>(column)));
  PetscCall(MatSeqAIJGetArrayWrite(C, &to));
  const PetscInt entries = rows > 0 ? start[rows] : 0;
  values ? std::copy_n(values, entries, to) : std::fill_n(to, entries, PetscScalar(0));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &to));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The scalar rows of blocks, as AIJ has them.
struct ScalarRows {
  std::vector<PetscInt> start;
  std::unique_ptr<PetscInt[]> column;

  ScalarRows(const Pattern& p, BlockShape block)
      : start(std::size_t{1} * p.rows * block.rows + 1),
        column(std::make_unique_for_overwrite<PetscInt[]>(p.column.size() * scalars_in(block))) {
    PetscInt *to = column.get(), *end = start.data();
    for (idx row = 0; row < p.rows; ++row) {
      const PetscInt* const first = to;
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
        for (int j = 0; j < block.cols; ++j) *to++ = PetscInt{p.column[e]} * block.cols + j;
      const PetscInt length = static_cast<PetscInt>(to - first);
      for (int i = 1; i < block.rows; ++i) to = std::copy_n(first, length, to);
      for (int i = 0; i < block.rows; ++i, ++end) end[1] = end[0] + length;
    }
  }
};

}  // namespace

PetscErrorCode set_entries(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values,
                           bool* in_order) {
  PetscFunctionBegin;
  *in_order = are_sorted(C->rmap->n, start, column);
  PetscCall(*in_order ? set_ascending(C, start, column, values)
                      : MatSeqAIJSetPreallocationCSR(C, start, column, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_of_pattern(Mat C, MatType type, const Pattern& pattern, BlockShape block) {
  PetscFunctionBegin;
  std::unique_ptr<ScalarRows> s;
  const PetscInt64 rows = PetscInt64{pattern.rows} * block.rows, cols = PetscInt64{pattern.cols} * block.cols,
                   entries = static_cast<PetscInt64>(pattern.column.size() * scalars_in(block));
  PetscCheck(std::max({rows, cols, entries}) <= std::numeric_limits<PetscInt>::max(), comm_of(C), PETSC_ERR_SUP,
             "The product of two sparse matrices has %lld scalars, beyond this PETSc's integers; use more processes or "
             "a PETSc with 64-bit indices",
             static_cast<long long>(entries));
  PetscCall(MatSetSizes(C, static_cast<PetscInt>(rows), static_cast<PetscInt>(cols), static_cast<PetscInt>(rows),
                        static_cast<PetscInt>(cols)));
  PetscCall(MatSetBlockSizes(C, block.rows, block.cols));
  PetscCall(MatSetType(C, type));
  PetscCall(guarded(comm_of(C), [&] { s = std::make_unique<ScalarRows>(pattern, block); }));
  PetscCall(set_ascending(C, s->start.data(), s->column.get(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
