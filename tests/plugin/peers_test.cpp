// Processes whose devices exchange ghosts and sums, themselves or by NCCL, beside an exchange by PETSc. On a machine
// with fewer devices than processes these share them: all is the same then, but slow. NCCL is a fake one, which goes
// through memory of the host, unless COMPOUND_NCCL names a real one.
#include <cstdlib>
#include <string>
#include <vector>

#include "device.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

constexpr const char* by_petsc = "-mat_compound_exchange petsc";

struct WayRow {
  const char *name, *option, *sums, *ghosts;
};
void PrintTo(const WayRow& row, std::ostream* to) { *to << row.name; }

struct Peers : DeviceTest, testing::WithParamInterface<WayRow> {
  void SetUp() override {
    setenv("COMPOUND_NCCL", COMPOUND_FAKE_NCCL, 0);
    DeviceTest::SetUp();
    if (!IsSkipped() && size() == 1) GTEST_SKIP() << "skipped: there is one process";
    by_peers = GetParam().option;
  }
  const char* by_peers = nullptr;
};

/// The same matrix twice, with vectors on devices.
struct Pair {
  Matrix peers, petsc;
  Pair(const char* by_peers, const Problem& problem)
      : peers(filled_matrix(tested_type(), by_peers, problem)), petsc(filled_matrix(tested_type(), by_petsc, problem)) {
    for (Mat A : {Mat(peers), Mat(petsc)}) PETSC_OK(MatSetVecType(A, VECCUDA));
  }
};

std::vector<PetscScalar> product(Mat A, std::uint64_t seed) {
  const auto x = on_side(right_vector(A, seed), true), y = on_side(left_vector(A, seed + 1), true);
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(MatMultAdd(A, x, y, y));
  return values_of(on_side(y, false));
}
/// What several processes add to one value may be in another order.
Vector transposed_product(Mat A, std::uint64_t seed) {
  const auto x = on_side(left_vector(A, seed), true), y = on_side(right_vector(A, seed + 1), true);
  PETSC_OK(MatMultTranspose(A, x, y));
  PETSC_OK(MatMultTransposeAdd(A, x, y, y));
  return on_side(y, false);
}
PetscReal distance(Vec a, Vec b) {
  PetscReal norm;
  PETSC_OK(VecAXPY(a, -1.0, b));
  PETSC_OK(VecNorm(a, NORM_INFINITY, &norm));
  return norm;
}

/// Block rows with no ghosts, processes with no rows, and matrices that are not square.
TEST_P(Peers, GiveProductsTheBitsOfAnExchangeByPetsc) {
  for (const int bs : {1, 3, 4})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      SCOPED_TRACE(std::to_string(bs) + " " + std::to_string(seed));
      Random random(seed);
      const Shape shape = seed == 1 ? spread(bs, 31, 31) : scatter(random, bs, 23, seed == 2 ? 23 : 29);
      const Pair A(by_peers, random_problem(seed, shape, seed == 3 ? 0.02 : 0.3));
      EXPECT_EQ(product(A.peers, 11), product(A.petsc, 11));
      EXPECT_EQ(product(A.peers, 12), product(A.petsc, 12)) << "the second time";
      for (const std::uint64_t other : {13, 14})
        EXPECT_LE(distance(transposed_product(A.peers, other), transposed_product(A.petsc, other)), 1e-13);
      EXPECT_EQ(values_of(transposed_product(A.peers, 15)), values_of(transposed_product(A.peers, 15)));
      EXPECT_EQ(product(A.peers, 16), product(A.petsc, 16)) << "after products with the transpose";
    }
}

/// A matrix that couples to earlier block rows alone: the first process waits for none and could run ahead.
std::vector<PetscScalar> products_in_a_row(Mat A) {
  constexpr int products = 40;
  auto x = on_side(right_vector(A, 21), true), y = on_side(right_vector(A, 22), true);
  const auto sum = on_side(right_vector(A, 23), true);
  for (int n = 0; n < products; ++n) {
    PETSC_OK(MatMult(A, x, y));
    PETSC_OK(VecAXPBY(x, 0.25, 0.5, y));
    PETSC_OK(VecAXPY(sum, 1.0 / (n + 1), y));
  }
  return values_of(on_side(sum, false));
}
TEST_P(Peers, KeepProductsInARowApart) {
  Problem problem = random_problem(31, spread(3, 40, 40), 0.2);
  std::erase_if(problem.blocks, [](const Block& b) { return b.col > b.row; });
  const Pair A(by_peers, problem);
  EXPECT_EQ(products_in_a_row(A.peers), products_in_a_row(A.petsc));
}

struct Solved {
  PetscInt iterations = 0;
  PetscReal norm = 0;
  std::string view;
};
Solver solver_of(Mat A, const char* type, const std::string& options) {
  Solver ksp;
  PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetType(ksp, type));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(PetscOptionsClear(nullptr));
  return ksp;
}
Solved solve(KSP ksp, std::uint64_t seed) {
  Mat A;
  Solved s;
  PETSC_OK(KSPGetOperators(ksp, &A, nullptr));
  const auto b = on_side(left_vector(A, seed), true), x = on_side(b, true);
  PETSC_OK(KSPSolve(ksp, b, x));
  PETSC_OK(KSPGetIterationNumber(ksp, &s.iterations));
  PETSC_OK(KSPGetResidualNorm(ksp, &s.norm));
  s.view = view_of("peers_test", ksp);
  return s;
}
void expect_same(const Solved& found, const Solved& wanted) {
  const WayRow& way = Peers::GetParam();
  EXPECT_NE(found.view.find(way.sums), std::string::npos) << found.view;
  EXPECT_NE(found.view.find(way.ghosts), std::string::npos) << found.view;
  EXPECT_NEAR(double(found.iterations), double(wanted.iterations), 1);
  if (found.iterations != wanted.iterations) return;
  EXPECT_NEAR(found.norm, wanted.norm, 1e-3 * wanted.norm);
}
void choose(Mat A, const char* exchange) {
  const char* prefix = nullptr;
  PETSC_OK(MatGetOptionsPrefix(A, &prefix));
  PETSC_OK(PetscOptionsInsertString(nullptr, ("-" + std::string(prefix ? prefix : "") + (exchange + 1)).c_str()));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(PetscOptionsClear(nullptr));
}
Matrix system_by(const char* exchange, int bs) {
  auto A = spd(tested_type(), bs);
  choose(A, exchange);
  PETSC_OK(MatSetVecType(A, VECCUDA));
  return A;
}

struct SolverRow {
  const char *ours, *petscs, *options;
};
TEST_P(Peers, SolveAsPetscDoes) {
  const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3);
  for (const SolverRow& row : {SolverRow{"cgcompound", KSPCG, "-pc_type none"},
                               {"cgcompound", KSPCG, "-pc_type jacobi -ksp_norm_type unpreconditioned"},
                               {"cgcompound", KSPCG, "-pc_type pbjacobi -ksp_norm_type natural"},
                               {"bcgscompound", KSPBCGS, "-pc_type jacobi"},
                               {"bcgscompound", KSPBCGS, "-pc_type pbjacobi"}}) {
    SCOPED_TRACE(std::string(row.ours) + " " + row.options);
    expect_same(solve(solver_of(A, row.ours, row.options), 41), solve(solver_of(B, row.petscs, row.options), 41));
  }
}

TEST_P(Peers, RemoveTheConstantOfAllProcesses) {
  const auto A = system_by(by_peers, 2), B = system_by(by_petsc, 2);
  for (Mat m : {Mat(A), Mat(B)}) {
    MatNullSpace space;
    PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &space));
    PETSC_OK(MatSetNullSpace(m, space));
    PETSC_OK(MatNullSpaceDestroy(&space));
  }
  const char* const options = "-pc_type jacobi -ksp_max_it 20";
  expect_same(solve(solver_of(A, "cgcompound", options), 42), solve(solver_of(B, KSPCG, options), 42));
}

/// Two matrices and two solvers on one communicator, whose values change.
TEST_P(Peers, TakeTurnsAndSeeNewValues) {
  const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3), C = system_by(by_peers, 4),
             D = system_by(by_petsc, 4);
  const char* const options = "-pc_type jacobi";
  const auto first = solver_of(A, "cgcompound", options), of_first = solver_of(B, KSPCG, options);
  const auto second = solver_of(C, "bcgscompound", options), of_second = solver_of(D, KSPBCGS, options);
  for (const PetscScalar shift : {0.0, 2.0, 5.0}) {
    for (Mat m : {Mat(A), Mat(B), Mat(C), Mat(D)}) PETSC_OK(MatShift(m, shift));
    expect_same(solve(first, 51), solve(of_first, 51));
    expect_same(solve(second, 52), solve(of_second, 52));
  }
}

/// Process 0 alone gets another ghost: the others exchange with it in another way, though nothing of theirs has
/// changed.
TEST_P(Peers, SeeNewGhostsOfAnother) {
  const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3);
  const auto ours = solver_of(A, "bcgscompound", "-pc_type jacobi"), petscs = solver_of(B, KSPBCGS, "-pc_type jacobi");
  expect_same(solve(ours, 75), solve(petscs, 75));
  PetscInt last;
  PETSC_OK(MatGetSize(A, &last, nullptr));
  for (Mat m : {Mat(A), Mat(B)}) {
    PETSC_OK(MatSetOption(m, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (rank() == 0) PETSC_OK(MatSetValue(m, 0, last - 4, 0.25, INSERT_VALUES));
    assemble(m);
  }
  expect_same(solve(ours, 76), solve(petscs, 76));
  expect_same(solve(ours, 77), solve(petscs, 77));
}

/// A matrix without ghosts takes no room that another one needs.
TEST_P(Peers, MakeRoomForNothing) {
  for (int n = 0; n < 2; ++n) {
    Problem problem = random_problem(71, spread(3, 20, 20));
    std::erase_if(problem.blocks, [](const Block& b) { return b.col != b.row; });
    const Pair without_ghosts(by_peers, problem);
    EXPECT_EQ(product(without_ghosts.peers, 72), product(without_ghosts.petsc, 72));
  }
  const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3);
  expect_same(solve(solver_of(A, "cgcompound", "-pc_type jacobi"), 73),
              solve(solver_of(B, KSPCG, "-pc_type jacobi"), 73));
}

/// What a communicator keeps is made once.
TEST_P(Peers, ComeAndGo) {
  for (int n = 0; n < 10; ++n) {
    const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3);
    expect_same(solve(solver_of(A, "cgcompound", "-pc_type jacobi"), 61),
                solve(solver_of(B, KSPCG, "-pc_type jacobi"), 61));
  }
}

/// One matrix and one solver that go another way each time.
TEST_P(Peers, AreChangedBetweenSolves) {
  const auto A = system_by(by_peers, 3), B = system_by(by_petsc, 3);
  const auto ours = solver_of(A, "cgcompound", "-pc_type jacobi"), petscs = solver_of(B, KSPCG, "-pc_type jacobi");
  expect_same(solve(ours, 81), solve(petscs, 81));
  choose(A, "-mat_compound_exchange peers");
  EXPECT_NE(solve(ours, 82).view.find("  compound exchange: by devices\n"), std::string::npos);
  choose(A, by_peers);
  expect_same(solve(ours, 83), solve(petscs, 83));
}

INSTANTIATE_TEST_SUITE_P(
    All, Peers,
    testing::Values(WayRow{"peers", "-mat_compound_exchange peers", "; devices exchange values and sums themselves\n",
                           "  compound exchange: by devices\n"},
                    WayRow{"nccl", "-mat_compound_exchange nccl", "; devices exchange values and sums by NCCL 2.",
                           "  compound exchange: by NCCL 2."}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
