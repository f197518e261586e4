// Plans with half=: products of both types beside those of PETSc's AIJ, on any number of processes, and what is
// refused.
#include <cmath>

#include "systems.hpp"

namespace {

using namespace petsc_test;

enum class Mirror { symmetric, hermitian };

/// A ring of `nodes` blocks, each coupled to its neighbours and to the node 7 after it.
constexpr PetscInt nodes = 30, bs = 3;

PetscScalar value(PetscInt i, PetscInt j, Mirror mirror) {
  const PetscInt first = std::min(i, j), second = std::max(i, j);
  if (i == j) return 20.0 + std::sin(double(i));
  const double re = std::sin(double(7 * first + 3 * second)), im = std::cos(double(first + 5 * second));
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(re, mirror == Mirror::hermitian && i > j ? -im : im);
#else
  (void)im, (void)mirror;
  return re;
#endif
}

void fill(Mat A, Mirror mirror) {
  PetscInt begin, end;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i)
    for (const PetscInt step : {PetscInt(0), PetscInt(1), PetscInt(7), nodes - 7, nodes - 1})
      for (PetscInt c = 0; c < bs; ++c) {
        const PetscInt j = (i / bs + step) % nodes * bs + c;
        PETSC_OK(MatSetValue(A, i, j, value(i, j, mirror), INSERT_VALUES));
      }
  assemble(A);
}

Matrix ring(const char* type, const char* plan, Mirror mirror) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, nodes * bs, nodes * bs));
  PETSC_OK(MatSetBlockSize(A, bs));
  PETSC_OK(MatSetType(A, type));
  PETSC_OK(MatSetOptionsPrefix(A, "half_"));
  PETSC_OK(PetscOptionsSetValue(nullptr, "-half_mat_compound_plan", plan));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(MatSetUp(A));
  fill(A, mirror);
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  return A;
}

struct HalfCase {
  const char* type;
  const char* plan;
  Mirror mirror;
};
void PrintTo(const HalfCase& c, std::ostream* out) { *out << c.type << " " << c.plan; }

const HalfCase cases[] = {
    {"baijcompound", "half=symmetric", Mirror::symmetric},
    {"aijcompound", "half=symmetric", Mirror::symmetric},
    {"baijcompound", "csr half=symmetric plain", Mirror::symmetric},
#if defined(PETSC_USE_COMPLEX)
    {"baijcompound", "half=hermitian", Mirror::hermitian},
    {"aijcompound", "half=hermitian", Mirror::hermitian},
#endif
};

struct Half : testing::TestWithParam<HalfCase> {
  void TearDown() override { (void)PetscOptionsClearValue(nullptr, "-half_mat_compound_plan"); }
};
INSTANTIATE_TEST_SUITE_P(All, Half, testing::ValuesIn(cases),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

void expect_same(Vec found, Vec wanted, const char* what) {
  PetscReal off, norm;
  PETSC_OK(VecNorm(wanted, NORM_2, &norm));
  PETSC_OK(VecAXPY(found, -1.0, wanted));
  PETSC_OK(VecNorm(found, NORM_2, &off));
  EXPECT_LE(off, 1e-13 * norm) << what;
}

TEST_P(Half, MultipliesAsPetscsDoes) {
  const HalfCase& c = GetParam();
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  for (const std::uint64_t seed : {1, 2}) {
    const auto x = right_vector(aij, seed), z = right_vector(aij, seed + 10);
    const auto found = right_vector(aij, 20), wanted = right_vector(aij, 21);
    PETSC_OK(MatMult(A, x, found));
    PETSC_OK(MatMult(aij, x, wanted));
    expect_same(found, wanted, "A x");
    PETSC_OK(MatMultAdd(A, x, z, found));
    PETSC_OK(MatMultAdd(aij, x, z, wanted));
    expect_same(found, wanted, "z + A x");
    PETSC_OK(MatMultTranspose(A, x, found));
    PETSC_OK(MatMultTranspose(aij, x, wanted));
    expect_same(found, wanted, "A^T x");
    PETSC_OK(MatMultHermitianTranspose(A, x, found));
    PETSC_OK(MatMultHermitianTranspose(aij, x, wanted));
    expect_same(found, wanted, "A^H x");
    for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));  // new values before the second round
  }
}

TEST_P(Half, SolvesAsPetscsDoes) {
  const HalfCase& c = GetParam();
  if (PetscDefined(USE_COMPLEX) && c.mirror == Mirror::symmetric) GTEST_SKIP() << "CG is for Hermitian matrices";
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  const auto b = right_vector(aij, 3), found = right_vector(aij, 4), wanted = right_vector(aij, 5);
  PetscInt iterations[2];
  for (const bool ours : {true, false}) {
    KSP ksp;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PETSC_OK(KSPSetOperators(ksp, ours ? Mat(A) : Mat(aij), ours ? Mat(A) : Mat(aij)));
    PETSC_OK(KSPSetType(ksp, ours ? "cgcompound" : KSPCG));
    PC pc;
    PETSC_OK(KSPGetPC(ksp, &pc));
    PETSC_OK(PCSetType(pc, PCJACOBI));
    PETSC_OK(KSPSetTolerances(ksp, 1e-12, 1e-50, 1e5, 200));
    PETSC_OK(KSPSolve(ksp, b, ours ? Vec(found) : Vec(wanted)));
    PETSC_OK(KSPGetIterationNumber(ksp, &iterations[ours]));
    PETSC_OK(KSPDestroy(&ksp));
  }
  EXPECT_NEAR(double(iterations[0]), double(iterations[1]), 1);
  PetscReal off, norm;
  PETSC_OK(VecNorm(wanted, NORM_2, &norm));
  PETSC_OK(VecAXPY(found, -1.0, wanted));
  PETSC_OK(VecNorm(found, NORM_2, &off));
  EXPECT_LE(off, 1e-10 * norm);
}

/// Values that lose their symmetry are found at the next product, on all processes; mended ones are taken again.
TEST_P(Half, FindsLostSymmetryAtTheNextProduct) {
  const HalfCase& c = GetParam();
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  const auto x = right_vector(aij, 6), found = right_vector(aij, 7), wanted = right_vector(aij, 8);
  PETSC_OK(MatMult(A, x, found));
  PetscInt begin, end;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  if (begin == 0) PETSC_OK(MatSetValue(A, 0, 1, 5.0, INSERT_VALUES));
  assemble(A);

  PETSC_OK(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const auto failure = MatMult(A, x, found);
  PETSC_OK(PetscPopErrorHandler());
  EXPECT_NE(failure, PETSC_SUCCESS);

  if (begin == 0) PETSC_OK(MatSetValue(A, 0, 1, value(0, 1, c.mirror), INSERT_VALUES));
  assemble(A);
  PETSC_OK(MatMult(A, x, found));
  PETSC_OK(MatMult(aij, x, wanted));
  expect_same(found, wanted, "A x of mended values");
}

}  // namespace
