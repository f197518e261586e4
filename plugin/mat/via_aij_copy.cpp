#include "mat/via_aij_copy.hpp"

#include <algorithm>
#include <utility>

#include "petsc/agree.hpp"
#include "petsc/owned.hpp"
#include "petsc/parts.hpp"
#include "petsc/scoped.hpp"
#include "spgemm/dense_product.hpp"

namespace compound::plugin {

namespace {

/// One operand of a product and the AIJ copy that stands in for it.
struct Operand {
  Mat copy = nullptr;
  PetscObjectId original = 0;  ///< what was copied, and its state and pattern then
  PetscObjectState state = -1;
  std::uint64_t pattern = 0;
};

/// Hangs on the product matrix.
struct ProductByAij {
  Operand operands[3];
  PetscErrorCode (*symbolic)(Mat) = nullptr;  ///< PETSc's for the copies
  PetscErrorCode (*numeric)(Mat) = nullptr;

  ProductByAij() = default;
  ProductByAij(const ProductByAij&) = delete;
  ~ProductByAij() {
    for (Operand& o : operands) static_cast<void>(MatDestroy(&o.copy));
  }
};

constexpr const char* container_name = "petsc-compound product";

bool needs_copy(Mat A) {
  const BaseType* const base_type = A ? type_of_matrix(A).base_type : nullptr;
  return base_type && base_type->keeps_blocks;
}

PetscErrorCode attached(Mat C, ProductByAij** by) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, by));
  PetscCheck(*by, comm_of(C), PETSC_ERR_PLIB, "A product by AIJ copies has lost them");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode update_copy(Mat A, Operand* o) {
  PetscFunctionBegin;
  PetscObjectId id;
  PetscObjectState state;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(A), &id));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  if (o->copy && o->original == id && o->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  std::uint64_t pattern;
  PetscCall(hash_of_pattern(A, &pattern));
  PetscCall(
      agree_on(A, PETSC_ERR_ARG_WRONGSTATE,
               !o->copy || pattern == o->pattern
                   ? ""
                   : "Product with MAT_REUSE_MATRIX: the nonzero pattern of an operand has changed since "
                     "MAT_INITIAL_MATRIX, so that of the result may, too; call it with MAT_INITIAL_MATRIX again"));
  o->pattern = pattern;
  PetscCall(MatConvert(A, MATAIJ, o->copy ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &o->copy));
  o->original = id;
  o->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts the copy in the place of *place, which is kept in *original.
PetscErrorCode put_copy(Mat* place, Operand* o, Mat* original) {
  PetscFunctionBegin;
  PetscCall(update_copy(*place, o));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(o->copy)));
  *original = *place;
  *place = o->copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc may have put something else there for good (the transpose, for ABt on several processes).
PetscErrorCode put_back(Mat* place, Operand* o, Mat* original) {
  PetscFunctionBegin;
  if (*place == o->copy) std::swap(*place, *original);
  PetscCall(MatDestroy(original));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls f() while the product's operands are the copies.
template <class F>
PetscErrorCode on_copies(Mat C, ProductByAij* by, const F& f) {
  PetscFunctionBegin;
  Mat_Product* const p = C->product;
  Mat* const places[3] = {&p->A, &p->B, &p->C};
  const Mat given[3] = {p->A, p->B, p->C};
  Operand* operands[3] = {};
  Mat originals[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (!needs_copy(given[i])) continue;
    // The same matrix twice (A A) must stay the same: PETSc takes short cuts for it.
    operands[i] = &by->operands[std::find(given, given + 3, given[i]) - given];
    PetscCall(put_copy(places[i], operands[i], &originals[i]));
  }
  const PetscErrorCode code = f();
  for (int i = 0; i < 3; ++i)
    if (operands[i]) PetscCall(put_back(places[i], operands[i], &originals[i]));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat C) {
  PetscFunctionBegin;
  ProductByAij* by;
  PetscCall(attached(C, &by));
  PetscCall(on_copies(C, by, [&] { return by->numeric(C); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  ProductByAij* by;
  PetscCall(attached(C, &by));
  PetscCall(on_copies(C, by, [&] { return by->symbolic(C); }));
  by->numeric = C->ops->productnumeric;
  C->ops->productnumeric = by->numeric ? for_petsc<numeric> : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products that PETSc does column by column with our own.
PetscErrorCode is_loop_over_columns(Mat C, bool* loop) {
  PetscFunctionBegin;
  const Mat_Product* p = C->product;
  PetscBool dense;
  PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(p->B), &dense, MATSEQDENSE, MATMPIDENSE, ""));
  *loop = dense && (p->type == MATPRODUCT_AB || p->type == MATPRODUCT_AtB);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// This process's rows or columns of a set; those of others are theirs to check.
PetscErrorCode made_of_blocks(IS set, PetscInt bs, bool* whole) {
  PetscFunctionBegin;
  PetscInt n;
  const PetscInt* at;
  PetscCall(ISGetLocalSize(set, &n));
  PetscCall(ISGetIndices(set, &at));
  *whole = n % bs == 0;
  for (PetscInt i = 0; i < n && *whole; ++i) *whole = at[i] == at[i - i % bs] + i % bs && at[i - i % bs] % bs == 0;
  PetscCall(ISRestoreIndices(set, &at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode leave_to_operand(Mat C, PetscErrorCode (*ours)(Mat), bool* done) {
  PetscFunctionBegin;
  const Mat operands[] = {C->product->A, C->product->B, C->product->C};
  *done = false;
  for (Mat operand : operands) {
    PetscErrorCode (*its_own)(Mat) = nullptr;
    if (!operand || *done) continue;
    PetscCall(query(operand, "MatProductSetFromOptions_anytype_C", &its_own));
    if (!its_own || its_own == ours) continue;
    PetscCall(its_own(C));
    *done = C->ops->productsymbolic != nullptr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode product_by_aij(Mat C) {
  PetscFunctionBegin;
  bool done;
  PetscCall(take_dense_product(C, &done));
  if (!done) PetscCall(is_loop_over_columns(C, &done));
  if (!done) PetscCall(leave_to_operand(C, for_petsc<product_by_aij>, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  auto owned = std::make_unique<ProductByAij>();
  ProductByAij* const by = owned.get();
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::move(owned)));
  PetscCall(on_copies(C, by, [&] { return MatProductSetFromOptions(C); }));
  by->symbolic = C->ops->productsymbolic;
  if (by->symbolic) C->ops->productsymbolic = for_petsc<symbolic>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode are_whole_blocks(Mat A, IS rows, IS cols, bool* whole) {
  PetscFunctionBegin;
  bool row_blocks, col_blocks;
  PetscCall(made_of_blocks(rows, A->rmap->bs, &row_blocks));
  PetscCall(made_of_blocks(cols, A->cmap->bs, &col_blocks));
  PetscCall(on_all(A, row_blocks && col_blocks, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode permuted_by_aij(Mat A, IS rows, IS cols, Mat* B) {
  PetscFunctionBegin;
  ScopedMat as_aij;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, as_aij.out()));
  PetscCall(MatPermute(as_aij, rows, cols, B));
  PetscCall(finish_or_destroy(B, [&] { return as_aij.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode submatrix_by_aij(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  PetscMPIInt size;
  PetscBool sorted;
  bool all = false;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  PetscCall(ISSorted(cols, &sorted));
  PetscCall(on_all(A, sorted == PETSC_TRUE, &all));
  // MatCreateSubMatrix() of mpiaij answers wrongly or with an internal error.
  PetscCheck(
      all || size == 1, comm_of(A), PETSC_ERR_SUP,
      "Submatrix of a matrix of type %s on %d processes with columns that cut its blocks and are not sorted: sort the "
      "column index set (ISSort) or take whole blocks of %" PetscInt_FMT,
      reinterpret_cast<PetscObject>(A)->type_name, size, A->cmap->bs);
  ScopedMat as_aij;
  PetscCall(PetscInfo(A, "The index sets cut blocks: the submatrix is AIJ, made from an AIJ copy\n"));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, as_aij.out()));
  PetscCall(MatCreateSubMatrix(as_aij, rows, cols, reuse, B));
  PetscCall(finish_or_keep(reuse, B, [&] { return as_aij.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
