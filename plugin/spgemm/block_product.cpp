#include "spgemm/block_product.hpp"

#include <algorithm>
#include <iterator>

#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"
#include "petsc/owned.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound product of blocks";

constexpr BlockProductKind kinds[] = {{MATPRODUCT_AB, "-matmatmult_via", false},
                                      {MATPRODUCT_PtAP, "-matptap_via", true}};

PetscErrorCode key_of(Mat A, PatternKey* key) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(A), &key->id));
  key->nonzeros = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attached(Mat C, BlockProduct** p) {
  return composed(reinterpret_cast<PetscObject>(C), container_name, p);
}

}  // namespace

PetscErrorCode BlockProduct::take(Mat C, bool* fit) {
  PetscFunctionBegin;
  bool here;
  PetscCall(take_operands(C, &here));
  PetscCall(on_all(C, here, fit));
  PetscCall(key_of(C->product->A, &of_A_));
  PetscCall(key_of(C->product->B, &of_B_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the operands' patterns are still those that were taken.
PetscErrorCode BlockProduct::are_as_taken(Mat C, bool* same) const {
  PetscFunctionBegin;
  PatternKey A, B;
  PetscCall(key_of(C->product->A, &A));
  PetscCall(key_of(C->product->B, &B));
  PetscCall(on_all(C, A == of_A_ && B == of_B_, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For other operands than those of the symbolic phase, or changed ones, which must give the same pattern.
PetscErrorCode BlockProduct::check_operands(Mat C) {
  PetscFunctionBegin;
  bool same, fit;
  PetscCall(are_as_taken(C, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take(C, &fit));
  if (fit) PetscCall(find_pattern(C, false, &same));
  PetscCall(on_all(C, fit && same, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  of_A_ = {};  // the next call looks again
  SETERRQ(comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
          "Product with MAT_REUSE_MATRIX: an operand has another pattern than with MAT_INITIAL_MATRIX, so that the "
          "pattern of the result is another; call it with MAT_INITIAL_MATRIX again");
}

PetscErrorCode BlockProduct::symbolic(Mat C) {
  PetscFunctionBegin;
  BlockProduct* p;
  bool fit, same;
  PetscCall(attached(C, &p));
  PetscCheck(p, comm_of(C), PETSC_ERR_PLIB, "A product of blocks has lost its pattern");
  PetscCall(p->are_as_taken(C, &fit));
  if (!fit) PetscCall(p->take(C, &fit));
  PetscCheck(fit, comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "The operands of a product have other blocks than when MatProductSetFromOptions() looked at them; call it "
             "again");
  PetscCall(p->find_pattern(C, true, &same));
  PetscCall(p->make_result(C));
  p->of_C_ = ResultKey(C);
  C->ops->productnumeric = for_petsc<numeric>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatAXPY() with another pattern replaces C. Some releases lose what is composed with it, and keep its operations.
PetscErrorCode BlockProduct::find_again(Mat C, BlockProduct** p) {
  PetscFunctionBegin;
  PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMDEFAULT));  // as it was asked for then
  PetscCall((*C->product->A->ops->productsetfromoptions)(C));
  PetscCall(attached(C, p));
  PetscCheck(*p, comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "Product with MAT_REUSE_MATRIX: the result has been replaced, and an operand is in other blocks than with "
             "MAT_INITIAL_MATRIX; call it with MAT_INITIAL_MATRIX again");
  PetscCall(symbolic(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockProduct::numeric(Mat C) {
  PetscFunctionBegin;
  BlockProduct* p;
  bool is_as_made = false;
  PetscCall(attached(C, &p));
  if (!p) PetscCall(find_again(C, &p));
  PetscCall(p->check_operands(C));
  PetscCall(on_all(C, p->of_C_ == ResultKey(C), &is_as_made));
  if (!is_as_made) PetscCall(p->make_result(C));  // it has got more entries, or lost some
  PetscCall(p->multiply(C));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  p->of_C_ = ResultKey(C);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ask_base_type(Mat C, const BlockProductKind** kind) {
  PetscFunctionBegin;
  const Mat_Product* const product = C->product;
  const auto* const found = std::ranges::find(kinds, product->type, &BlockProductKind::type);
  const _MatOps* base;
  PetscBool by_default, by_option;
  PetscCall(PetscStrcmp(product->alg, MATPRODUCTALGORITHMDEFAULT, &by_default));
  PetscCall(base_ops(product->A, &base));
  PetscCall(base->productsetfromoptions(C));
  *kind = nullptr;
  if (!C->ops->productsymbolic || found == std::end(kinds) || !by_default) PetscFunctionReturn(PETSC_SUCCESS);
  const char* const option = product->api_user ? found->option : "-mat_product_algorithm";
  const auto* const object = reinterpret_cast<PetscObject>(C);
  PetscCall(PetscOptionsHasName(object->options, object->prefix, option, &by_option));
  if (!by_option && !C->structure_only) *kind = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_block_product(Mat C, std::unique_ptr<BlockProduct> p, bool* taken) {
  PetscFunctionBegin;
  PetscCall(p->take(C, taken));
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(C, "The product of two matrices runs in blocks %s\n", p->where()));
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::move(p)));
  C->ops->productsymbolic = for_petsc<BlockProduct::symbolic>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
