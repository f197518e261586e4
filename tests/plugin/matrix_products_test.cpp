// Products of matrices: with dense ones (many vectors at once), with aij, with each other.
#include <limits>
#include <vector>

#include "dense_columns.hpp"
#include "device.hpp"

namespace {

using namespace petsc_test;

struct Kind {
  const char* name;
  MatProductType type;
  bool transposed_partner = false;  ///< B must fit A from the other side
};

const Kind kinds[] = {{"AB", MATPRODUCT_AB},     {"AtB", MATPRODUCT_AtB},   {"ABt", MATPRODUCT_ABt},
                      {"PtAP", MATPRODUCT_PtAP}, {"RARt", MATPRODUCT_RARt}, {"ABC", MATPRODUCT_ABC}};

struct Case {
  Kind kind;
  const char *left, *right;  ///< "tested" or a type of PETSc
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.kind.name << " " << c.left << " " << c.right; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& k : kinds) {
    all.push_back({k, "tested", MATDENSE});
    all.push_back({k, "tested", MATAIJ});
    all.push_back({k, MATAIJ, "tested"});
    all.push_back({k, "tested", "tested"});
    if (!tested_is_of_scalars()) all.push_back({k, "tested", MATBAIJ});
  }
  return all;
}

Matrix converted(Mat A, const std::string& type) {
  Matrix B;
  PETSC_OK(MatConvert(A, type.c_str(), MAT_INITIAL_MATRIX, B.out()));
  return B;
}

/// Square, so that every product of two fits.
Matrix operand(const std::string& type, std::uint64_t seed) {
  Random random(seed);
  const auto shape = spread(2, 9, 9);
  const auto A = filled_matrix(MATBAIJ, "", {shape, random_blocks(random, shape, 0.3, true), seed});
  return converted(A, type == "tested" ? tested_type() : type);
}

PetscErrorCode product_of_two(Mat A, Mat B, MatProductType type, Mat* C) {
  PetscFunctionBegin;
  PetscCall(MatProductCreate(A, B, type == MATPRODUCT_ABC ? A : nullptr, C));
  PetscCall(MatProductSetType(*C, type));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscCall(MatProductNumeric(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Largest difference of all entries, over the largest entry.
double difference(Mat found, Mat wanted) {
  Matrix a = converted(found, MATDENSE), b = converted(wanted, MATDENSE);
  PetscReal norm, error;
  PETSC_OK(MatNorm(b, NORM_INFINITY, &norm));
  PETSC_OK(MatAXPY(a, -1.0, b, SAME_NONZERO_PATTERN));
  PETSC_OK(MatNorm(a, NORM_INFINITY, &error));
  return norm > 0 ? error / norm : error;
}

#if PETSC_VERSION_GE(3, 20, 0)
TEST(ScaledByADiagonalMatrix, IsAMatrixScaled) {
  const auto A = operand("tested", 85), scaled = operand("tested", 85);
  const auto d = right_vector(A, 86);
  Matrix D, product, wanted;
  PETSC_OK(MatCreateDiagonal(d, D.out()));
  PETSC_OK(MatDiagonalScale(scaled, nullptr, d));

  const auto could = catch_error([&] { return MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()); });

  if (PETSC_VERSION_LT(3, 26, 0) && could.code) GTEST_SKIP() << "skipped: PETSc has no such products before 3.26";
  ASSERT_EQ(could.code, 0) << could.message;
  EXPECT_TRUE(same_mult(product, scaled, 87));
}
#endif

TEST(ReusedProduct, OfAnOperandWhosePatternGrewAsksForANewOne) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "PETSc's own products of AIJ do not look";
  if (!tested_is_compound()) GTEST_SKIP() << "baij has no such products";
  const auto A = operand("tested", 83), B = operand(MATAIJ, 84), a = operand(MATAIJ, 83);
  Matrix C, wanted;
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (Mat m : {Mat(A), Mat(a)}) {
    for (PetscInt k = 0; k < 18 && rank() == 0; ++k) PETSC_OK(MatSetValue(m, 0, k, 2.5, INSERT_VALUES));
    assemble(m);
  }

  const auto reused = catch_error([&] { return MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()); });

  EXPECT_EQ(reused.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(reused.message.find("call it with MAT_INITIAL_MATRIX again"), std::string::npos) << reused.message;
  C.reset();
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatMatMult(a, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  EXPECT_LE(difference(C, wanted), 1e-14);
}

struct MatrixProducts : testing::TestWithParam<Case> {};

TEST_P(MatrixProducts, AreThoseOfAijCopies) {
  const Kind& kind = GetParam().kind;
  const std::string left = GetParam().left, right = GetParam().right;
  const auto A = operand(left, 81), B = operand(right, 82);
  const auto a = operand(MATAIJ, 81), b = operand(right == MATDENSE ? MATDENSE : MATAIJ, 82);
  Matrix wanted, found;
  const auto can = catch_error([&] { return product_of_two(a, b, kind.type, wanted.out()); });
  if (can.code) *wanted.in_place() = nullptr;

  const auto could = catch_error([&] { return product_of_two(A, B, kind.type, found.out()); });

  if (can.code || could.code) {
    *found.in_place() = nullptr;
    EXPECT_TRUE(could.code == can.code || !tested_is_compound()) << could.message << "\naij: " << can.message;
    return;
  }
  EXPECT_LE(difference(found, wanted), 1e-13);
}

/// The product, and again with other values; the second as dense.
PetscErrorCode product_twice(Mat A, Mat B, MatProductType type, Mat* C) {
  PetscFunctionBegin;
  PetscCall(product_of_two(A, B, type, C));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(B, 3.0));
  PetscCall(MatProductNumeric(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(MatrixProducts, FollowNewValuesAsOnAij) {
  const Kind& kind = GetParam().kind;
  const std::string left = GetParam().left, right = GetParam().right;
  const auto A = operand(left, 83), B = operand(right, 84);
  const auto a = operand(MATAIJ, 83), b = operand(right == MATDENSE ? MATDENSE : MATAIJ, 84);
  Matrix wanted, found;
  const auto can = catch_error([&] { return product_twice(a, b, kind.type, wanted.out()); });
  if (can.code) *wanted.in_place() = nullptr;

  const auto could = catch_error([&] { return product_twice(A, B, kind.type, found.out()); });

  if (can.code || could.code) {
    *found.in_place() = nullptr;
    EXPECT_TRUE(could.code == can.code || !tested_is_compound()) << could.message << "\naij: " << can.message;
    return;
  }
  EXPECT_LE(difference(found, wanted), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProducts, testing::ValuesIn(cases()), [](const auto& param_info) {
  return std::string(param_info.param.kind.name) + "_" + param_info.param.left + "_" + param_info.param.right;
});

/// Dense, as tall as A is wide; on each process `gap` rows of its array are of no column.
struct Dense {
  std::vector<PetscScalar> array;
  Matrix mat;

  Dense(PetscInt local_rows, PetscInt columns, PetscInt gap, std::uint64_t seed) {
    const PetscInt apart = local_rows + gap;
    array.assign(static_cast<std::size_t>(apart * columns + 1), std::numeric_limits<PetscReal>::quiet_NaN());
    PETSC_OK(MatCreate(PETSC_COMM_WORLD, mat.out()));
    PETSC_OK(MatSetSizes(mat, local_rows, PETSC_DECIDE, PETSC_DETERMINE, columns));
    PETSC_OK(MatSetType(mat, MATDENSE));
    PETSC_OK(MatDenseSetLDA(mat, apart));
    for (const auto place : {MatSeqDenseSetPreallocation, MatMPIDenseSetPreallocation})
      PETSC_OK(place(mat, array.data()));
    fill_columns(mat, seed);
  }
};

/// Column by column, by MatMult() or MatMultTranspose().
testing::AssertionResult are_columns_of(Mat C, Mat A, Mat B, bool transposed = false) {
  PetscInt columns;
  PETSC_OK(MatGetSize(B, nullptr, &columns));
  for (PetscInt n = 0; n < columns; ++n) {
    Vec column;
    Vector x, y, found;
    PETSC_OK(transposed ? MatCreateVecs(A, y.out(), x.out()) : MatCreateVecs(A, x.out(), y.out()));
    PETSC_OK(VecDuplicate(y, found.out()));
    PETSC_OK(MatDenseGetColumnVecRead(B, n, &column));
    PETSC_OK(VecCopy(column, x));
    PETSC_OK(MatDenseRestoreColumnVecRead(B, n, &column));
    PETSC_OK(MatDenseGetColumnVecRead(C, n, &column));
    PETSC_OK(VecCopy(column, found));
    PETSC_OK(MatDenseRestoreColumnVecRead(C, n, &column));
    PETSC_OK((transposed ? MatMultTranspose : MatMult)(A, x, y));
    if (auto same = same_bits(found, y); !same) return same << " in column " << n;
  }
  return testing::AssertionSuccess();
}

struct DenseCase {
  int block_size;
  PetscInt columns, gap = 0;
  const char* options = "";
};
void PrintTo(const DenseCase& c, std::ostream* out) {
  *out << c.block_size << " x " << c.block_size << ", " << c.columns << " columns, gaps of " << c.gap << " "
       << c.options;
}

struct DenseProducts : testing::TestWithParam<DenseCase> {
  void SetUp() override {
    if (!tested_is_compound() || (tested_is_of_scalars() && c.block_size == 1))
      GTEST_SKIP() << "PETSc's own products with dense matrices have bits of their own";
  }
  DenseCase c = GetParam();
  Shape shape = spread(c.block_size, 13, 11);
  Random random{90};
  Matrix A = filled_matrix(tested_type(), c.options, {shape, random_blocks(random, shape, 0.3, false), 91});

  PetscInt local(bool of_rows) const {
    PetscInt rows, columns;
    PETSC_OK(MatGetLocalSize(A, &rows, &columns));
    return of_rows ? rows : columns;
  }
};
INSTANTIATE_TEST_SUITE_P(Cases, DenseProducts,
                         testing::Values(DenseCase{2, 0}, DenseCase{3, 1}, DenseCase{3, 2}, DenseCase{3, 5, 2},
                                         DenseCase{3, 40}, DenseCase{4, 33, 1}, DenseCase{1, 6}, DenseCase{11, 5},
                                         DenseCase{3, 5, 1, "-mat_compound_layout sell:8"},
                                         DenseCase{2, 5, 1, "-mat_compound_backend petsc"}));

TEST_P(DenseProducts, HaveTheBitsOfMatMult) {
  const Dense B(local(false), c.columns, c.gap, 92);
  const auto before = info_of(A);
  Matrix C;

  PETSC_OK(MatMatMult(A, B.mat, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  const auto of_petsc = std::string(c.options).find("petsc") != std::string::npos;
  const PetscInt64 counted = of_petsc ? 0 : c.columns;
  EXPECT_TRUE(all_ranks(info_of(A).products - before.products == counted)) << info_of(A).products;
  EXPECT_TRUE(are_columns_of(C, A, B.mat));
}

TEST_P(DenseProducts, FollowNewValues) {
  const Dense B(local(false), c.columns, c.gap, 93), more(local(false), c.columns, c.gap, 94);
  Matrix C;
  PETSC_OK(MatMatMult(A, B.mat, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatScale(A, 3.0));
  PETSC_OK(MatCopy(more.mat, B.mat, SAME_NONZERO_PATTERN));

  PETSC_OK(MatMatMult(A, B.mat, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));

  EXPECT_TRUE(are_columns_of(C, A, B.mat));
}

/// A B^T, and again with new values; PETSc has it on one process alone.
TEST_P(DenseProducts, TakeTransposedMatrices) {
  if (size() > 1 || c.columns == 0) GTEST_SKIP() << "skipped: PETSc has no A B^T with dense matrices here";
  const Dense B(local(false), c.columns, c.gap, 98);
  Matrix transposed, C;
  PETSC_OK(MatTranspose(B.mat, MAT_INITIAL_MATRIX, transposed.out()));
  const auto before = info_of(A);

  PETSC_OK(MatMatTransposeMult(A, transposed, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  const auto of_petsc = std::string(c.options).find("petsc") != std::string::npos;
  EXPECT_EQ(info_of(A).products - before.products, of_petsc ? 0 : c.columns);
  EXPECT_TRUE(are_columns_of(C, A, B.mat));
  fill_columns(B.mat, 99);
  PETSC_OK(MatTranspose(B.mat, MAT_REUSE_MATRIX, transposed.in_place()));
  PETSC_OK(MatMatTransposeMult(A, transposed, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));
  EXPECT_TRUE(are_columns_of(C, A, B.mat));
  fill_columns(B.mat, 100);
  Matrix other;
  PETSC_OK(MatTranspose(B.mat, MAT_INITIAL_MATRIX, other.out()));
  PETSC_OK(MatMatTransposeMult(A, other, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));
  EXPECT_TRUE(are_columns_of(C, A, B.mat));
}

TEST_P(DenseProducts, GoToTheCallersMatrix) {
  const Dense B(local(false), c.columns, c.gap, 95), C(local(true), c.columns, c.gap + 1, 96);

  PETSC_OK(MatProductCreateWithMat(A, B.mat, nullptr, C.mat));
  PETSC_OK(MatProductSetType(C.mat, MATPRODUCT_AB));
  PETSC_OK(MatProductSetFromOptions(C.mat));
  PETSC_OK(MatProductSymbolic(C.mat));
  PETSC_OK(MatProductNumeric(C.mat));

  EXPECT_TRUE(are_columns_of(C.mat, A, B.mat));
  for (PetscInt n = 0; n < c.columns; ++n)
    for (PetscInt i = 0; i <= c.gap; ++i) {
      const PetscInt rows = local(true);
      EXPECT_TRUE(PetscIsNanScalar(C.array[static_cast<std::size_t>(n * (rows + c.gap + 1) + rows + i)]));
    }
}

TEST_P(DenseProducts, FollowANewPattern) {
  const Dense B(local(false), c.columns, c.gap, 97);
  Matrix C;
  PETSC_OK(MatMatMult(A, B.mat, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscInt first, columns;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  PETSC_OK(MatGetSize(A, nullptr, &columns));
  for (PetscInt k = 0; k < columns && local(true) > 0; ++k) PETSC_OK(MatSetValue(A, first, k, 2.5, INSERT_VALUES));
  assemble(A);

  PETSC_OK(MatMatMult(A, B.mat, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));

  EXPECT_TRUE(are_columns_of(C, A, B.mat));
}

#if PetscDefined(HAVE_CUDA)
struct DenseProductsOnDevice : DeviceTest, testing::WithParamInterface<DenseCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, DenseProductsOnDevice,
                         testing::Values(DenseCase{3, 1}, DenseCase{3, 15}, DenseCase{6, 9}, DenseCase{11, 5},
                                         DenseCase{2, 8, 0, "-mat_compound_layout ccoo"},
                                         DenseCase{3, 8, 0, "-mat_compound_layout sell:32"},
                                         DenseCase{3, 6, 0, "-mat_compound_backend host"}));

TEST_P(DenseProductsOnDevice, HaveTheBitsOfProductsWithVectorsAndStayThere) {
  const DenseCase& c = GetParam();
  const Shape shape = spread(c.block_size, 60, 50);
  Random random{98};
  const Matrix A = filled_matrix(tested_type(), c.options, {shape, random_blocks(random, shape, 0.3, false), 99});
  PETSC_OK(MatSetVecType(A, VECCUDA));
  for (const bool transposed : {false, true}) {
    if (transposed && size() > 1) break;  // these go by columns
    SCOPED_TRACE(transposed ? "A^T B" : "A B");
    const auto multiply = transposed ? MatTransposeMatMult : MatMatMult;
    const auto before = info_of(A);
    Matrix B, C;
    PetscInt rows, cols;
    PETSC_OK(MatGetLocalSize(A, &rows, &cols));
    PETSC_OK(MatCreate(PETSC_COMM_WORLD, B.out()));
    PETSC_OK(MatSetSizes(B, transposed ? rows : cols, PETSC_DECIDE, PETSC_DETERMINE, c.columns));
    PETSC_OK(MatSetType(B, MATDENSECUDA));
    if (c.columns % 2) PETSC_OK(MatDenseSetLDA(B, (transposed ? rows : cols) + 3));
    PETSC_OK(MatSetUp(B));
    fill_columns(B, 100);

    PETSC_OK(multiply(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

    EXPECT_EQ(info_of(A).products - before.products, c.columns);
    EXPECT_TRUE(are_columns_of(C, A, B, transposed));
    const PetscScalar* array;
    PetscMemType memory;
    PETSC_OK(MatDenseGetArrayReadAndMemType(C, &array, &memory));
    EXPECT_TRUE(PetscMemTypeDevice(memory));
    PETSC_OK(MatDenseRestoreArrayReadAndMemType(C, &array));
    PETSC_OK(MatScale(A, 3.0));
    fill_columns(B, 200);
    PETSC_OK(multiply(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));
    EXPECT_TRUE(are_columns_of(C, A, B, transposed));
  }
}
#endif

TEST(Galerkin, ReuseTakesTheNewMatrix) {
  const auto first = operand("tested", 87), second = operand("tested", 87), P = operand(MATAIJ, 88);
  const auto b = operand(MATAIJ, 87);
  Matrix found, wanted;
  const auto could = catch_error([&] { return MatPtAP(first, P, MAT_INITIAL_MATRIX, 2.0, found.out()); });
  if (could.code) {
    *found.in_place() = nullptr;
    EXPECT_FALSE(tested_is_compound()) << could.message;
    return;
  }
  PETSC_OK(MatScale(second, 5.0));
  PETSC_OK(MatScale(b, 5.0));

  PETSC_OK(MatPtAP(second, P, MAT_REUSE_MATRIX, 2.0, found.in_place()));

  PETSC_OK(MatPtAP(b, P, MAT_INITIAL_MATRIX, 2.0, wanted.out()));
  EXPECT_LE(difference(found, wanted), 1e-13);
}

}  // namespace
