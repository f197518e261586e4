// Whole solves on a device: all flops there, and no vector copied in an iteration.
#include "device.hpp"
#include "info.hpp"
#include "log_events.hpp"
#include "systems.hpp"

namespace {

using namespace petsc_test;

/// Of full blocks, which are packed as such above AIJ, too.
Matrix coupled_system() { return coupled(tested_type(), "", spread(3, 30, 30)); }

struct Method {
  const char *solver, *preconditioner;
};
void PrintTo(const Method& m, std::ostream* out) { *out << m.solver << " and " << m.preconditioner; }

struct DeviceSolves : DeviceTest, testing::WithParamInterface<Method> {
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
};

TEST_P(DeviceSolves, StayOnTheDevice) {
#if PetscDefined(HAVE_DEVICE)
  constexpr int iterations = 20;
  const auto A = coupled_system();
  const auto b = on_side(left_vector(A, 321), true), x = on_side(right_vector(A, 322), true);
  PETSC_OK(MatSetVecType(A, VECCUDA));
  const auto ksp = solver_for(A, GetParam().solver, GetParam().preconditioner);
  PETSC_OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  PETSC_OK(KSPSetTolerances(ksp, 1e-30, 1e-300, PETSC_DEFAULT, iterations));
  PETSC_OK(KSPSolve(ksp, b, x));
  const char* names[] = {"MatMult", "PCApply"};
  for (const char* name : names) {
    const auto before = event(name);
    PETSC_OK(KSPSolve(ksp, b, x));
    const auto after = event(name);
    EXPECT_TRUE(all_ranks(after.GpuFlops - before.GpuFlops == after.flops - before.flops)) << name;
    EXPECT_TRUE(all_ranks(size() > 1 || after.CpuToGpuCount == before.CpuToGpuCount)) << name;
    EXPECT_TRUE(all_ranks(size() > 1 || after.GpuToCpuCount == before.GpuToCpuCount)) << name;
    EXPECT_TRUE(all_ranks(after.count >= before.count + iterations)) << name;
  }
#endif
}

constexpr Method methods[] = {
    {KSPCG, PCNONE},     {KSPCG, PCJACOBI},     {KSPCG, PCPBJACOBI},           {KSPCG, PCPBJACOBICOMPOUND},
    {KSPBCGS, PCJACOBI}, {KSPBCGS, PCPBJACOBI}, {KSPBCGS, PCPBJACOBICOMPOUND},
};
INSTANTIATE_TEST_SUITE_P(All, DeviceSolves, testing::ValuesIn(methods), [](const auto& param_info) {
  return std::string(param_info.param.solver) + "_" + param_info.param.preconditioner;
});

/// Of our solvers, whose iterations make no events of their own.
struct FusedSolves : DeviceSolves {};

#if PetscDefined(HAVE_DEVICE)
Solver without_norm(Mat A, const char* type, const char* preconditioner) {
  Solver ksp = solver_for(A, type, preconditioner);
  PETSC_OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  return ksp;
}

/// What a solve of so many iterations has added.
PetscEventPerfInfo events_of(KSP ksp, Vec b, Vec x, PetscInt iterations) {
  PETSC_OK(KSPSetTolerances(ksp, 1e-30, 1e-300, PETSC_DEFAULT, iterations));
  return added_to("KSPSolve", [&] { PETSC_OK(KSPSolve(ksp, b, x)); });
}
#endif

TEST_P(FusedSolves, CopyAndComputeOnTheHostNothingInAnIteration) {
#if PetscDefined(HAVE_DEVICE)
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  const auto A = coupled_system();
  const auto b = on_side(left_vector(A, 331), true), x = on_side(right_vector(A, 332), true);
  PETSC_OK(MatSetVecType(A, VECCUDA));
  const auto ksp = without_norm(A, GetParam().solver, GetParam().preconditioner);
  (void)events_of(ksp, b, x, 3);
  const auto few = events_of(ksp, b, x, 4), many = events_of(ksp, b, x, 12);
  EXPECT_GT(many.GpuFlops, few.GpuFlops);
  EXPECT_EQ(many.flops - few.flops, many.GpuFlops - few.GpuFlops);
  EXPECT_EQ(many.CpuToGpuCount, few.CpuToGpuCount);
  EXPECT_EQ(many.GpuToCpuCount, few.GpuToCpuCount);
#endif
}

TEST_P(FusedSolves, CountTheFlopsOfPetscsIterations) {
#if PetscDefined(HAVE_DEVICE)
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  const auto A = spd(MATBAIJCOMPOUND, 3);
  const auto b = on_side(left_vector(A, 331), true), x = on_side(right_vector(A, 332), true);
  PETSC_OK(MatSetVecType(A, VECCUDA));
  constexpr PetscInt few = 4, many = 12;
  const auto more_flops = [&](const std::string& type) {
    const auto ksp = without_norm(A, type.c_str(), GetParam().preconditioner);
    (void)events_of(ksp, b, x, 3);
    return events_of(ksp, b, x, many).GpuFlops - events_of(ksp, b, x, few).GpuFlops;
  };
  const std::string ours = GetParam().solver;
  const std::string petscs = ours.substr(0, ours.find("compound"));
  PetscInt n;
  PETSC_OK(VecGetLocalSize(x, &n));
  // Inner products of n scalars are 2 n - 1 to PETSc and 2 n to us; of its VecDotNorm2() on a device it counts nothing.
  const double of_iteration = flops_of_operation * (4 + (petscs == KSPBCGS ? 4.0 * n : 0));
  EXPECT_NEAR(more_flops(ours), more_flops(petscs), of_iteration * (many - few));
#endif
}

constexpr Method fused_methods[] = {{KSPCGCOMPOUND, PCNONE},       {KSPCGCOMPOUND, PCJACOBI},
                                    {KSPCGCOMPOUND, PCPBJACOBI},   {KSPBCGSCOMPOUND, PCJACOBI},
                                    {KSPBCGSCOMPOUND, PCPBJACOBI}, {KSPBCGSCOMPOUND, PCPBJACOBICOMPOUND}};
INSTANTIATE_TEST_SUITE_P(All, FusedSolves, testing::ValuesIn(fused_methods), [](const auto& param_info) {
  return std::string(param_info.param.solver) + "_" + param_info.param.preconditioner;
});

constexpr const char* host_work = "A preconditioner works on the host";

int count_in(const std::string& text, const std::string& what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// What -info says of two solves with the preconditioner.
std::string info_of_solves(Mat A, const char* preconditioner, bool device) {
  const auto b = on_side(left_vector(A, 326), device), x = on_side(right_vector(A, 327), device);
  Solver ksp;
  PC pc;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(PCSetType(pc, preconditioner));
  return info_during("device_solves_test", [&] {
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPSolve(ksp, b, x));
  });
}

// These two come before all that need the device: afterwards it is initialised.

TEST(DeviceUntouched, HostMatricesInitialiseNoDevice) {
#if !PetscDefined(HAVE_CUDA)
  GTEST_SKIP() << "skipped: this PETSc has no CUDA";
#else
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) GTEST_SKIP() << "skipped: a test before needed the device";
  const auto problem = random_problem(324, spread(3, 9, 9));
  const auto A = filled_matrix(tested_type(), "", problem);
  EXPECT_TRUE(same_products(A, filled_matrix(MATBAIJ, "", problem), 325));
  Vector x;
  PETSC_OK(MatCreateVecs(A, x.out(), nullptr));
  EXPECT_EQ(type_of(x).find("cuda"), std::string::npos) << type_of(x);
  EXPECT_FALSE(PetscDeviceInitialized(PETSC_DEVICE_CUDA));
#endif
}

TEST(HostMatrices, HaveNoHostWorkToTell) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
#if PetscDefined(HAVE_CUDA)
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) GTEST_SKIP() << "skipped: a test before needed the device";
#endif
  const auto text = info_of_solves(coupled_system(), PCSOR, false);
  EXPECT_NE(text, "");
  EXPECT_EQ(count_in(text, host_work), 0) << text;
}

struct HostWork : DeviceTest {};

TEST_F(HostWork, OfAPreconditionerUnderADeviceMatrixIsToldOnce) {
  const auto A = coupled_system();
  PETSC_OK(MatSetVecType(A, VECCUDA));
  const auto sor = info_of_solves(A, PCSOR, true);
  EXPECT_EQ(count_in(sor, host_work), 1) << sor;
}

TEST_F(HostWork, IsNotToldWhereThereIsNone) {
  for (const char* preconditioner : {PCJACOBI, PCPBJACOBICOMPOUND}) {
    const auto A = coupled_system();
    PETSC_OK(MatSetVecType(A, VECCUDA));
    const auto text = info_of_solves(A, preconditioner, true);
    EXPECT_EQ(count_in(text, host_work), 0) << text;
  }
}

struct DeviceVectors : DeviceTest {};

/// Such as Kokkos', whose arrays are a device's under another type name.
TEST_F(DeviceVectors, AreTakenByTheirMemoryNotByTheirName) {
#if PetscDefined(HAVE_DEVICE)
  PETSC_OK(PetscLogDefaultBegin());
  const auto A = coupled_system();
  const auto x = on_side(right_vector(A, 324), true), y = on_side(left_vector(A, 325), true);
  for (Vec v : {Vec(x), Vec(y)}) PETSC_OK(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(v), "foreign"));
  Solver ksp;
  PC pc;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(PCSetType(pc, PCPBJACOBI));
  PETSC_OK(PCSetUp(pc));
  for (int call = 0; call < 2; ++call) {
    const auto product = event("MatMult"), preconditioner = event("PCApply");
    PETSC_OK(MatMult(A, x, y));
    PETSC_OK(PCApply(pc, x, y));
    for (const auto& [name, before] : {std::pair("MatMult", product), std::pair("PCApply", preconditioner)}) {
      const auto after = event(name);
      EXPECT_TRUE(all_ranks(after.GpuFlops - before.GpuFlops == after.flops - before.flops)) << name;
      EXPECT_TRUE(all_ranks(call == 0 || size() > 1 || after.CpuToGpuCount == before.CpuToGpuCount)) << name;
      EXPECT_TRUE(all_ranks(call == 0 || size() > 1 || after.GpuToCpuCount == before.GpuToCpuCount)) << name;
    }
  }
#endif
}

TEST_F(DeviceVectors, AreMadeWhereTheUserAsked) {
  const auto A = filled_matrix(tested_type(), "-mat_compound_backend cuda", random_problem(323, spread(3, 9, 9)));
  Vector x;
  PETSC_OK(MatCreateVecs(A, x.out(), nullptr));
  EXPECT_NE(type_of(x).find("cuda"), std::string::npos) << type_of(x);
  VecType type;
  PETSC_OK(MatGetVecType(A, &type));
  EXPECT_NE(std::string(type).find("cuda"), std::string::npos) << type;
}

}  // namespace
