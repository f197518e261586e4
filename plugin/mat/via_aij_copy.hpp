// What PETSc does for AIJ but not for BAIJ, done on AIJ copies: products of two and three sparse matrices, whose result
// keeps the copies; permutations and submatrices that cut blocks, which do not. Graphs for coarsening are refused.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The function composed as MatProductSetFromOptions_anytype_C: PETSc asks it when the operands' types have no product
/// of their own. The result is AIJ (or dense, with a dense operand), and keeps the copies for new values; A times dense
/// stays with PETSc's loop over columns, which runs on our products.
PetscErrorCode product_by_aij(Mat product);

/// An operand that has a way with any type (diagonals since 3.26, virtual transposes) goes first: all but `ours`, which
/// is composed under the same name.
PetscErrorCode leave_to_operand(Mat product, PetscErrorCode (*ours)(Mat), bool* done);

/// MatPermute() and MatCreateSubMatrix() for index sets that cut blocks.
PetscErrorCode permuted_by_aij(Mat A, IS rows, IS cols, Mat* B);
PetscErrorCode submatrix_by_aij(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B);

/// Whether both sets, on every process, are made of A's blocks, whole and in order. Collective.
PetscErrorCode are_whole_blocks(Mat A, IS rows, IS cols, bool* whole);

/// Algebraic multigrid `whose`, which needs AIJ: an error with the way out.
inline PetscErrorCode refuse_multigrid(Mat A, PetscErrorCode code, const char* whose) {
  PetscFunctionBegin;
  SETERRQ(comm_of(A), code,
          "Algebraic multigrid %s needs a matrix of type aij, found %s: use -mat_type aijcompound, which has products "
          "in blocks, too. Or give the preconditioner an AIJ copy and keep this matrix for the products: "
          "MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &P), KSPSetOperators(ksp, A, P)",
          whose, type_of(A));
}

/// MatCreateGraph(), whose arguments differ between releases. PCGAMG asks for it first, and would then make
/// prolongations of the matrix's own type, which BAIJ cannot hold: its blocks are square.
template <class... Args>
PetscErrorCode refuse_graph(Mat A, Args...) {
  return refuse_multigrid(A, PETSC_ERR_SUP, "of PETSc (PCGAMG)");
}

}  // namespace compound::plugin
