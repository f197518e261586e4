#include "mat/colorings.hpp"

#include "petsc/overrides.hpp"

namespace compound::plugin {

namespace {

/// PETSc's colours blocks only if the type is named exactly seqbaij or mpibaij, and its users then read beyond the
/// colours; for mpibaij it fails (3.18).
PetscErrorCode color_blocks(Mat A, ISColoring* colors) {
  PetscFunctionBegin;
  const PetscInt bs = type_of_matrix(A).base_type->block_size(A);
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

PetscErrorCode color_naturally(MatColoring mc, ISColoring* colors, PetscErrorCode (*base)(MatColoring, ISColoring*)) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(mc->mat);
  PetscCall(k.is_ours && k.base_type->keeps_blocks ? color_blocks(mc->mat, colors) : base(mc, colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's looks at an AIJ of the exact name alone.
PetscErrorCode color_as_aij(MatColoring mc, ISColoring* colors, PetscErrorCode (*base)(MatColoring, ISColoring*)) {
  PetscFunctionBegin;
  PetscCall(under_base_name(mc->mat, [&] { return base(mc, colors); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A colouring of PETSc's that is made by `ours`, which is given PETSc's own.
template <FunctionName name, auto ours>
struct Wrapped {
  static inline PetscErrorCode (*base_create)(MatColoring) = nullptr;
  static inline PetscErrorCode (*base_apply)(MatColoring, ISColoring*) = nullptr;

  static PetscErrorCode apply(MatColoring mc, ISColoring* colors) { return ours(mc, colors, base_apply); }
  static PetscErrorCode create(MatColoring mc) {
    PetscFunctionBegin;
    PetscCall(base_create(mc));
    base_apply = mc->ops->apply;
    mc->ops->apply = for_petsc<apply>;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode wrap() {
    PetscFunctionBegin;
    PetscErrorCode (*found)(MatColoring) = nullptr;
    PetscCall(PetscFunctionListFind(MatColoringList, name.text, &found));
    if (!found || found == for_petsc<create>) PetscFunctionReturn(PETSC_SUCCESS);
    base_create = found;
    PetscCall(MatColoringRegister(name.text, for_petsc<create>));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace

PetscErrorCode wrap_colorings() {
  PetscFunctionBegin;
  PetscCall(Wrapped<MATCOLORINGNATURAL, color_naturally>::wrap());
  PetscCall(Wrapped<MATCOLORINGJP, color_as_aij>::wrap());
  PetscCall(Wrapped<MATCOLORINGGREEDY, color_as_aij>::wrap());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
