#include "spgemm/product_results.hpp"

#include <cstring>

#include "options/options.hpp"
#include "petsc/base_types.hpp"
#include "petsc/owned.hpp"
#include "spmv/attached.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound result of a product";

/// Hangs on the product: the symbolic phase that ours stands before.
struct SymbolicPhase {
  PetscErrorCode (*run)(Mat);
};

/// What was asked for by options or a DM comes into the type before the first vector is made.
PetscErrorCode vec_type_of(Mat A, VecType* type) {
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA)
  if (is_compound(A)) {
    Settings* settings;
    PetscCall(settings_of(A, &settings));
    PetscCall(read_options_once(A, *settings));
    PetscCall(decide_vec_type(A, *settings, Moment::before));
  }
#endif
  PetscCall(MatGetVecType(A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  SymbolicPhase* phase = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, &phase));
  PetscCheck(phase, comm_of(C), PETSC_ERR_PLIB, "A product has lost its symbolic phase");
  PetscCall(phase->run(C));
  const Mat_Product* const p = C->product;
  const TypeOfMatrix of_result = type_of_matrix(C), of_left = type_of_matrix(p->A);
  // The interpolation of a grid (MATMAIJ) makes it a matrix of the base type on one process.
  const bool lost_type = of_left.is_ours && of_result.base_type == of_left.base_type && !of_result.is_ours;
  if (lost_type) PetscCall(adopt(C, {}));
  if (is_compound(C)) PetscCall(take_vec_type(C, {p->A, p->B, p->C}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_vec_type(Mat to, std::initializer_list<Mat> from) {
  PetscFunctionBegin;
  for (Mat A : from) {
    if (!A) continue;
    VecType type;
    PetscCall(vec_type_of(A, &type));
    if (std::strcmp(type, VECSTANDARD) == 0) continue;
    PetscCall(MatSetVecType(to, type));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode follow_operands(Mat C) {
  PetscFunctionBegin;
  if (!C->ops->productsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name,
                          std::make_unique<SymbolicPhase>(C->ops->productsymbolic)));
  C->ops->productsymbolic = for_petsc<symbolic>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode keep_values_of_operands(Mat C) {
  PetscFunctionBegin;
  const Mat_Product* const p = C->product;
  for (Mat operand : {p->A, p->B, p->C}) PetscCall(keep_host_values(operand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
