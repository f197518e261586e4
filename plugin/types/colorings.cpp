#include "types/colorings.hpp"

#include "edge/families.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode (*create_natural)(MatColoring);
PetscErrorCode (*apply_natural)(MatColoring, ISColoring*);

/// PETSc's colours blocks only if the type is named exactly seqbaij or mpibaij, and its users then read beyond the
/// colours; for mpibaij it fails (3.18).
PetscErrorCode color_blocks(Mat A, ISColoring* colors) {
  PetscFunctionBegin;
  const PetscInt bs = kinship(A).family->block_size(A);
  PetscInt first, end;
  ISColoringValue* color;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  const PetscInt all = A->rmap->N / bs, mine = (end - first) / bs;
  PetscCheck(all <= IS_COLORING_MAX - 1, comm_of(A), PETSC_ERR_SUP,
             "Natural colouring of %" PetscInt_FMT " block rows, at most %d are possible: -mat_coloring_type sl", all,
             static_cast<int>(IS_COLORING_MAX) - 1);
  PetscCall(PetscMalloc1(mine + 1, &color));
  for (PetscInt i = 0; i < mine; ++i) color[i] = static_cast<ISColoringValue>(first / bs + i);
  PetscCall(ISColoringCreate(comm_of(A), all, mine, color, PETSC_OWN_POINTER, colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(MatColoring mc, ISColoring* colors) {
  PetscFunctionBegin;
  const bool ours = is_compound(mc->mat);
  PetscCall(ours ? color_blocks(mc->mat, colors) : apply_natural(mc, colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(MatColoring mc) {
  PetscFunctionBegin;
  PetscCall(create_natural(mc));
  apply_natural = mc->ops->apply;
  mc->ops->apply = apply;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode wrap_colorings() {
  PetscFunctionBegin;
  PetscErrorCode (*found)(MatColoring) = nullptr;
  PetscCall(PetscFunctionListFind(MatColoringList, MATCOLORINGNATURAL, &found));
  if (!found || found == create) PetscFunctionReturn(PETSC_SUCCESS);
  create_natural = found;
  PetscCall(MatColoringRegister(MATCOLORINGNATURAL, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
