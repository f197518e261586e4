// Warnings on stderr: options that have no effect, block sizes and preallocation that are missing. A program of its
// own: some come from PetscFinalize(), and PETSc begins anew in each test.
#include "systems.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace petsc_test;

/// What this process writes to stderr in a run of PETSc with these options, or a part of it.
struct Run {
  std::string before_finalize, at_finalize;
  std::string all() const { return before_finalize + at_finalize; }
};

template <class Body>
std::string stderr_of(const Body& body) {
  testing::internal::CaptureStderr();
  body();
  std::fflush(stderr);
  return testing::internal::GetCapturedStderr();
}

template <class Body>
Run run(const std::string& options, const Body& body) {
  Run r;
  PETSC_OK(PetscInitializeNoArguments());
  PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
  r.before_finalize = stderr_of(body);
  r.at_finalize = stderr_of([] { PETSC_OK(PetscFinalize()); });
  return r;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool is_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

/// Once on process 0, and on no other.
testing::AssertionResult says_once(const std::string& text, const std::string& line) {
  const int wanted = is_first() ? 1 : 0, found = count(text, line);
  if (found == wanted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << line << "' " << found << " times, not " << wanted << ", in: " << text;
}

/// Matrices of these tests have the prefix "plain_" (empty_matrix()).
void multiply(Mat A) { (void)product_of(A, all_products().front(), 5); }

const Problem& problem() {
  static const Problem p = random_problem(81, spread(3, 8, 8));
  return p;
}

void multiply_two_matrices() {
  multiply(filled_matrix(tested_type(), "", problem()));
  multiply(filled_matrix(tested_type(), "", problem()));
}

void solve_by(const char* type) {
  const auto A = spd(tested_type(), 3);
  Solver ksp;
  const auto x = right_vector(A, 1), b = left_vector(A, 2);
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetType(ksp, type));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(KSPSolve(ksp, b, x));
}

struct Warnings : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
};

TEST_F(Warnings, OfAMisspeltOptionNameTheNearestOneAtTheFirstProduct) {
  const auto r = run("-mat_compound_layuot sell", multiply_two_matrices);

  EXPECT_TRUE(says_once(r.before_finalize, "unknown option -mat_compound_layuot: did you mean -mat_compound_layout?"));
  EXPECT_EQ(r.at_finalize, "") << "it is said once in a program";
}

TEST_F(Warnings, OfAMisspeltOptionKeepItsPrefix) {
  const auto r = run("-fluid_mat_compound_tunes measure", multiply_two_matrices);

  EXPECT_TRUE(says_once(r.all(), "unknown option -fluid_mat_compound_tunes: did you mean -fluid_mat_compound_tune?"));
}

TEST_F(Warnings, OfAnOptionLikeNoneOfOursNameTheHelp) {
  const auto r = run("-mat_compound_zzzzzzzzzzzzzzzzzzzzzzzz 1", multiply_two_matrices);

  EXPECT_TRUE(says_once(r.all(), "unknown option -mat_compound_zzzzzzzzzzzzzzzzzzzzzzzz; -help lists"));
}

TEST_F(Warnings, OfAMisspeltSolverOptionNameTheNearestOne) {
  const auto r = run("-ksp_cgcompound_reduction 1", [] { solve_by(KSPCGCOMPOUND); });

  EXPECT_TRUE(says_once(r.all(), "unknown option -ksp_cgcompound_reduction: did you mean -ksp_cgcompound_reductions?"));
}

TEST_F(Warnings, AreNotOfMultigridsOptionsThatAMatrixReadsBefore) {
  const auto r = run("-pc_mg_compound_cycle false -pc_mg_compound_precision single", multiply_two_matrices);

  EXPECT_EQ(r.before_finalize, "");
}

TEST_F(Warnings, OfAWrongPrefixComeAtTheEndAndNameTheRightOne) {
  const auto r = run("-fluid_mat_compound_layout sell", multiply_two_matrices);

  EXPECT_EQ(r.before_finalize, "") << "a matrix may come that has this prefix";
  EXPECT_TRUE(says_once(r.at_finalize, "option -fluid_mat_compound_layout has no effect: "));
  EXPECT_TRUE(says_once(r.at_finalize, "with the prefix 'fluid_' has read it"));
  EXPECT_TRUE(says_once(r.at_finalize, "; did you mean -plain_mat_compound_layout?"));
}

TEST_F(Warnings, OfAProgramWithoutOurMatricesSaySo) {
  const auto r = run("-mat_compound_layout sell", [] { multiply(filled_matrix(parent_type(), "", problem())); });

  EXPECT_TRUE(says_once(r.at_finalize, "option -mat_compound_layout has no effect: no matrix of type baijcompound"));
  EXPECT_TRUE(says_once(r.at_finalize, "there was no such matrix"));
}

TEST_F(Warnings, OfSolverOptionsThatNoSolverHasReadComeAtTheEnd) {
  const auto r = run("-ksp_cgcompound_reductions 1", [] { solve_by(KSPCG); });

  EXPECT_EQ(r.before_finalize, "");
  EXPECT_TRUE(
      says_once(r.at_finalize, "option -ksp_cgcompound_reductions has no effect: no solver of type cgcompound"));
}

TEST_F(Warnings, OfAMisspeltWordCompoundComeAtTheEnd) {
  const auto r = run("-mat_compuond_layout sell -mat_composite_type additive", multiply_two_matrices);

  EXPECT_TRUE(says_once(r.at_finalize, "unknown option -mat_compuond_layout: did you mean -mat_compound_layout?"));
  EXPECT_EQ(count(r.all(), "petsc-compound: "), is_first() ? 1 : 0) << r.all();
}

TEST_F(Warnings, AreNoneWhereAllOptionsAreRead) {
  const auto r =
      run("-plain_mat_compound_layout sell -plain_mat_compound_view 0 -ksp_cgcompound_reductions 1 -ksp_compound_loop "
          "graphs "
          "-ksp_rtol 1e-3",
          [] { solve_by(KSPCGCOMPOUND); });

  EXPECT_EQ(count(r.all(), "petsc-compound: "), 0) << r.all();
}

TEST_F(Warnings, AreSwitchedOff) {
  const auto r =
      run("-mat_compound_warn false -mat_compound_layuot sell -fluid_mat_compound_layout sell", multiply_two_matrices);

  EXPECT_EQ(count(r.all(), "petsc-compound: "), 0) << r.all();
}

/// Blocks of 3, in a matrix whose block size is 1.
void multiply_without_block_size(const char* type) {
  const auto scalars = scalar_matrix(3, false, MATAIJ);
  for (int round = 0; round < 2; ++round) {
    Matrix A;
    PETSC_OK(MatConvert(scalars, type, MAT_INITIAL_MATRIX, A.out()));
    PETSC_OK(MatSetFromOptions(A));
    multiply(A);
  }
}

TEST_F(Warnings, ComeAgainInTheNextRunOfPetsc) {
  for (int round = 0; round < 2; ++round) {
    const auto r = run("-mat_compound_layuot sell", multiply_two_matrices);
    EXPECT_TRUE(says_once(r.all(), "unknown option -mat_compound_layuot: did you mean")) << round;
    const auto without = run("", [] { multiply_without_block_size(MATBAIJCOMPOUND); });
    EXPECT_TRUE(says_once(without.all(), "the matrix has block size 1")) << round;
  }
}

TEST_F(Warnings, OfAForgottenBlockSizeComeOnceAndNameTheOption) {
  const char* const line = "the matrix has block size 1, but its rows seem to come in blocks of 3";

  const auto told = run("", [] { multiply_without_block_size(MATBAIJCOMPOUND); });
  const auto off = run("-mat_compound_warn 0", [] { multiply_without_block_size(MATBAIJCOMPOUND); });
  const auto taken = run("-mat_compound_block_size 3", [] { multiply_without_block_size(MATBAIJCOMPOUND); });
  const auto of_scalars = run("", [] { multiply_without_block_size(MATAIJCOMPOUND); });

  EXPECT_TRUE(says_once(told.all(), line));
  EXPECT_TRUE(says_once(told.all(), "-mat_compound_block_size 3 packs them as such"));
  for (const auto* none : {&off, &taken, &of_scalars}) EXPECT_EQ(none->all(), "");
}

/// 40 rows a process, each filled by single values; `late`: the type comes after preallocation.
void assemble_rows(const char* type, bool late) {
  constexpr PetscInt n = 120;
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, late ? MATAIJ : type));
  PETSC_OK(MatSeqAIJSetPreallocation(A, n, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, n, nullptr, n, nullptr));
  if (late) {
    PETSC_OK(MatSetType(A, type));
#if PETSC_VERSION_GE(3, 19, 0)  // a hash table would take the values otherwise
    PETSC_OK(MatSeqAIJSetPreallocation(A, 5, nullptr));
    PETSC_OK(MatMPIAIJSetPreallocation(A, 5, nullptr, 5, nullptr));
#endif
    PETSC_OK(MatSetUp(A));
    PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    for (PetscInt col = first; col < last; ++col) PETSC_OK(MatSetValue(A, row, col, 1.0, INSERT_VALUES));
  assemble(A);
}

TEST_F(Warnings, OfATypeThatIsSetAfterPreallocationNameTheRemedy) {
  const char* const line = "set its type before that, not after (-mat_type or MatSetType()";

  const auto late = run("", [] {
    assemble_rows(MATAIJCOMPOUND, true);
    assemble_rows(MATAIJCOMPOUND, true);
  });
  const auto in_time = run("", [] { assemble_rows(MATAIJCOMPOUND, false); });
  const auto off = run("-mat_compound_warn 0", [] { assemble_rows(MATAIJCOMPOUND, true); });

  EXPECT_TRUE(says_once(late.all(), line));
  EXPECT_EQ(in_time.all(), "");
  EXPECT_EQ(off.all(), "");
}

}  // namespace

/// MPI outlives each run of PETSc.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  int any = failed;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
