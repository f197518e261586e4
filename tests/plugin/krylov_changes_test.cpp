// One solver of several solves: what changes between them is followed, and nothing is left behind.
#include <cstring>
#include <iostream>
#include <vector>

#include "krylov_cases.hpp"
#include "systems.hpp"

namespace krylov_test {

namespace {

/// One KSP of ours from solve to solve, and a new one of PETSc's beside each solve.
class ManySolves {
 public:
  ManySolves(const Method& method, bool device)
      : method_(method), device_(device), system(case_, device), ksp(solver(case_, system, method.ours)) {}

 private:
  Case case_{"", "-solver_pc_type pbjacobi"};
  Method method_;
  bool device_;

 public:
  System system;
  Solver ksp;

  /// Of both, from now on.
  void set(const char* options) {
    case_.options = options;
    PETSC_OK(PetscOptionsInsertString(nullptr, options));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(PetscOptionsClear(nullptr));
  }
  /// How the view says that it was solved on a device, by one process and by several, unless devices exchange
  /// themselves.
  void expect_petscs(const char* what, const char* by_one = in_one_kernel,
                     const char* by_several = "  fused on the device") {
    System reference{case_, device_};
    MatNullSpace space;
    PETSC_OK(MatDuplicate(system.A, MAT_COPY_VALUES, reference.A.out()));
    if (device_) PETSC_OK(MatSetVecType(reference.A, VECCUDA));
    PETSC_OK(MatGetNullSpace(system.A, &space));
    PETSC_OK(MatSetNullSpace(reference.A, space));
    PETSC_OK(VecCopy(system.b, reference.b));

    const Outcome found = outcome(ksp, system);

    EXPECT_TRUE(same(found, outcome(solver(case_, reference, method_.petscs), reference))) << what;
    // An AIJ with a part in blocks that are not full, which no loop takes, goes by steps on devices, too.
    const bool in_other_blocks = says(found, "  compound blocks: of ");
    const auto by_processes = [&] {
      return by_one != by_steps && !in_other_blocks && by_peers() ? by_one : by_several;
    };
    EXPECT_TRUE(says(found, !device_     ? "  fused on the host"
                            : size() > 1 ? by_processes()
                                         : by_one))
        << what << '\n'
        << found.view;
  }
};

/// Symmetric ones between blocks that had none.
void add_couplings(Mat A, int bs) {
  std::vector<PetscScalar> block(static_cast<std::size_t>(bs * bs));
  for (int k = 0; k < bs; ++k) block[k * bs + k] = -0.05;
  PetscInt first, last, all;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetSize(A, &all, nullptr));
  allow_new_nonzeros(A);
  for (PetscInt i = first / bs; i < last / bs; ++i)
    for (const PetscInt j : {i - 13, i + 13})
      if (j >= 0 && j < all / bs) PETSC_OK(MatSetValuesBlocked(A, 1, &i, 1, &j, block.data(), INSERT_VALUES));
  assemble(A);
}

void follow_changes(const Method& method, bool device) {
  constexpr int bs = 3;
  const bool is_cg = method.petscs == cg.petscs;
  ManySolves s(method, device);
  s.expect_petscs("at first");
  PETSC_OK(MatScale(s.system.A, 3.0));
  s.expect_petscs("scaled");
  PETSC_OK(MatShift(s.system.A, 1.5));
  s.expect_petscs("shifted");
  if (tested_is_compound())
    PETSC_OK(MatCompoundSetPlan(s.system.A, device ? "csr rows dynamic threads=64 blocks=4" : "csr"));
  s.expect_petscs("another plan");
  s.system.b = on_side(left_vector(s.system.A, 77), device);
  s.system.x = on_side(right_vector(s.system.A, 78), device);
  s.expect_petscs("other vectors");

  s.set(is_cg ? "-solver_pc_type pbjacobi -solver_ksp_norm_type natural"
              : "-solver_pc_type pbjacobi -solver_ksp_norm_type none -solver_ksp_max_it 9");
  s.expect_petscs("another norm");
  s.set("-solver_pc_type pbjacobi -solver_ksp_norm_type preconditioned -solver_ksp_max_it 500");
  s.expect_petscs("the first norm again");
  for (const char* const type : {"jacobi", "none"}) {
    const std::string options = std::string("-solver_pc_type ") + type;
    s.set(options.c_str());
    s.expect_petscs(type);
  }
  s.set("-solver_pc_type composite -solver_pc_composite_pcs jacobi");
  s.expect_petscs("a preconditioner that is not fused", by_steps);
  s.set("-solver_pc_type jacobi -solver_ksp_compound_loop graphs");
  s.expect_petscs("graphs", by_graphs);
  s.set("-solver_pc_type jacobi -solver_ksp_compound_loop persistent");
  s.expect_petscs("one kernel");

  s.set("-solver_pc_type jacobi -solver_ksp_max_it 15");  // rounding tells in BiCGSTAB's later ones
  add_couplings(s.system.A, bs);
  s.expect_petscs("another pattern");
  make_singular(s.system.A);
  PETSC_OK(MatMult(s.system.A, s.system.x, s.system.b));
  set_null_space(s.system.A, Case::Null::constant, bs);
  s.expect_petscs("a null space");
  PETSC_OK(MatSetNullSpace(s.system.A, nullptr));
  s.expect_petscs("no null space");

  PETSC_OK(KSPReset(s.ksp));
  PETSC_OK(KSPSetOperators(s.ksp, s.system.A, s.system.A));
  s.expect_petscs("after a reset");
  if (!device) return;
  s.system.b = on_side(s.system.b, false);
  s.expect_petscs("b on the host", in_one_kernel, "  not fused: some of the solve's vectors are on the host");
}
TEST_P(BothOnHost, FollowWhatChangesBetweenSolves) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's pbjacobi keeps the inverses of a BAIJ from before MatScale()";
  follow_changes(GetParam(), false);
}
TEST_P(BothOnDevice, FollowWhatChangesBetweenSolves) { follow_changes(GetParam(), true); }

/// The KSP's reference is the last one.
void keep_matrix(const Method& method, bool device) {
  const Case c{"", "-solver_pc_type pbjacobi"};
  const System reference(c, device);
  System s(c, device);
  const Outcome wanted = outcome(solver(c, reference, method.petscs), reference);
  const auto ksp = solver(c, s, method.ours);
  s.A.reset();

  EXPECT_TRUE(same(outcome(ksp, s), wanted));
  EXPECT_TRUE(same(outcome(ksp, s), wanted)) << "the second time";
}
TEST_P(BothOnHost, SolveWithAMatrixThatNobodyElseHas) { keep_matrix(GetParam(), false); }
TEST_P(BothOnDevice, SolveWithAMatrixThatNobodyElseHas) { keep_matrix(GetParam(), true); }

/// No product of a library can be part of an iteration.
TEST_P(BothOnDevice, FuseTheirOwnProductsWhereAPlanNamesALibrarys) {
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  const Case c{.name = "",
               .options = "-solver_pc_type jacobi",
               .bs = 4,
               .matrix_options = "-mat_compound_plan cusparse:bsr-column"};
  const System of_petsc(c, true), of_ours(c, true);
  const Outcome wanted = outcome(solver(c, of_petsc, GetParam().petscs), of_petsc);
  for (const char* loop : {"graphs", "persistent"}) {
    const auto ksp = solver(c, of_ours, GetParam().ours);
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_compound_loop", loop));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(PetscOptionsClear(nullptr));
    const Outcome found = outcome(ksp, of_ours);
    EXPECT_TRUE(same(found, wanted)) << loop;
    EXPECT_TRUE(says(found, std::strcmp(loop, "graphs") == 0 ? by_graphs : in_one_kernel)) << found.view;
  }
  EXPECT_NE(plan_of(of_ours.A).find(" cusparse:"), std::string::npos) << plan_of(of_ours.A);
}

TEST_P(BothOnDevice, ShareAMatrixOrTakeTwo) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System one(c, true), two({.name = "", .options = "", .shift = 2.0}, true);
  const auto first = solver(c, one, GetParam().ours), second = solver(c, one, GetParam().ours);
  const Outcome wanted = outcome(first, one);
  EXPECT_EQ(outcome(second, one).x, wanted.x);
  PETSC_OK(KSPSetOperators(first, two.A, two.A));
  EXPECT_TRUE(same(outcome(first, two), outcome(solver(c, two, GetParam().petscs), two)));
  PETSC_OK(KSPSetOperators(first, one.A, one.A));
  EXPECT_EQ(outcome(first, one).x, wanted.x);
}

/// Like those of the set-up: the vectors of a solve may have none.
TEST(WorkVectors, HaveTheBlocksOfTheMatrix) {
  const Case c{"fieldsplit", "-solver_pc_type fieldsplit -solver_pc_fieldsplit_type additive"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND, "-solver_ksp_cgcompound_reductions 1");
  PetscInt n;
  Vector b, x;
  KSPConvergedReason reason;
  PETSC_OK(MatGetLocalSize(s.A, &n, nullptr));
  PETSC_OK(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, b.out()));
  PETSC_OK(VecDuplicate(b, x.out()));
  PETSC_OK(VecSet(b, 1));
  PETSC_OK(KSPSetUp(ksp));

  PETSC_OK(KSPSolve(ksp, b, x));

  PETSC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
}

/// Solves with changing values, the first of which may keep what they like.
void expect_no_leak(bool device, const char* type) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_rtol 1e-5"};
  const System s(c, device);
  const auto ksp = solver(c, s, type);
  PetscLogDouble before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    PETSC_OK(MatScale(s.A, i % 2 ? 1.25 : 0.8));
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
    if (i == 200) PETSC_OK(PetscMemoryGetCurrentUsage(&before));
  }
  PETSC_OK(PetscMemoryGetCurrentUsage(&after));
  EXPECT_LT(after - before, device ? 4e6 : 3e5) << "bytes more after 800 solves";
}

TEST(Solves, LeakNothing) {
#if defined(__SANITIZE_ADDRESS__)
  std::cout << "skipped: the address sanitizer keeps what was freed, and finds leaks itself" << std::endl;
  GTEST_SKIP();
#endif
  for (const char* type : {KSPCGCOMPOUND, KSPBCGSCOMPOUND}) expect_no_leak(false, type);
}
TEST_P(BothOnDevice, LeakNothing) { expect_no_leak(true, GetParam().ours); }

}  // namespace

}  // namespace krylov_test
