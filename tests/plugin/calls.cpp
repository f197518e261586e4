#include "calls.hpp"

namespace petsc_test {

namespace {

PetscErrorCode with_left_vector(Mat A, PetscErrorCode (*f)(Mat, Vec)) { return f(A, left_vector(A, 1)); }

PetscErrorCode with_row_vector(Mat A, PetscErrorCode (*f)(Mat, Vec, PetscInt[])) {
  return f(A, left_vector(A, 1), nullptr);
}

template <class Call>
PetscErrorCode makes_indices(const Call& call) {
  Indices is;
  return call(is.out());
}

template <class Call>
PetscErrorCode makes_matrix(const Call& call) {
  Matrix B;
  return call(B.out());
}

PetscErrorCode with_map(Mat A) {
  PetscFunctionBegin;
  Indices own;
  ISLocalToGlobalMapping map;
  PetscInt first, last;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(ISCreateStride(PetscObjectComm(reinterpret_cast<PetscObject>(A)), last - first, first, 1, own.out()));
  PetscCall(ISLocalToGlobalMappingCreateIS(own, &map));
  PetscCall(MatSetLocalToGlobalMapping(A, map, map));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Indices everything(Mat A) {
  Indices is;
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, last - first, first, 1, is.out()));
  return is;
}

PetscErrorCode submatrices_mpi(Mat A) {
  PetscFunctionBegin;
  const auto is = everything(A);
  IS sets[] = {is};
  Mat* parts;
  PetscCall(MatCreateSubMatricesMPI(A, 1, sets, sets, MAT_INITIAL_MATRIX, &parts));
  PetscCall(MatDestroySubMatrices(1, &parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_in_place(Mat A, PetscErrorCode (*f)(Mat, IS, IS, const MatFactorInfo*)) {
  PetscFunctionBegin;
  MatFactorInfo info;
  const auto is = everything(A);
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(f(A, is, is, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode sweep(Mat A) {
  return MatSOR(A, left_vector(A, 1), 1.0, SOR_LOCAL_FORWARD_SWEEP, 0.0, 1, 1, right_vector(A, 2));
}

}  // namespace

Matrix matrix_for_calls(const std::string& type) {
  const auto shape = spread(2, 3, 3);
  Problem problem{shape, {}, 111};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) problem.blocks.push_back({i, j});
  auto A = filled_matrix(type, "", problem);
  Matrix T;
  PETSC_OK(MatTranspose(A, MAT_INITIAL_MATRIX, T.out()));
  PETSC_OK(MatAXPY(A, 1.0, T, SAME_NONZERO_PATTERN));
  return A;
}

const std::vector<CallOfUser>& calls() {
  static const std::vector<CallOfUser> all = {
    {"MatGetRowMax", [](Mat A) { return with_row_vector(A, MatGetRowMax); }},
    {"MatGetRowMin", [](Mat A) { return with_row_vector(A, MatGetRowMin); }},
    {"MatGetRowMaxAbs", [](Mat A) { return with_row_vector(A, MatGetRowMaxAbs); }},
    {"MatGetRowMinAbs", [](Mat A) { return with_row_vector(A, MatGetRowMinAbs); }},
    {"MatGetRowSum", [](Mat A) { return with_left_vector(A, MatGetRowSum); }},
#if PETSC_VERSION_GE(3, 20, 0)
    {"MatGetRowSumAbs", [](Mat A) { return with_left_vector(A, MatGetRowSumAbs); }},
#endif
    {"MatGetColumnVector", [](Mat A) { return MatGetColumnVector(A, left_vector(A, 1), 1); }},
    {"MatDiagonalSet", [](Mat A) { return MatDiagonalSet(A, left_vector(A, 1), INSERT_VALUES); }},
    {"MatSetRandom", [](Mat A) { return MatSetRandom(A, nullptr); }},
#if PETSC_VERSION_LT(3, 26, 0)
    {"MatSetInf", [](Mat A) { return MatSetInf(A); }},
#endif
    {"MatAYPX", [](Mat A) { return MatAYPX(A, 2.0, matrix_for_calls(tested_type()), SAME_NONZERO_PATTERN); }},
    {"MatResidual", [](Mat A) { return MatResidual(A, left_vector(A, 1), right_vector(A, 2), left_vector(A, 3)); }},
    {"MatSOR", sweep},
    {"MatMultDiagonalBlock",
     [](Mat A) {
       const PetscErrorCode code = sweep(A);  // which AIJ takes the blocks from, and crashes without
       return code ? code : MatMultDiagonalBlock(A, right_vector(A, 1), left_vector(A, 2));
     }},
    {"MatGetDiagonalBlock",
     [](Mat A) {
       Mat block;
       return MatGetDiagonalBlock(A, &block);
     }},
    {"MatFindZeroDiagonals", [](Mat A) { return makes_indices([&](IS* is) { return MatFindZeroDiagonals(A, is); }); }},
    {"MatFindNonzeroRows", [](Mat A) { return makes_indices([&](IS* is) { return MatFindNonzeroRows(A, is); }); }},
    {"MatFindOffBlockDiagonalEntries",
     [](Mat A) { return makes_indices([&](IS* is) { return MatFindOffBlockDiagonalEntries(A, is); }); }},
#if PETSC_VERSION_LT(3, 25, 0)
    {"MatMissingDiagonal",
     [](Mat A) {
       PetscBool missing;
       return MatMissingDiagonal(A, &missing, nullptr);
     }},
#endif
    {"MatIsSymmetric",
     [](Mat A) {
       PetscBool yes;
       return MatIsSymmetric(A, 0.0, &yes);
     }},
    {"MatIsHermitian",
     [](Mat A) {
       PetscBool yes;
       return MatIsHermitian(A, 0.0, &yes);
     }},
    {"MatIsStructurallySymmetric",
     [](Mat A) {
       PetscBool yes;
       return MatIsStructurallySymmetric(A, &yes);
     }},
    {"MatIsTranspose",
     [](Mat A) {
       PetscBool yes;
       return MatIsTranspose(A, A, 0.0, &yes);
     }},
    {"MatHermitianTranspose",
     [](Mat A) { return makes_matrix([&](Mat* B) { return MatHermitianTranspose(A, MAT_INITIAL_MATRIX, B); }); }},
    {"MatTransposeSymbolic", [](Mat A) { return makes_matrix([&](Mat* B) { return MatTransposeSymbolic(A, B); }); }},
    {"MatGetLocalSubMatrix",
     [](Mat A) {
       const auto is = everything(A);
       if (const auto code = with_map(A)) return code;
       return makes_matrix([&](Mat* B) { return MatGetLocalSubMatrix(A, is, is, B); });
     }},
    {"MatCreateSubMatricesMPI", submatrices_mpi},
    {"MatGetMultiProcBlock",
     [](Mat A) {
       return makes_matrix([&](Mat* B) { return MatGetMultiProcBlock(A, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, B); });
     }},
    {"MatInvertVariableBlockDiagonal",
     [](Mat A) {
       const PetscInt sizes[] = {2, 2, 2};
       std::vector<PetscScalar> inverses(12);
       return MatInvertVariableBlockDiagonal(A, 3, sizes, inverses.data());
     }},
    {"MatInvertBlockDiagonal",
     [](Mat A) {
       const PetscScalar* inverses;
       return MatInvertBlockDiagonal(A, &inverses);
     }},
    {"MatSetValuesLocal",
     [](Mat A) {
       if (const auto code = with_map(A)) return code;
       const PetscInt at = 0;
       const PetscScalar v = 1;
       PetscErrorCode code = MatSetValuesLocal(A, 1, &at, 1, &at, &v, ADD_VALUES);
       if (!code) code = MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
       return code ? code : MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
     }},
    {"MatGetValuesLocal",
     [](Mat A) {
       if (const auto code = with_map(A)) return code;
       const PetscInt at = 0;
       PetscScalar v;
       return MatGetValuesLocal(A, 1, &at, 1, &at, &v);
     }},
    {"MatZeroRowsLocal",
     [](Mat A) {
       if (const auto code = with_map(A)) return code;
       const PetscInt at = 0;
       return MatZeroRowsLocal(A, 1, &at, 1.0, nullptr, nullptr);
     }},
    {"MatZeroRowsColumnsLocal",
     [](Mat A) {
       if (const auto code = with_map(A)) return code;
       const PetscInt at = 0;
       return MatZeroRowsColumnsLocal(A, 1, &at, 1.0, nullptr, nullptr);
     }},
    {"MatSetValuesRow",
     [](Mat A) {
       const std::vector<PetscScalar> words(12);
       return MatSetValuesRow(A, 0, words.data());
     }},
    {"MatGetRowUpperTriangular", [](Mat A) { return MatGetRowUpperTriangular(A); }},
    {"MatGetRowIJ",
     [](Mat A) {
       PetscInt n;
       const PetscInt *start, *column;
       PetscBool done;
       const PetscErrorCode code = MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &n, &start, &column, &done);
       return code ? code : PetscErrorCode(done ? PETSC_SUCCESS : PETSC_ERR_SUP);
     }},
    {"MatLUFactor", [](Mat A) { return factor_in_place(A, MatLUFactor); }},
    {"MatILUFactor", [](Mat A) { return factor_in_place(A, MatILUFactor); }},
    {"MatGetColumnNorms",
     [](Mat A) {
       PetscReal norms[6];
       return MatGetColumnNorms(A, NORM_2, norms);
     }},
    {"MatGetGhosts",
     [](Mat A) {
       PetscInt n;
       const PetscInt* ghosts;
       return MatGetGhosts(A, &n, &ghosts);
     }},
    {"MatGetSeqNonzeroStructure",
     [](Mat A) { return makes_matrix([&](Mat* B) { return MatGetSeqNonzeroStructure(A, B); }); }},
    {"MatCreateGraph",
     [](Mat A) {
#if PETSC_VERSION_GE(3, 19, 0)
       return makes_matrix([&](Mat* B) { return MatCreateGraph(A, PETSC_TRUE, PETSC_TRUE, 0.0, 0, nullptr, B); });
#else
       return makes_matrix([&](Mat* B) { return MatCreateGraph(A, PETSC_TRUE, PETSC_TRUE, 0.0, B); });
#endif
     }},
  };
  return all;
}

}  // namespace petsc_test
