#include "patterns.hpp"

#include <algorithm>
#include <span>

#include "coo_structure.hpp"

namespace compound::plugin {

namespace {

bool same(const PartArrays& a, const PartArrays& b) {
  const BlockArrays &p = a.blocks, &q = b.blocks;
  if (p.rows != q.rows || p.block_size != q.block_size || p.entries() != q.entries()) return false;
  if (a.columns.has_value() != b.columns.has_value() || (a.columns && !std::ranges::equal(*a.columns, *b.columns)))
    return false;
  return p.rows == 0 ||
         (std::equal(p.start, p.start + p.rows + 1, q.start) && std::equal(p.column, p.column + p.entries(), q.column));
}

}  // namespace

PetscErrorCode have_same_pattern(Mat A, Mat B, bool* yes) {
  PetscFunctionBegin;
  std::vector<PartArrays> a, b;
  PetscCall(parts_of(A, &a));
  PetscCall(parts_of(B, &b));
  int all = std::ranges::equal(a, b, same);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_of(A)));
  *yes = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode hash_of_pattern(Mat A, std::uint64_t* hash) {
  PetscFunctionBegin;
  std::vector<PartArrays> parts;
  PetscCall(parts_of(A, &parts));
  *hash = 0;
  for (const PartArrays& p : parts) *hash = *hash * 31 + p.pattern();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
