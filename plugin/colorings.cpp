#include "colorings.hpp"

#include "mat_mpi.hpp"
#include "types.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode (*create_natural)(MatColoring);
PetscErrorCode (*apply_natural)(MatColoring, ISColoring*);

/// PETSc's colours blocks only if the type is named exactly seqbaij or mpibaij, and its users then read beyond the
/// colours.
PetscErrorCode apply(MatColoring mc, ISColoring* colors) {
  PetscFunctionBegin;
  const auto call = [&] { return apply_natural(mc, colors); };
  if (is_seq_compound(mc->mat))
    PetscCall(under_type_name(mc->mat, MATSEQBAIJ, call));
  else if (is_mpi_compound(mc->mat))
    PetscCall(under_type_name(mc->mat, MATMPIBAIJ, call));
  else
    PetscCall(call());
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
