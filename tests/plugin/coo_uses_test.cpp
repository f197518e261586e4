// Which of PETSc's operations bring values by coordinates from a device to the host.
#include "coo_values.hpp"

namespace {

using namespace petsc_test;

/// What PETSc does with a matrix's values, each on one whose values are on a device, and beside one whose are not.
struct Use {
  const char* name;
  PetscErrorCode (*run)(Mat A, Mat other);  ///< of A, which is square; `other` has A's pattern and type
  bool crosses;                             ///< whether the host must have the values for that
  On left;                                  ///< where they are after it
  bool is_last = false;                     ///< after it A may have another pattern
};

PetscErrorCode twice(Mat made, Mat to, MatStructure structure = SAME_NONZERO_PATTERN) {
  PetscCall(MatAXPY(to, 1.0, made, structure));
  return MatDestroy(&made);
}

/// PETSc makes a new matrix, and gives it this one's operations.
PetscErrorCode add_of_another_type(Mat A, Mat other) {
  Mat X;
  PetscReal norm;
  PetscCall(MatConvert(other, MATAIJ, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatAXPY(A, 2.0, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  return MatShift(A, 3.0);
}

const Use uses[] = {
    {"nothing", [](Mat, Mat) -> PetscErrorCode { return 0; }, false, On::device},
    {"MatScale", [](Mat A, Mat) { return MatScale(A, 2.0); }, false, On::device},
    {"MatShift", [](Mat A, Mat) { return MatShift(A, 3.0); }, true, On::host},
    {"MatZeroEntries", [](Mat A, Mat) { return MatZeroEntries(A); }, false, On::device},
    {"MatConjugate", [](Mat A, Mat) { return MatConjugate(A); }, PetscDefined(USE_COMPLEX),
     PetscDefined(USE_COMPLEX) ? On::host : On::device},
    {"MatAXPY, Y", [](Mat A, Mat other) { return MatAXPY(A, 2.0, other, SAME_NONZERO_PATTERN); }, false, On::device},
    {"MatAXPY, X",
     [](Mat A, Mat other) {
       PetscCall(MatAXPY(other, 2.0, A, SAME_NONZERO_PATTERN));
       return MatCopy(other, A, SAME_NONZERO_PATTERN);
     },
     true, On::host},
    {"MatAXPY, another type", add_of_another_type, true, On::host, true},
    {"MatAXPY, another pattern", [](Mat A, Mat other) { return MatAXPY(A, 2.0, other, DIFFERENT_NONZERO_PATTERN); },
     true, On::host, true},
    {"MatCopy from",
     [](Mat A, Mat other) {
       PetscCall(MatCopy(A, other, SAME_NONZERO_PATTERN));
       return MatAXPY(A, 1.0, other, SAME_NONZERO_PATTERN);
     },
     true, On::device},
    {"MatCopy to", [](Mat A, Mat other) { return MatCopy(other, A, SAME_NONZERO_PATTERN); }, false, On::host},
    {"MatDuplicate",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
       return twice(B, A);
     },
     false, On::device},
    {"MatDuplicate without values",
     [](Mat A, Mat) {
       Mat B;
       PetscReal norm;
       PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
       PetscCall(MatNorm(B, NORM_INFINITY, &norm));
       PetscCall(MatDestroy(&B));
       return MatScale(A, norm > 0 ? 3.0 : 2.0);
     },
     false, On::device},
    {"MatConvert",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
       PetscCall(MatConvert(B, tested_type().c_str(), MAT_INPLACE_MATRIX, &B));
       return twice(B, A);
     },
     true, On::device},
    {"MatTranspose",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
       return twice(B, A, DIFFERENT_NONZERO_PATTERN);
     },
     true, On::host, true},
    {"MatGetDiagonal",
     [](Mat A, Mat) {
       Vec d;
       PetscCall(MatCreateVecs(A, &d, nullptr));
       PetscCall(MatGetDiagonal(A, d));
       PetscCall(MatDiagonalSet(A, d, ADD_VALUES));
       return VecDestroy(&d);
     },
     true, On::host},
    {"MatDiagonalScale",
     [](Mat A, Mat) {
       Vec d;
       PetscCall(MatCreateVecs(A, &d, nullptr));
       PetscCall(VecSet(d, 2.0));
       PetscCall(MatDiagonalScale(A, d, nullptr));
       return VecDestroy(&d);
     },
     true, On::host},
    {"MatSetValues",
     [](Mat A, Mat) {
       PetscInt first, end;
       PetscCall(MatGetOwnershipRange(A, &first, &end));
       for (PetscInt row = first; row < end; ++row) PetscCall(MatSetValue(A, row, row, 5.0, ADD_VALUES));
       PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
       return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
     },
     true, On::host},
    {"an empty assembly",
     [](Mat A, Mat) {
       PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
       return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
     },
     false, On::device},
    {"MatNorm",
     [](Mat A, Mat) {
       PetscReal norm;
       PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
       return MatScale(A, norm > 0 ? 2.0 : 1.0);
     },
     true, On::device},
    {"MatCreateSubMatrix",
     [](Mat A, Mat) {
       IS rows;
       Mat B;
       PetscReal norm;
       PetscInt first, end, bs;
       PetscCall(MatGetOwnershipRange(A, &first, &end));
       PetscCall(MatGetBlockSize(A, &bs));
       PetscCall(ISCreateStride(PETSC_COMM_WORLD, std::max(end - first - bs, PetscInt(0)), first, 1, &rows));
       PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
       PetscCall(ISDestroy(&rows));
       PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
       PetscCall(MatDestroy(&B));
       return MatScale(A, norm > 0 ? 2.0 : 1.0);
     },
     true, On::device},
    {"MatNorm alone",
     [](Mat A, Mat) {
       PetscReal norm;
       return MatNorm(A, NORM_INFINITY, &norm);
     },
     true, On::both},
    {"MatStoreValues and MatRetrieveValues",
     [](Mat A, Mat) {
       PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
       PetscCall(MatStoreValues(A));
       PetscCall(MatScale(A, 3.0));
       PetscCall(MatRetrieveValues(A));
       return MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE);
     },
     true, On::host},
};

TEST_P(ValuesApart, CrossOnlyToWhatNeedsThem) {
  auto e = random_entries(100, square(), 400);
  const PetscInt first = square().first_row() * square().bs;
  for (PetscInt row = first; row < first + square().rows[rank()] * square().bs; ++row)
    e.row.push_back(row), e.column.push_back(row);  // for MatShift()
  const auto v = whole_values(101, e), w = whole_values(102, e);
  for (const Use& use : uses)
    for (const bool both : {false, true}) {
      SCOPED_TRACE(std::string(use.name) + (both ? ", the other's on a device, too" : ""));
      const auto A = made(e), B = made(e), other_of_A = made(e), other_of_B = made(e);
      set(A, v, INSERT_VALUES);
      both ? set(other_of_A, w, INSERT_VALUES) : set_on_host(other_of_A, w, INSERT_VALUES);
      set_on_host(B, v, INSERT_VALUES);
      set_on_host(other_of_B, w, INSERT_VALUES);

      const Crossings found = crossings_during([&] { PETSC_OK(use.run(A, other_of_A)); });
      PETSC_OK(use.run(B, other_of_B));

      if (!both) {
        EXPECT_EQ(found.to_host > 0, use.crosses) << found.to_host;
      }
      if (use.is_last) {
        EXPECT_TRUE(same_scalars(A, B));
        continue;
      }
      if (!both) {
        EXPECT_EQ(where_values_are(A, e), use.left);
      }
      EXPECT_TRUE(same_scalars(A, B));
      set(A, w, ADD_VALUES);
      set_on_host(B, w, ADD_VALUES);
      EXPECT_TRUE(same_scalars(A, B));
    }
}

}  // namespace
