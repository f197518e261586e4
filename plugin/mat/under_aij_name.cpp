#include "mat/under_aij_name.hpp"

#include "mat/via_aij_copy.hpp"
#include "petsc/base_types.hpp"
#include "spgemm/dense_product.hpp"
#include "spgemm/product_results.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

/// Calls `f` while those of the matrices that are of ours above AIJ bear their base type's name. `none` is set where
/// there are none.
template <class F>
PetscErrorCode under_base_names(std::initializer_list<Mat> mats, bool* none, const F& f) {
  std::pair<Mat, char*> lent[3];
  int count = 0;
  for (Mat A : mats) {
    const TypeOfMatrix k = A ? type_of_matrix(A) : TypeOfMatrix{};
    if (!k.is_ours || k.base_type != &aij) continue;
    char*& name = reinterpret_cast<PetscObject>(A)->type_name;
    lent[count++] = {A, std::exchange(name, const_cast<char*>(aij.types(k.is_mpi).base))};
  }
  *none = count == 0;
  const PetscErrorCode code = *none ? PETSC_SUCCESS : f();
  while (count-- > 0) reinterpret_cast<PetscObject>(lent[count].first)->type_name = lent[count].second;
  return code;
}

}  // namespace

PetscErrorCode product_as_aij(Mat C) {
  PetscFunctionBegin;
  bool done, none;  // asked again, under their names
  PetscBool device_dense;
  const Mat_Product* const p = C->product;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(p->B), &device_dense, "seqdensecuda",
                                      "mpidensecuda", ""));
  PetscCall(take_dense_product(C, &done));
  done = done || device_dense;  // column by column, by our products
  if (!done) PetscCall(leave_to_operand(C, for_petsc<product_as_aij>, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(keep_values_of_operands(C));
  PetscCall(under_base_names({p->A, p->B, p->C}, &none, [&] { return MatProductSetFromOptions(C); }));
  PetscCall(follow_operands(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode transpose_symbolic_as_aij(Mat A, Mat* B) {
  PetscFunctionBegin;
  bool none;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(under_base_names({A}, &none, [&] { return base->transposesymbolic(A, B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_as_aij(Mat A, Mat B, MatReuse reuse, Mat* C) {
  PetscFunctionBegin;
  bool none;
  void (*base)(void);
  PetscCall(base_function(aij, false, "MatSeqAIJKron_C", &base));
  for (Mat operand : {A, B}) PetscCall(need_host_values(operand));
  auto* const kron = reinterpret_cast<PetscErrorCode (*)(Mat, Mat, MatReuse, Mat*)>(base);
  PetscCall(under_base_names({A, B}, &none, [&] { return kron(A, B, reuse, C); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
