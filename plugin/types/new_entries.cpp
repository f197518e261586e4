#include "types/new_entries.hpp"

#include <algorithm>
#include <vector>

#include "edge/families.hpp"

namespace compound::plugin {

namespace {

bool are_sorted(PetscInt rows, const PetscInt* start, const PetscInt* column) {
  for (PetscInt row = 0; row < rows; ++row)
    if (!std::is_sorted(column + start[row], column + start[row + 1])) return false;
  return true;
}

}  // namespace

PetscErrorCode set_entries(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values) {
  PetscFunctionBegin;
  const PetscInt rows = C->rmap->n;
  PetscScalar* to;
  std::vector<PetscInt> counts;
  if (!are_sorted(rows, start, column)) {
    PetscCall(MatSeqAIJSetPreallocationCSR(C, start, column, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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

}  // namespace compound::plugin
