// Parts of matrices and matrices as parts: submatrices, overlaps, permutations, MATIS, MATNEST.
#include "systems.hpp"

#include <algorithm>

namespace {

using namespace petsc_test;

Matrix made(const std::string& type) {
  Random random(91);
  const auto shape = spread(3, 14, 14);
  Matrix A;
  const auto plain = filled_matrix(MATBAIJ, "", {shape, random_blocks(random, shape, 0.25, true), 92});
  PETSC_OK(MatConvert(plain, type.c_str(), MAT_INITIAL_MATRIX, A.out()));
  return A;
}

/// Index sets over this process's own rows.
struct Selection {
  const char* name;
  std::vector<PetscInt> (*pick)(PetscInt first, PetscInt last);
  bool whole_blocks;
};
void PrintTo(const Selection& s, std::ostream* out) { *out << s.name; }

std::vector<PetscInt> range(PetscInt from, PetscInt to, PetscInt step = 1) {
  std::vector<PetscInt> v;
  for (PetscInt i = from; i < to; i += step) v.push_back(i);
  return v;
}

const Selection selections[] = {
    {"everything", [](PetscInt f, PetscInt l) { return range(f, l); }, true},
    {"first_blocks", [](PetscInt f, PetscInt l) { return range(f, f + (l - f) / 6 * 3); }, true},
    {"every_second_block",
     [](PetscInt f, PetscInt l) {
       std::vector<PetscInt> v;
       for (PetscInt i = f; i < l; i += 6)
         for (PetscInt k = 0; k < 3; ++k) v.push_back(i + k);
       return v;
     },
     true},
    {"nothing", [](PetscInt, PetscInt) { return std::vector<PetscInt>(); }, true},
    {"one_component", [](PetscInt f, PetscInt l) { return range(f + 1, l, 3); }, false},
    {"cut_at_the_end", [](PetscInt f, PetscInt l) { return range(f, l - 1); }, false},
    {"blocks_turned_around",
     [](PetscInt f, PetscInt l) {
       auto v = range(f, l);
       for (std::size_t i = 0; i < v.size(); i += 3) std::reverse(v.begin() + i, v.begin() + i + 3);
       return v;
     },
     false},
};

Indices indices(Mat A, const Selection& s) {
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  const auto v = s.pick(first, last);
  Indices is;
  PETSC_OK(ISCreateGeneral(PETSC_COMM_WORLD, static_cast<PetscInt>(v.size()), v.data(), PETSC_COPY_VALUES, is.out()));
  return is;
}

/// y = A(rows, cols) x without making the submatrix: MatCreateSubMatrix() of mpiaij wants its columns sorted.
Vector product_by_scatters(Mat A, IS rows, IS cols, Vec x) {
  const auto wide = right_vector(A, 1), tall = left_vector(A, 1);
  Vector y;
  Vec part;
  VecScatter scatter;
  PetscInt n;
  PETSC_OK(VecZeroEntries(wide));
  PETSC_OK(VecScatterCreate(x, nullptr, wide, cols, &scatter));
  PETSC_OK(VecScatterBegin(scatter, x, wide, INSERT_VALUES, SCATTER_FORWARD));
  PETSC_OK(VecScatterEnd(scatter, x, wide, INSERT_VALUES, SCATTER_FORWARD));
  PETSC_OK(VecScatterDestroy(&scatter));
  PETSC_OK(MatMult(A, wide, tall));
  PETSC_OK(ISGetLocalSize(rows, &n));
  PETSC_OK(VecGetSubVector(tall, rows, &part));
  PETSC_OK(VecDuplicate(part, y.out()));
  PETSC_OK(VecCopy(part, y));
  PETSC_OK(VecRestoreSubVector(tall, rows, &part));
  return y;
}

testing::AssertionResult multiplies_as_part(Mat part, Mat A, IS rows, IS cols) {
  const auto x = right_vector(part, 93), y = left_vector(part, 93);
  PETSC_OK(MatMult(part, x, y));
  const auto wanted = product_by_scatters(A, rows, cols, x);
  PetscReal norm, error;
  PETSC_OK(VecNorm(wanted, NORM_INFINITY, &norm));
  PETSC_OK(VecAXPY(y, -1.0, wanted));
  PETSC_OK(VecNorm(y, NORM_INFINITY, &error));
  if (error <= 1e-13 * norm) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "error " << error << " beside " << norm;
}

/// What PETSc's aij cannot, ours refuses by name; above aij it is aij that does, in its own ways.
bool is_refused(const Selection& r, const Selection& c) {
  const bool whole = r.whole_blocks && c.whole_blocks;
  return size() > 1 && (!whole || tested_is_of_scalars()) && std::string(c.name) == "blocks_turned_around";
}

struct Submatrices : testing::TestWithParam<std::tuple<Selection, Selection>> {};

TEST_P(Submatrices, MultiplyAsPartsOfAij) {
  const auto& [r, c] = GetParam();
  const bool whole = r.whole_blocks && c.whole_blocks;
  if (!tested_is_compound() && !whole) GTEST_SKIP() << "baij cannot";
  const auto aij = made(MATAIJ), tested = made(tested_type());
  const auto rows = indices(aij, r), cols = indices(aij, c);
  Matrix part;

  const auto could =
      catch_error([&] { return MatCreateSubMatrix(tested, rows, cols, MAT_INITIAL_MATRIX, part.out()); });

  if (is_refused(r, c)) {
    if (tested_is_of_scalars()) GTEST_SKIP() << "aij cannot";
    EXPECT_EQ(could.code, PETSC_ERR_SUP);
    EXPECT_NE(could.message.find("ISSort"), std::string::npos) << could.message;
    return;
  }
  ASSERT_EQ(could.code, 0) << could.message;
  EXPECT_TRUE(multiplies_as_part(part, aij, rows, cols));
  if (whole) {
    EXPECT_TRUE(is_tested_type(part) || !tested_is_compound());
    EXPECT_TRUE(counts_as_ours(part));
  }
}

TEST_P(Submatrices, AreFilledAnewByReuse) {
  const auto& [r, c] = GetParam();
  if (!tested_is_compound() || is_refused(r, c)) GTEST_SKIP() << "mpibaij cannot";
  const auto aij = made(MATAIJ), tested = made(tested_type());
  const auto rows = indices(aij, r), cols = indices(aij, c);
  Matrix part;
  PETSC_OK(MatCreateSubMatrix(tested, rows, cols, MAT_INITIAL_MATRIX, part.out()));
  (void)product_of(part, all_products().front(), 94);
  PETSC_OK(MatScale(aij, 4.0));
  // The whole matrix as its own submatrix is the matrix itself.
  if (static_cast<Mat>(part) != static_cast<Mat>(tested)) PETSC_OK(MatScale(tested, 4.0));

  PETSC_OK(MatCreateSubMatrix(tested, rows, cols, MAT_REUSE_MATRIX, part.in_place()));

  EXPECT_TRUE(multiplies_as_part(part, aij, rows, cols));
}

INSTANTIATE_TEST_SUITE_P(All, Submatrices,
                         testing::Combine(testing::ValuesIn(selections), testing::ValuesIn(selections)),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param).name) + "_by_" +
                                  std::get<1>(param_info.param).name;
                         });

/// The same number of blocks in other columns: values alone would land in the old ones.
TEST(Submatrix, FilledAnewFromOtherColumnsHasThem) {
  if (!tested_is_compound() && size() > 1) GTEST_SKIP() << "mpibaij cannot";
  if (tested_is_of_scalars() && size() > 1) GTEST_SKIP() << "mpiaij takes the columns of the first time";
  // Block row i holds blocks in columns i and i + 1 of a ring.
  const auto shape = spread(3, 12, 12);
  Problem ring{shape, {}, 5};
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 2; ++k) ring.blocks.push_back({i, (i + k) % 12});
  std::sort(ring.blocks.begin(), ring.blocks.end(),
            [](const Block& a, const Block& b) { return a.row != b.row ? a.row < b.row : a.col < b.col; });
  const auto aij = filled_matrix(MATAIJ, "", ring), tested = filled_matrix(tested_type(), "", ring);
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(aij, &first, &last));
  Indices rows, some, others;
  const PetscInt n = (last - first) / 6 * 3;
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, n, first, 1, rows.out()));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, n, first, 1, some.out()));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, n, last - n, 1, others.out()));
  Matrix part;
  PETSC_OK(MatCreateSubMatrix(tested, rows, some, MAT_INITIAL_MATRIX, part.out()));
  EXPECT_TRUE(multiplies_as_part(part, aij, rows, some));
  const Mat object = part;

  PETSC_OK(MatCreateSubMatrix(tested, rows, others, MAT_REUSE_MATRIX, part.in_place()));

  EXPECT_EQ(static_cast<Mat>(part), object);
  EXPECT_TRUE(multiplies_as_part(part, aij, rows, others));
  EXPECT_TRUE(!tested_is_compound() || is_tested_type(part));
}

/// A part that other code holds, PCBJACOBI for example, multiplies with the values that an operation gave the whole.
struct HeldPart {
  const char* name;
  void (*change)(Mat A);
};
void PrintTo(const HeldPart& h, std::ostream* out) { *out << h.name; }

void zero_some_rows(Mat A, PetscErrorCode (*zero)(Mat, PetscInt, const PetscInt*, PetscScalar, Vec, Vec)) {
  PetscInt first;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  const PetscInt row = first + 1;
  PETSC_OK(zero(A, 1, &row, 3.0, nullptr, nullptr));
}

const HeldPart held_parts[] = {
    {"scaled", [](Mat A) { PETSC_OK(MatScale(A, 2.0)); }},
    {"axpy",
     [](Mat A) {
       Matrix B;
       PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
       PETSC_OK(MatAXPY(A, 2.0, B, SAME_NONZERO_PATTERN));
     }},
    {"diagonally_scaled", [](Mat A) { PETSC_OK(MatDiagonalScale(A, left_vector(A, 105), nullptr)); }},
    {"rows_zeroed", [](Mat A) { zero_some_rows(A, MatZeroRows); }},
    {"rows_and_columns_zeroed", [](Mat A) { zero_some_rows(A, MatZeroRowsColumns); }},
    {"conjugated", [](Mat A) { PETSC_OK(MatConjugate(A)); }},
};

struct HeldParts : testing::TestWithParam<HeldPart> {};

TEST_P(HeldParts, MultiplyWithChangedValues) {
  const auto plain = made(MATBAIJ);
  Matrix A;
  PETSC_OK(
      MatConvert(plain, (tested_type() + (tested_is_compound() ? "sell" : "")).c_str(), MAT_INITIAL_MATRIX, A.out()));
  Mat part, wanted;
  PETSC_OK(MatGetDiagonalBlock(plain, &wanted));
  PETSC_OK(MatGetDiagonalBlock(A, &part));
  const auto x = right_vector(part, 106), y = left_vector(part, 106), z = left_vector(part, 106);
  PETSC_OK(MatMult(part, x, y));

  GetParam().change(A);
  GetParam().change(plain);

  PETSC_OK(MatMult(part, x, y));
  PETSC_OK(MatMult(wanted, x, z));
  PetscReal size, error;
  PETSC_OK(VecNorm(z, NORM_INFINITY, &size));
  PETSC_OK(VecAXPY(y, -1.0, z));
  PETSC_OK(VecNorm(y, NORM_INFINITY, &error));
  EXPECT_TRUE(all_ranks(error <= 1e-13 * (1 + size)));
}

INSTANTIATE_TEST_SUITE_P(All, HeldParts, testing::ValuesIn(held_parts),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(SeqParts, OfAMatrixOnSeveralProcessesAreGiven) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto A = made(MATMPIBAIJCOMPOUND), plain = made(MATMPIBAIJ);
  Mat parts[2], wanted[2];
  const PetscInt *columns, *wanted_columns;
  PETSC_OK(MatMPIBAIJGetSeqBAIJ(plain, &wanted[0], &wanted[1], &wanted_columns));

  PETSC_OK(MatCompoundGetSeqBAIJ(A, &parts[0], &parts[1], &columns));

  PetscInt n, bs;
  PETSC_OK(MatGetLocalSize(wanted[1], nullptr, &n));
  PETSC_OK(MatGetBlockSize(plain, &bs));
  EXPECT_TRUE(all_ranks(std::equal(wanted_columns, wanted_columns + n / bs, columns)));
  for (int k = 0; k < 2; ++k) {
    MatType type;
    PetscBool equal;
    PETSC_OK(MatGetType(parts[k], &type));
    EXPECT_STREQ(type, MATSEQBAIJCOMPOUND);
    PETSC_OK(MatMultEqual(parts[k], wanted[k], 3, &equal));
    EXPECT_TRUE(all_ranks(equal == PETSC_TRUE));
  }
}

TEST(SeqParts, OfOtherMatricesAreRefused) {
  const auto A = made(MATAIJ);
  Mat part;

  const auto found = catch_error([&] { return MatCompoundGetSeqBAIJ(A, &part, nullptr, nullptr); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(found.message.find("is for mpibaijcompound"), std::string::npos) << found.message;
}

TEST(Overlap, AndItsSubmatricesAreThoseOfBaij) {
  const auto A = made(MATBAIJ), tested = made(tested_type());
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  IS plain, ours;
  PETSC_OK(ISCreateStride(PETSC_COMM_SELF, (last - first) / 6 * 3, first, 1, &plain));
  PETSC_OK(ISDuplicate(plain, &ours));
  PETSC_OK(ISSetBlockSize(plain, 3));
  PETSC_OK(ISSetBlockSize(ours, 3));

  PETSC_OK(MatIncreaseOverlap(A, 1, &plain, 1));
  PETSC_OK(MatIncreaseOverlap(tested, 1, &ours, 1));
  PETSC_OK(ISSort(plain));
  PETSC_OK(ISSort(ours));
  PetscBool equal;
  PETSC_OK(ISEqual(plain, ours, &equal));
  Mat *a, *b;
  PETSC_OK(MatCreateSubMatrices(A, 1, &plain, &plain, MAT_INITIAL_MATRIX, &a));
  PETSC_OK(MatCreateSubMatrices(tested, 1, &ours, &ours, MAT_INITIAL_MATRIX, &b));
  PETSC_OK(MatScale(A, 2.0));
  PETSC_OK(MatScale(tested, 2.0));
  PETSC_OK(MatCreateSubMatrices(A, 1, &plain, &plain, MAT_REUSE_MATRIX, &a));
  PETSC_OK(MatCreateSubMatrices(tested, 1, &ours, &ours, MAT_REUSE_MATRIX, &b));

  EXPECT_TRUE(all_ranks(equal == PETSC_TRUE));
  EXPECT_TRUE(same_mult(b[0], a[0], 96));

  PETSC_OK(MatDestroySubMatrices(1, &a));
  PETSC_OK(MatDestroySubMatrices(1, &b));
  PETSC_OK(ISDestroy(&plain));
  PETSC_OK(ISDestroy(&ours));
}

TEST(Submatrices, OfAllRowsFollowWhereTheyAreMadeAgain) {
  const auto aij = made(MATAIJ), tested = made(tested_type());
  ASSERT_TRUE(same_mult(tested, aij, 96));
  PetscInt rows;
  PETSC_OK(MatGetSize(aij, &rows, nullptr));
  IS set;
  PETSC_OK(ISCreateBlock(PETSC_COMM_SELF, 3, rows / 3, range(0, rows / 3).data(), PETSC_COPY_VALUES, &set));
  Mat *a, *b;
  PETSC_OK(MatCreateSubMatrices(aij, 1, &set, &set, MAT_INITIAL_MATRIX, &a));
  PETSC_OK(MatCreateSubMatrices(tested, 1, &set, &set, MAT_INITIAL_MATRIX, &b));
  // The base type's own array needs no new packing.
  if (type_of(b[0]).find("compound") != std::string::npos) PETSC_OK(MatCompoundSetPlan(b[0], "sell:8"));
  EXPECT_TRUE(same_products(b[0], a[0], 97));
  for (Mat A : {Mat(aij), Mat(tested)}) PETSC_OK(MatScale(A, 2.0));

  PETSC_OK(MatCreateSubMatrices(aij, 1, &set, &set, MAT_REUSE_MATRIX, &a));
  PETSC_OK(MatCreateSubMatrices(tested, 1, &set, &set, MAT_REUSE_MATRIX, &b));

  EXPECT_TRUE(same_products(b[0], a[0], 98));
  PETSC_OK(MatDestroySubMatrices(1, &a));
  PETSC_OK(MatDestroySubMatrices(1, &b));
  PETSC_OK(ISDestroy(&set));
}

TEST(Permuted, RowsAndColumnsAreThoseOfAij) {
  const auto aij = made(MATAIJ), tested = made(tested_type());
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(aij, &first, &last));
  for (const bool blocks : {true, false}) {
    if (!blocks && !tested_is_compound()) continue;
    auto v = range(first, last);
    std::reverse(v.begin(), v.end());
    if (blocks)
      for (std::size_t i = 0; i < v.size(); i += 3) std::reverse(v.begin() + i, v.begin() + i + 3);
    Indices is;
    Matrix a, b;
    PETSC_OK(ISCreateGeneral(PETSC_COMM_WORLD, last - first, v.data(), PETSC_COPY_VALUES, is.out()));
    PETSC_OK(ISSetPermutation(is));

    PETSC_OK(MatPermute(aij, is, is, a.out()));
    PETSC_OK(MatPermute(tested, is, is, b.out()));

    EXPECT_TRUE(same_mult(b, a, 97)) << (blocks ? "blocks" : "scalars");
  }
}

/// Overlapping halves: process r holds nodes r*k ... (r+1)*k.
Matrix unassembled(const std::string& local_type) {
  const PetscInt k = 5, bs = 3, nodes = k * size() + 1;
  std::vector<PetscInt> local;
  for (PetscInt i = 0; i <= k; ++i) local.push_back(rank() * k + i);
  ISLocalToGlobalMapping map;
  Matrix A;
  PETSC_OK(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, bs, k + 1, local.data(), PETSC_COPY_VALUES, &map));
  PETSC_OK(MatCreateIS(PETSC_COMM_WORLD, bs, PETSC_DECIDE, PETSC_DECIDE, nodes * bs, nodes * bs, map, map, A.out()));
  PETSC_OK(ISLocalToGlobalMappingDestroy(&map));
  PETSC_OK(MatISSetLocalMatType(A, local_type.c_str()));
  PETSC_OK(MatISSetPreallocation(A, 3 * bs, nullptr, 3 * bs, nullptr));
  for (PetscInt i = 0; i < k; ++i) {
    const PetscInt two[] = {i, i + 1};
    std::vector<PetscScalar> words(static_cast<std::size_t>(4 * bs * bs));
    for (std::size_t w = 0; w < words.size(); ++w) words[w] = value(98, rank() * k + i, static_cast<PetscInt>(w));
    for (PetscInt d = 0; d < 2 * bs; ++d) words[static_cast<std::size_t>(d * 2 * bs + d)] += 8;
    PETSC_OK(MatSetValuesBlockedLocal(A, 2, two, 2, two, words.data(), ADD_VALUES));
  }
  assemble(A);
  return A;
}

TEST(MatIs, HoldsOurMatrixInside) {
  const auto aij = unassembled(MATAIJ), tested = unassembled(tested_type());
  Mat inside;
  PETSC_OK(MatISGetLocalMat(tested, &inside));

  const auto x = right_vector(aij, 99), y = left_vector(aij, 99), z = left_vector(aij, 99);
  PETSC_OK(MatMult(aij, x, y));
  PETSC_OK(MatMult(tested, x, z));

  EXPECT_TRUE(is_tested_type(inside));
  EXPECT_TRUE(!tested_is_compound() || all_ranks(info_of(inside).products > 0));
  PetscReal norm, error;
  PETSC_OK(VecNorm(y, NORM_INFINITY, &norm));
  PETSC_OK(VecAXPY(z, -1.0, y));
  PETSC_OK(VecNorm(z, NORM_INFINITY, &error));
  EXPECT_LE(error, 1e-14 * norm);
  PETSC_OK(MatISRestoreLocalMat(tested, &inside));
}

TEST(MatIs, BddcTakesAsManyIterationsAsOnBaij) {
  if (size() == 1) GTEST_SKIP() << "for several processes";
  const auto plain = unassembled(MATBAIJ), tested = unassembled(tested_type());
  const auto options = "-solver_ksp_type gmres -solver_pc_type bddc";
  Solved wanted, found;
  const auto baij = catch_error([&] { return try_to_solve(plain, plain, options, &wanted); });

  const auto ours = catch_error([&] { return try_to_solve(tested, tested, options, &found); });

  EXPECT_EQ(ours.code, baij.code) << ours.message;
  EXPECT_LE(std::abs(found.iterations - wanted.iterations), 1);
  EXPECT_LE(found.residual, 1e-8);
}

TEST(MatIs, ConvertsAgainIntoTheSameMatrix) {
  const auto is = unassembled(MATAIJ);
  Matrix tested, plain;
  PETSC_OK(MatConvert(is, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  (void)product_of(tested, all_products().front(), 107);
  PETSC_OK(MatScale(is, 3.0));

  PETSC_OK(MatConvert(is, tested_type().c_str(), MAT_REUSE_MATRIX, tested.in_place()));

  PETSC_OK(MatConvert(is, MATAIJ, MAT_INITIAL_MATRIX, plain.out()));
  EXPECT_TRUE(is_tested_type(tested));
  EXPECT_TRUE(same_mult(tested, plain, 108));
}

TEST(MatIs, ConvertsToOursAndBack) {
  const auto aij = unassembled(MATAIJ);
  Matrix tested, back, plain;
  PETSC_OK(MatConvert(aij, MATAIJ, MAT_INITIAL_MATRIX, plain.out()));

  PETSC_OK(MatConvert(aij, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  PETSC_OK(MatConvert(tested, MATIS, MAT_INITIAL_MATRIX, back.out()));

  EXPECT_TRUE(is_tested_type(tested));
  EXPECT_TRUE(same_mult(tested, plain, 100));
  EXPECT_LE(relative_difference(back, plain, 101), 1e-13);
}

/// [A A; 0 A] of one type.
Matrix nest(Mat A) {
  Mat parts[] = {A, A, nullptr, A};
  Matrix N;
  PETSC_OK(MatCreateNest(PETSC_COMM_WORLD, 2, nullptr, 2, nullptr, parts, N.out()));
  return N;
}

TEST(Nest, OfOurMatricesMultipliesAndSolvesAsOfAij) {
  const auto plain = spd(MATAIJ, 3), tested = spd(tested_type(), 3);
  const auto N = nest(plain), M = nest(tested);
  const auto x = right_vector(N, 102), y = left_vector(N, 102), z = left_vector(N, 102);
  PETSC_OK(MatMult(N, x, y));
  PETSC_OK(MatMult(M, x, z));
  PETSC_OK(VecAXPY(z, -1.0, y));
  PetscReal norm, error;
  PETSC_OK(VecNorm(y, NORM_2, &norm));
  PETSC_OK(VecNorm(z, NORM_2, &error));
  EXPECT_LE(error, 1e-14 * norm);

  for (const char* type : {"multiplicative", "schur"}) {
    const auto solved = [&](Mat operators) {
      Solver ksp;
      PC pc;
      IS fields[2];
      PetscInt iterations;
      const auto b = left_vector(operators, 103), u = right_vector(operators, 104);
      PETSC_OK(PetscOptionsInsertString(nullptr,
                                        (std::string("-solver_pc_type fieldsplit -solver_pc_fieldsplit_type ") + type +
                                         " -solver_fieldsplit_0_pc_type bjacobi -solver_fieldsplit_1_pc_type jacobi")
                                            .c_str()));
      PETSC_OK(MatNestGetISs(operators, fields, nullptr));
      PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
      PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
      PETSC_OK(KSPSetOperators(ksp, operators, operators));
      PETSC_OK(KSPGetPC(ksp, &pc));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(PCFieldSplitSetIS(pc, "0", fields[0]));
      PETSC_OK(PCFieldSplitSetIS(pc, "1", fields[1]));
      PETSC_OK(KSPSolve(ksp, b, u));
      PETSC_OK(PetscOptionsClear(nullptr));
      PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
      return iterations;
    };

    EXPECT_LE(std::abs(solved(M) - solved(N)), 2) << type;
  }
  EXPECT_TRUE(counts_as_ours(tested));
}

}  // namespace
