// Systems that cgcompound and bcgscompound solve beside PETSc's CG and BiCGSTAB, and whether both do the same.
#pragma once

#include <array>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "device.hpp"
#include "petsc_test.hpp"

namespace krylov_test {

using namespace petsc_test;

/// A system and how it is solved.
struct Case {
  const char* name;
  const char* options;  ///< of the solver, with the prefix -solver_
  bool fused = true;    ///< on a device, one process
  int bs = 3;
  PetscReal shift = 0;  ///< of the diagonal
  enum class Rhs { random, zero, with_nan, of_guess, whole_numbers } rhs = Rhs::random;
  bool has_guess = false;
  std::function<void(KSP, Mat)> prepare = {};
  bool cg_alone = false;
  bool petscs_forms_differ = false;  ///< in their reasons: KSPCG with a single reduction, and without
  bool fused_on_host = true;
  enum class Null {
    nothing,
    constant,
    vectors,
    constant_and_vectors,
    function,
    with_transposed,  ///< the constant, and taken out of the right-hand side by its own name
    near              ///< that preconditioners may ask for, and that no solver removes
  } null_space = Null::nothing;
  enum class Rows { spread, one, of_last_rank } rows = Rows::spread;
  std::string matrix_options = {}, kind = {};      ///< either: the matrix is coupled() of them, or with other rows
  bool one_kernel = true;                          ///< on a device: small, and of a layout that can
  bool is_skew = false;                            ///< A^T = -A, of whole numbers
  std::array<KSPConvergedReason, 2> reasons = {};  ///< of CG and of BiCGSTAB, where they are known

  bool removes_null_space() const { return null_space != Null::nothing && null_space != Null::near; }
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Method {
  const char *name, *petscs, *ours;
  const char* reductions;  ///< an iteration, where others have a part in it
  const char* options = "";
  const char* petscs_options = nullptr;  ///< of another form of PETSc's method, which is the same, too
};
inline void PrintTo(const Method& m, std::ostream* out) { *out << m.ours; }
inline constexpr Method cg{"cg", KSPCG, KSPCGCOMPOUND, "two reductions"};
inline constexpr Method bcgs{"bcgs", KSPBCGS, KSPBCGSCOMPOUND, "three reductions"};
inline constexpr Method one_reduction{
    .name = "cg_with_one_reduction",
    .petscs = KSPCG,
    .ours = KSPCGCOMPOUND,
    .reductions = "one reduction",
    .options = " -solver_ksp_cgcompound_reductions 1",
    .petscs_options = " -solver_ksp_cg_single_reduction",
};

/// What any layout and any kind of entry solves.
std::span<const Case> common_cases();
/// Those, every layout, and every kind of entry.
std::vector<Case> all_cases();

/// Row sums of 0, and the constant null space that comes of that.
void make_singular(Mat A);
/// Its vectors are where MatCreateVecs() makes them: elsewhere PETSc may not remove them (docs/limits.md).
void set_null_space(Mat A, Case::Null kind, int bs);

/// A monitor that looks at the answer so far, which must be that of the iteration.
PetscErrorCode look_at_residual(KSP ksp, PetscInt i, PetscReal norm, void*);

struct System {
  Matrix A;
  Vector b, x;

  System(const Case& c, bool device);
};

Solver solver(const Case& c, const System& s, const char* type, const char* more_options = "");

struct Outcome {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = -1;
  PetscReal last = 0;  ///< norm that the KSP keeps
  std::vector<PetscReal> norms;
  std::vector<PetscScalar> x;
  std::vector<PetscReal> eigenvalues, extremes;  ///< where they are asked for
  std::string view;
};

/// Of a solve. Collective.
Outcome outcome(KSP ksp, const System& s);
testing::AssertionResult same(const Outcome& a, const Outcome& b);
inline bool says(const Outcome& o, const std::string& text) { return o.view.find(text) != std::string::npos; }

/// Whether devices of several processes run iterations themselves, as they do where each process has its own.
bool by_peers();

struct BothOnHost : testing::TestWithParam<Method> {
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
struct BothOnDevice : DeviceTest, testing::WithParamInterface<Method> {};
struct SaysOnDevice : DeviceTest {};

/// How the view says that it was solved.
inline constexpr const char *in_one_kernel = "  fused on the device: one cooperative kernel",
                            *by_graphs = " kernels an iteration, graphs of ",
                            *by_steps = "  fused on the device: t";  // two reductions, or three

}  // namespace krylov_test
