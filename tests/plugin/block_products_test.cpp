// Products of two sparse matrices above AIJ whose scalars come in full blocks, beside PETSc's own of AIJ.
#include <algorithm>
#include <array>
#include <vector>

#include "compare.hpp"
#include "device_tests.hpp"
#include "info.hpp"
#include "log_events.hpp"

namespace {

using namespace petsc_test;

struct Blocks {
  int rows, cols;
};

/// Blocks of A, and the columns of blocks of B (or P).
struct Shapes {
  Blocks a;
  int width;
};

void PrintTo(const Shapes& s, std::ostream* out) { *out << s.a.rows << 'x' << s.a.cols << " by " << s.width; }

struct Drawn {
  PetscInt rows, cols;  ///< block rows and columns of this process
  Blocks block;
  int seed;
  bool full = true;  ///< else one scalar is missing
  int reach = 1;     ///< of columns: a new pattern for another
};

/// Some columns near, some anywhere, and a block row without any; in place of what A had.
void draw(Mat A, const Drawn& d) {
  PetscInt first, end, all;
  PETSC_OK(MatSeqAIJSetPreallocation(A, 6 * d.block.cols, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 6 * d.block.cols, nullptr, 6 * d.block.cols, nullptr));
  PETSC_OK(MatGetOwnershipRange(A, &first, &end));
  PETSC_OK(MatGetSize(A, nullptr, &all));
  all /= d.block.cols;
  for (PetscInt row = first / d.block.rows; all > 0 && row < end / d.block.rows; ++row) {
    if (row % 7 == 3) continue;
    for (const PetscInt col :
         {row * d.cols / std::max<PetscInt>(d.rows, 1) % all, (row + d.reach) % all, (row * 7 + 3) % all})
      for (int i = 0; i < d.block.rows; ++i)
        for (int j = 0; j < d.block.cols; ++j) {
          const PetscInt at_row = row * d.block.rows + i, at_col = col * d.block.cols + j;
          if (!d.full && row == first / d.block.rows && i + j == 0) continue;
          PETSC_OK(MatSetValue(A, at_row, at_col, value(d.seed, at_row, at_col), INSERT_VALUES));
        }
  }
  assemble(A);
}

Matrix drawn(const std::string& type, const Drawn& d) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, d.rows * d.block.rows, d.cols * d.block.cols, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSizes(A, d.block.rows, d.block.cols));
  PETSC_OK(MatSetType(A, type.c_str()));
  draw(A, d);
  return A;
}

PetscReal difference(Mat found, Mat wanted) {
  PetscReal norm, error;
  Matrix d;
  PETSC_OK(MatConvert(found, MATAIJ, MAT_INITIAL_MATRIX, d.out()));
  PETSC_OK(MatNorm(wanted, NORM_INFINITY, &norm));
  PETSC_OK(MatAXPY(d, -1.0, wanted, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatNorm(d, NORM_INFINITY, &error));
  return norm > 0 ? error / norm : error;
}

double entries(Mat A) {
  MatInfo info;
  PETSC_OK(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  return info.nz_used;
}

/// Whether the product of `call` goes in blocks; those of the parent's on several processes have such on one.
template <class Call>
bool goes_in_blocks(const Call& call) {
  const auto text = info_during("block_products", call);
  return text.find(size() > 1 ? "in blocks on the host, on all of" : "in blocks on the host") != std::string::npos;
}

void expect_same(Mat found, Mat wanted, int rows, int cols) {
  EXPECT_LE(difference(found, wanted), 1e-13);
  EXPECT_EQ(entries(found), entries(wanted));
  MatType type;
  PETSC_OK(MatGetType(found, &type));
  EXPECT_TRUE(std::string_view(type).ends_with("aijcompound")) << type;
  PetscInt row_block, column_block;
  PETSC_OK(MatGetBlockSizes(found, &row_block, &column_block));
  EXPECT_EQ(row_block, rows);
  EXPECT_EQ(column_block, cols);
  const auto x = right_vector(wanted, 5), y = left_vector(wanted, 6), z = left_vector(wanted, 6);
  PETSC_OK(MatMult(wanted, x, y));
  PETSC_OK(MatMult(found, x, z));
  PetscReal norm, error;
  PETSC_OK(VecNorm(y, NORM_INFINITY, &norm));
  PETSC_OK(VecAXPY(z, -1.0, y));
  PETSC_OK(VecNorm(z, NORM_INFINITY, &error));
  EXPECT_LE(error, 1e-13 * norm);
}

struct BlockProducts : testing::TestWithParam<Shapes> {};

TEST_P(BlockProducts, OfTwoAreThoseOfAij) {
  const auto [a, width] = GetParam();
  const Drawn of_A{12, 9, a, 1}, of_B{9, 5, {a.cols, width}, 2};
  const auto A = drawn(MATAIJCOMPOUND, of_A), B = drawn(MATAIJCOMPOUND, of_B);
  const auto plain_A = drawn(MATAIJ, of_A), plain_B = drawn(MATAIJ, of_B);
  Matrix C, wanted;

  EXPECT_TRUE(goes_in_blocks([&] { PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out())); }));

  PETSC_OK(MatMatMult(plain_A, plain_B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, a.rows, width);

  for (Mat m : {Mat(A), Mat(plain_A), Mat(B), Mat(plain_B)}) PETSC_OK(MatScale(m, 1.5));
  PETSC_OK(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));
  PETSC_OK(MatMatMult(plain_A, plain_B, MAT_REUSE_MATRIX, PETSC_DEFAULT, wanted.in_place()));
  expect_same(C, wanted, a.rows, width);
}

/// As smoothed prolongators are made: MatAYPX() by SUBSET_NONZERO_PATTERN.
TEST_P(BlockProducts, SumsOfSomeOfTheBlocksAreThoseOfAij) {
  const auto [a, width] = GetParam();
  const Drawn some{12, 9, {a.rows, width}, 21}, others{12, 9, {a.rows, width}, 22, true, 2};
  const auto sum_of = [&](const char* type) {
    auto X = drawn(type, some), Y = drawn(type, others);
    PETSC_OK(MatAXPY(Y, 1.0, X, DIFFERENT_NONZERO_PATTERN));
    return std::pair(std::move(X), std::move(Y));
  };
  const auto [X, Y] = sum_of(MATAIJCOMPOUND);
  const auto [plain_X, plain_Y] = sum_of(MATAIJ);
  const auto x = right_vector(Y, 23), y = left_vector(Y, 24);
  PETSC_OK(MatMult(Y, x, y));  // a copy, which must follow

  const auto text = info_during("block_sums", [&] { PETSC_OK(MatAYPX(Y, -0.7, X, SUBSET_NONZERO_PATTERN)); });
  const auto flops = flops_during([&] { PETSC_OK(MatAXPY(Y, 0.3, X, SUBSET_NONZERO_PATTERN)); });
  PETSC_OK(MatAYPX(plain_Y, -0.7, plain_X, SUBSET_NONZERO_PATTERN));
  PETSC_OK(MatAXPY(plain_Y, 0.3, plain_X, SUBSET_NONZERO_PATTERN));

  if (size() == 1) {
    EXPECT_NE(text.find("block by block"), std::string::npos) << text;
    EXPECT_EQ(flops, flops_of_operation * 2 * entries(X));
  }
  expect_same(Y, plain_Y, a.rows, width);
}

TEST_P(BlockProducts, OfGalerkinAreThoseOfAij) {
  const auto [a, width] = GetParam();
  if (a.rows != a.cols) GTEST_SKIP() << "blocks of A are square in P^T A P";
  const Drawn of_A{12, 12, a, 3}, of_P{12, 4, {a.cols, width}, 4};
  const auto A = drawn(MATAIJCOMPOUND, of_A), P = drawn(MATAIJCOMPOUND, of_P);
  const auto plain_A = drawn(MATAIJ, of_A), plain_P = drawn(MATAIJ, of_P);
  Matrix C, wanted;

  EXPECT_TRUE(goes_in_blocks([&] { PETSC_OK(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out())); }));

  PETSC_OK(MatPtAP(plain_A, plain_P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, width, width);

  for (Mat m : {Mat(A), Mat(plain_A), Mat(P), Mat(plain_P)}) PETSC_OK(MatScale(m, 1.5));
  PETSC_OK(MatPtAP(A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));
  PETSC_OK(MatPtAP(plain_A, plain_P, MAT_REUSE_MATRIX, PETSC_DEFAULT, wanted.in_place()));
  expect_same(C, wanted, width, width);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BlockProducts,
                         testing::Values(Shapes{{3, 3}, 6}, Shapes{{6, 6}, 6}, Shapes{{2, 2}, 3}, Shapes{{3, 3}, 3},
                                         Shapes{{5, 5}, 1}, Shapes{{9, 9}, 2}, Shapes{{2, 3}, 4}, Shapes{{1, 2}, 2}));

Drawn of_A() { return {12, 12, {3, 3}, 5}; }
Drawn of_P() { return {12, 4, {3, 6}, 6}; }

/// Of the scalars that this process's rows of A have with all rows of B.
PetscLogDouble multiplications(Mat A, Mat B) {
  PetscInt first, end, n, length;
  const PetscInt* column;
  PetscLogDouble count = 0;
  PETSC_OK(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    PETSC_OK(MatGetRow(A, row, &n, &column, nullptr));
    const std::vector<PetscInt> columns(column, column + n);
    PETSC_OK(MatRestoreRow(A, row, &n, &column, nullptr));
    for (const PetscInt k : columns) {
      PETSC_OK(MatGetRow(B, k, &length, nullptr, nullptr));
      count += static_cast<PetscLogDouble>(length);
      PETSC_OK(MatRestoreRow(B, k, &length, nullptr, nullptr));
    }
  }
  return count;
}

TEST(BlockProducts, AreAssembledBeforeTheyHaveValuesAndTellTheirFlops) {
  const auto A = drawn(MATAIJCOMPOUND, of_A()), P = drawn(MATAIJCOMPOUND, of_P());
  const auto plain_A = drawn(MATAIJ, of_A()), plain_P = drawn(MATAIJ, of_P());
  Matrix C, every_row;
  PetscBool is_assembled;

  PETSC_OK(MatProductCreate(A, P, nullptr, C.out()));
  PETSC_OK(MatProductSetType(C, MATPRODUCT_AB));
  PETSC_OK(MatProductSetFromOptions(C));
  PETSC_OK(MatProductSymbolic(C));
  PETSC_OK(MatAssembled(C, &is_assembled));
  const auto flops = flops_during([&] { PETSC_OK(MatProductNumeric(C)); });

  EXPECT_TRUE(is_assembled || size() > 1);
  PETSC_OK(MatCreateRedundantMatrix(plain_P, size(), PETSC_COMM_SELF, MAT_INITIAL_MATRIX, every_row.out()));
  EXPECT_EQ(flops, flops_of_operation * 2 * multiplications(plain_A, every_row));
}

TEST(BlockProducts, TakeAnotherMatrixOfTheSamePattern) {
  auto other = of_A();
  other.seed = 7;
  const auto A = drawn(MATAIJCOMPOUND, of_A()), A2 = drawn(MATAIJCOMPOUND, other), P = drawn(MATAIJCOMPOUND, of_P());
  Matrix C, wanted;
  PETSC_OK(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  PETSC_OK(MatPtAP(A2, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));

  PETSC_OK(MatPtAP(drawn(MATAIJ, other), drawn(MATAIJ, of_P()), MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, 6, 6);
}

/// Its new values have their own places, and what was added is gone.
TEST(BlockProducts, MayHaveGotMoreEntriesMeanwhile) {
  const Drawn of_A{12, 12, {2, 2}, 1}, of_more{12, 12, {2, 2}, 4, true, 5};
  const auto A = drawn(MATAIJCOMPOUND, of_A), more = drawn(MATAIJCOMPOUND, of_more), plain = drawn(MATAIJ, of_A);
  for (const bool galerkin : {false, true}) {
    const auto multiply = [&](Mat of, MatReuse reuse, Matrix& C) {
      Mat* const to = reuse == MAT_INITIAL_MATRIX ? C.out() : C.in_place();
      PETSC_OK(galerkin ? MatPtAP(of, of, reuse, PETSC_DEFAULT, to) : MatMatMult(of, of, reuse, PETSC_DEFAULT, to));
    };
    Matrix C, wanted;
    multiply(A, MAT_INITIAL_MATRIX, C);
    PETSC_OK(MatAXPY(C, 1.0, more, DIFFERENT_NONZERO_PATTERN));
    for (Mat m : {Mat(A), Mat(plain)}) PETSC_OK(MatScale(m, 1.5));
    multiply(plain, MAT_INITIAL_MATRIX, wanted);

    for (int time = 0; time < 2; ++time) {
      multiply(A, MAT_REUSE_MATRIX, C);
      expect_same(C, wanted, 2, 2);
    }
  }
}

TEST(BlockProducts, OfAnotherPatternAskForANewOne) {
  auto other = of_A();
  other.reach = 3;
  const Drawn of_B{12, 24, {3, 3}, 7};
  const auto A = drawn(MATAIJCOMPOUND, of_A()), A2 = drawn(MATAIJCOMPOUND, other), B = drawn(MATAIJCOMPOUND, of_B);
  Matrix C;
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  const auto reused = catch_error([&] { return MatMatMult(A2, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()); });

  EXPECT_EQ(reused.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(reused.message.find("call it with MAT_INITIAL_MATRIX again"), std::string::npos) << reused.message;
  const auto again = catch_error([&] { return MatMatMult(A2, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()); });
  EXPECT_EQ(again.code, PETSC_ERR_ARG_WRONGSTATE) << "the pattern of A2 was taken for that of the result";

  Matrix wanted;
  PETSC_OK(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()));

  PETSC_OK(MatMatMult(drawn(MATAIJ, of_A()), drawn(MATAIJ, of_B), MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, 3, 3);
}

/// The first factor is as it was.
TEST(BlockProducts, OfASecondFactorOfAnotherPatternAskForANewOne) {
  const Drawn of_B{12, 24, {3, 3}, 7};
  auto other = of_B;
  other.reach = 3;
  const auto A = drawn(MATAIJCOMPOUND, of_A()), B = drawn(MATAIJCOMPOUND, of_B), B2 = drawn(MATAIJCOMPOUND, other);
  Matrix C;
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  const auto reused = catch_error([&] { return MatMatMult(A, B2, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()); });

  EXPECT_EQ(reused.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(reused.message.find("call it with MAT_INITIAL_MATRIX again"), std::string::npos) << reused.message;
}

TEST(BlockProducts, ThatAreNotFullAreTheParents) {
  auto part = of_A();
  part.full = false;
  const auto A = drawn(MATAIJCOMPOUND, part), P = drawn(MATAIJCOMPOUND, of_P());
  Matrix C, wanted;

  EXPECT_FALSE(goes_in_blocks([&] { PETSC_OK(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out())); }));

  PETSC_OK(MatPtAP(drawn(MATAIJ, part), drawn(MATAIJ, of_P()), MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, 6, 6);
}

TEST(BlockProducts, GoByTheAlgorithmThatIsAskedFor) {
  const auto A = drawn(MATAIJCOMPOUND, of_A()), P = drawn(MATAIJCOMPOUND, of_P());
  Matrix C, wanted;
  PETSC_OK(PetscOptionsSetValue(nullptr, "-matptap_via", size() > 1 ? "allatonce" : "rap"));

  EXPECT_FALSE(goes_in_blocks([&] { PETSC_OK(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out())); }));

  PETSC_OK(PetscOptionsClearValue(nullptr, "-matptap_via"));
  PETSC_OK(MatPtAP(drawn(MATAIJ, of_A()), drawn(MATAIJ, of_P()), MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(C, wanted, 6, 6);
}

TEST(BlockProducts, OfMatricesWithoutRowsAreEmpty) {
  const Drawn of_none{0, 0, {3, 3}, 8}, to_none{0, 0, {3, 6}, 9};
  const auto A = drawn(MATAIJCOMPOUND, of_none), P = drawn(MATAIJCOMPOUND, to_none);
  Matrix C;
  PetscInt rows;

  PETSC_OK(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  PETSC_OK(MatGetSize(C, &rows, nullptr));
  EXPECT_EQ(rows, 0);
}

/// Large enough for a device, of one process: blocks of A, the columns of those of B, and block columns of B.
struct BlockProductsOnDevice : testing::TestWithParam<Shapes> {
  void SetUp() override {
    if (size() > 1) GTEST_SKIP() << "products of several processes' matrices run on the host";
    SKIP_WITHOUT_DEVICE();
    PETSC_OK(PetscLogDefaultBegin());
    PETSC_OK(PetscOptionsSetValue(nullptr, "-vec_type", "cuda"));
  }
  void TearDown() override { (void)PetscOptionsClearValue(nullptr, "-vec_type"); }

  static constexpr int rows = 4000;
  static Drawn of_A() { return {rows, rows, GetParam().a, 11}; }
  static Drawn of_B() { return {rows, 300, {GetParam().a.cols, GetParam().width}, 12}; }
  static std::vector<PetscScalar> values(Mat A) {
    const PetscScalar* from;
    PETSC_OK(MatSeqAIJGetArrayRead(A, &from));
    const std::vector<PetscScalar> copy(from, from + static_cast<std::size_t>(entries(A)));
    PETSC_OK(MatSeqAIJRestoreArrayRead(A, &from));
    return copy;
  }
  /// y of found x, made on the device, beside that of wanted x.
  static void expect_same_products(Mat found, Mat wanted) {
    Vector x, y, made, on_host, difference;
    PetscReal norm, error;
    PETSC_OK(MatCreateVecs(found, x.out(), y.out()));
    PETSC_OK(VecSet(x, 0.5));
    PETSC_OK(MatMult(found, x, y));
    PETSC_OK(MatCreateVecs(wanted, on_host.out(), difference.out()));
    PETSC_OK(VecSet(on_host, -0.5));
    PETSC_OK(MatMult(wanted, on_host, difference));
    PETSC_OK(VecNorm(difference, NORM_INFINITY, &norm));
    PETSC_OK(VecDuplicate(difference, made.out()));
    PETSC_OK(VecCopy(y, made));
    PETSC_OK(VecAXPY(difference, 1.0, made));
    PETSC_OK(VecNorm(difference, NORM_INFINITY, &error));
    EXPECT_LE(error, 1e-12 * norm);
  }
  template <class Multiply>
  static void check(const Multiply& multiply, int row_block) {
    const auto A = drawn(MATAIJCOMPOUND, of_A()), B = drawn(MATAIJCOMPOUND, of_B());
    const auto plain_A = drawn(MATAIJ, of_A()), plain_B = drawn(MATAIJ, of_B());
    Matrix C, again, wanted;

    const auto text = info_during("block_products", [&] { multiply(A, B, MAT_INITIAL_MATRIX, C.out()); });

    EXPECT_NE(text.find("in blocks on the device"), std::string::npos) << text;
    EXPECT_EQ(text.find("has no memory"), std::string::npos) << text;
    multiply(plain_A, plain_B, MAT_INITIAL_MATRIX, wanted.out());
    expect_same(C, wanted, row_block, GetParam().width);
    expect_same_products(C, wanted);
    multiply(A, B, MAT_INITIAL_MATRIX, again.out());
    EXPECT_EQ(values(C), values(again)) << "other bits than the time before";

    expect_same_products(A, plain_A);  // and so have copies on the device
    expect_same_products(B, plain_B);
    for (Mat m : {Mat(A), Mat(plain_A), Mat(B), Mat(plain_B)}) PETSC_OK(MatScale(m, 1.5));
    multiply(A, B, MAT_REUSE_MATRIX, C.in_place());
    multiply(plain_A, plain_B, MAT_REUSE_MATRIX, wanted.in_place());
    expect_same_products(C, wanted);

    for (Mat m : {Mat(A), Mat(plain_A), Mat(B), Mat(plain_B)}) {  // the host changes them
      const Vector of_rows = left_vector(m, 61);
      PETSC_OK(MatDiagonalScale(m, of_rows, nullptr));
    }
    multiply(A, B, MAT_REUSE_MATRIX, C.in_place());
    multiply(plain_A, plain_B, MAT_REUSE_MATRIX, wanted.in_place());
    expect_same_products(C, wanted);
    expect_same(C, wanted, row_block, GetParam().width);
    const auto packing = info_during("block_products", [&] {
      expect_same_products(A, plain_A);
      expect_same_products(B, plain_B);
    });
    EXPECT_EQ(packing.find("are copied to the device"), std::string::npos) << "values of the operands went there again";
    check_crossings(multiply, plain_A, B, plain_B, row_block);
  }

  /// A matrix with the entries of `from`, for values by coordinates in the order of its rows.
  static Matrix by_coordinates(Mat from) {
    Matrix A;
    PetscInt rows, cols;
    std::vector<PetscInt> row, column;
    PETSC_OK(MatGetSize(from, &rows, &cols));
    for (PetscInt r = 0; r < rows; ++r) {
      PetscInt n;
      const PetscInt* c;
      PETSC_OK(MatGetRow(from, r, &n, &c, nullptr));
      row.insert(row.end(), static_cast<std::size_t>(n), r);
      column.insert(column.end(), c, c + n);
      PETSC_OK(MatRestoreRow(from, r, &n, &c, nullptr));
    }
    PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
    PETSC_OK(MatSetSizes(A, rows, cols, rows, cols));
    PETSC_OK(MatSetBlockSizes(A, GetParam().a.rows, GetParam().a.cols));
    PETSC_OK(MatSetType(A, MATAIJCOMPOUND));
    PETSC_OK(MatSetFromOptions(A));
    PETSC_OK(MatSetPreallocationCOO(A, static_cast<PetscCount>(row.size()), row.data(), column.data()));
    return A;
  }
  static PetscLogDouble bytes_crossed() {
#if PetscDefined(HAVE_DEVICE)
    return petsc_ctog_sz + petsc_gtoc_sz;
#else
    return 0;
#endif
  }
  /// Values that are set on the device, products with them, and products with vectors: nothing crosses after the first.
  template <class Multiply>
  static void check_crossings(const Multiply& multiply, Mat plain_A, Mat B, Mat plain_B, int row_block) {
    const auto A = by_coordinates(plain_A);
    const auto v = values(plain_A);
    Matrix C, wanted;
    Vector on_device, x, y;
    PETSC_OK(VecCreate(PETSC_COMM_WORLD, on_device.out()));
    PETSC_OK(VecSetSizes(on_device, static_cast<PetscInt>(v.size()), PETSC_DETERMINE));
    PETSC_OK(VecSetType(on_device, VECCUDA));
    PetscScalar* to;
    PETSC_OK(VecGetArrayWrite(on_device, &to));
    std::ranges::copy(v, to);
    PETSC_OK(VecRestoreArrayWrite(on_device, &to));
    for (int round = 0; round < 4; ++round) {
      SCOPED_TRACE(round);
      PETSC_OK(VecScale(on_device, 1.5));  // they are on the device from here on
      PETSC_OK(MatScale(plain_A, 1.5));
      const auto before = bytes_crossed();
      const PetscScalar* there;
      PetscMemType memory;
      PETSC_OK(VecGetArrayReadAndMemType(on_device, &there, &memory));
      ASSERT_TRUE(PetscMemTypeDevice(memory));
      PETSC_OK(MatSetValuesCOO(A, there, INSERT_VALUES));
      PETSC_OK(VecRestoreArrayReadAndMemType(on_device, &there));
      multiply(A, B, round == 0 ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX, round == 0 ? C.out() : C.in_place());
      if (round == 0) PETSC_OK(MatCreateVecs(C, x.out(), y.out()));
      if (round == 0) PETSC_OK(VecSet(x, 0.5));
      PETSC_OK(MatMult(C, x, y));
      if (round > 0) {
        EXPECT_EQ(bytes_crossed(), before);
      }
      multiply(plain_A, plain_B, round == 0 ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX,
               round == 0 ? wanted.out() : wanted.in_place());
    }
    expect_same_products(C, wanted);
    expect_same(C, wanted, row_block, GetParam().width);
  }
};

TEST_P(BlockProductsOnDevice, OfTwoAreThoseOfAij) {
  check([](Mat A, Mat B, MatReuse reuse, Mat* C) { PETSC_OK(MatMatMult(A, B, reuse, PETSC_DEFAULT, C)); },
        GetParam().a.rows);
}

TEST_P(BlockProductsOnDevice, OfGalerkinAreThoseOfAij) {
  if (GetParam().a.rows != GetParam().a.cols) GTEST_SKIP() << "blocks of A are square in P^T A P";
  check([](Mat A, Mat P, MatReuse reuse, Mat* C) { PETSC_OK(MatPtAP(A, P, reuse, PETSC_DEFAULT, C)); },
        GetParam().width);
}

/// The pattern of A that the first product placed on the device must not be taken for the second one's.
TEST_P(BlockProductsOnDevice, FollowAnotherPatternOfAsManyEntries) {
  Drawn of = of_A();
  of.reach = 3;
  const auto A = drawn(MATAIJCOMPOUND, of), B = drawn(MATAIJCOMPOUND, of_B()), plain_B = drawn(MATAIJ, of_B());
  Matrix first, second, wanted;
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, first.out()));
  const PetscInt before = entries(A);
  of.reach = 5;
  draw(A, of);
  ASSERT_EQ(entries(A), before);

  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, second.out()));

  PETSC_OK(MatMatMult(drawn(MATAIJ, of), plain_B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  expect_same(second, wanted, of.block.rows, GetParam().width);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BlockProductsOnDevice,
                         testing::Values(Shapes{{3, 3}, 6}, Shapes{{6, 6}, 6}, Shapes{{2, 2}, 3}, Shapes{{3, 3}, 3},
                                         Shapes{{5, 5}, 2}, Shapes{{2, 3}, 4}));

}  // namespace
