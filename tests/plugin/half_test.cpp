// Plans with half=: products of both types beside those of PETSc's AIJ, on any number of processes, and what is
// refused.
#include "device.hpp"
#include "symmetric_ring.hpp"

namespace {

using namespace petsc_test;

constexpr PetscInt bs = 3;

Matrix ring(const char* type, const char* plan, Mirror mirror) {
  PETSC_OK(PetscOptionsSetValue(nullptr, "-half_mat_compound_plan", plan));
  auto A = empty_ring(type, bs, "half_");
  fill_ring(A, bs, mirror);
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

TEST_P(Half, MultipliesAsPetscsDoes) {
  const HalfCase& c = GetParam();
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  for (const char* values : {"values", "new values"}) {
    expect_same_products(A, aij, values);
    for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));
  }
}

TEST_P(Half, SolvesAsPetscsDoes) {
  const HalfCase& c = GetParam();
  if (PetscDefined(USE_COMPLEX) && c.mirror == Mirror::symmetric) GTEST_SKIP() << "CG is for Hermitian matrices";
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  const auto b = right_vector(aij, 3), found = right_vector(aij, 4), wanted = right_vector(aij, 5);
  PetscInt iterations[2];
  for (const bool ours : {true, false}) {
    const auto ksp = solver_for(ours ? A : aij, ours ? "cgcompound" : KSPCG, PCJACOBI);
    PETSC_OK(KSPSetTolerances(ksp, 1e-12, 1e-50, 1e5, 200));
    PETSC_OK(KSPSolve(ksp, b, ours ? Vec(found) : Vec(wanted)));
    PETSC_OK(KSPGetIterationNumber(ksp, &iterations[ours]));
  }
  EXPECT_NEAR(double(iterations[0]), double(iterations[1]), 1);
  expect_same(found, wanted, "the solution", 1e-10);
}

/// One scalar above the diagonal.
void set_one(Mat A, PetscScalar value) {
  PetscInt begin, end;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  if (begin == 0) PETSC_OK(MatSetValue(A, 0, 1, value, INSERT_VALUES));
  assemble(A);
}

void expect_no_product(Mat A, Vec x, Vec y) {
  PETSC_OK(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const auto failure = MatMult(A, x, y);
  PETSC_OK(PetscPopErrorHandler());
  EXPECT_NE(failure, PETSC_SUCCESS);
}

/// Values that lose their symmetry are found at the next product, on all processes; mended ones are taken again.
TEST_P(Half, FindsLostSymmetryAtTheNextProduct) {
  const HalfCase& c = GetParam();
  const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, c.plan, c.mirror);
  const auto x = right_vector(aij, 6), found = right_vector(aij, 7), wanted = right_vector(aij, 8);
  PETSC_OK(MatMult(A, x, found));
  set_one(A, 5.0);
  expect_no_product(A, x, found);

  set_one(A, ring_value(0, 1, c.mirror));
  PETSC_OK(MatMult(A, x, found));
  PETSC_OK(MatMult(aij, x, wanted));
  expect_same(found, wanted, "A x of mended values");
}

struct HalfOnDevice : DeviceTest {
  void TearDown() override { (void)PetscOptionsClearValue(nullptr, "-half_mat_compound_plan"); }
};

/// Products, new values, a loop of the device, and symmetry that is lost.
TEST_F(HalfOnDevice, IsWhatTheHostHas) {
  for (const HalfCase& c : cases) {
    if (std::string(c.plan).starts_with("csr")) continue;
    const auto A = ring(c.type, c.plan, c.mirror), aij = ring(MATAIJ, "", c.mirror);
    PETSC_OK(MatCompoundSetBackend(A, "cuda"));
    for (const int seed : {7, 8}) {
      EXPECT_TRUE(same_everywhere(A, aij, seed)) << c.type << " " << c.plan;
      for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));
    }
    const char* plan;
    PETSC_OK(MatCompoundGetPlan(A, &plan));
    EXPECT_NE(std::string(plan).find("columns=patch"), std::string::npos) << plan;
    set_one(A, 5.0);
    expect_no_product(A, on_side(right_vector(aij, 6), true), on_side(right_vector(aij, 7), true));
  }
}

TEST_F(HalfOnDevice, Solves) {
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "skipped: CG is for Hermitian matrices";
  const auto A = ring("baijcompound", "half=symmetric", Mirror::symmetric);
  const auto aij = ring(MATAIJ, "", Mirror::symmetric);
  const auto wanted = right_vector(aij, 3), b = right_vector(aij, 4);
  PETSC_OK(MatMult(aij, wanted, b));
  for (const char* type : {"cgcompound", "bcgscompound"}) {
    const auto b_there = on_side(b, true), x = on_side(b, true);
    const auto ksp = solver_for(A, type, PCJACOBI);
    PETSC_OK(KSPSetTolerances(ksp, 1e-12, 1e-50, 1e5, 300));
    PETSC_OK(KSPSolve(ksp, b_there, x));
    expect_same(on_side(x, false), wanted, type, 1e-10);
  }
}

}  // namespace
