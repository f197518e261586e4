#include "types/solver_packages.hpp"

#include "edge/families.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode (*mumps_lu)(Mat, MatFactorType, Mat*);

PetscErrorCode factor_by_mumps(Mat A, MatFactorType type, Mat* factor) {
  PetscFunctionBegin;
  if (is_seq_compound(A))
    PetscCall(under_type_name(A, baij.seq.parent, [&] { return mumps_lu(A, type, factor); }));
  else
    PetscCall(mumps_lu(A, type, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode wrap_solver_packages() {
  PetscFunctionBegin;
  PetscBool has_package, has_type_name;
  PetscErrorCode (*found)(Mat, MatFactorType, Mat*) = nullptr;
  PetscCall(MatSolverTypeGet("mumps", baij.seq.parent, MAT_FACTOR_LU, &has_package, &has_type_name, &found));
  if (!found || found == factor_by_mumps) PetscFunctionReturn(PETSC_SUCCESS);
  mumps_lu = found;
  PetscCall(MatSolverTypeRegister("mumps", baij.seq.parent, MAT_FACTOR_LU, factor_by_mumps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
