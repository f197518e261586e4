#include "ksp/solver.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ksp/watched.hpp"
#include "petsc/agree.hpp"
#include "petsccompound.h"
#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

using Ran = FusedSolver::Ran;

constexpr const char* name_of_solver = "petsccompound_solver";

/// Values of -ksp_compound_loop, in the order of KrylovRunner, as PETSc wants its enumerations.
constexpr const char* runners[] = {"auto", "graphs", "persistent", "persistent2"};

PetscErrorCode attach_bcgs(KSP, Solver& s) {
  s.stepwise.take(form_of_bcgs());
  return PETSC_SUCCESS;
}

PetscErrorCode read_nothing(KSP, Solver&, OptionItems) { return PETSC_SUCCESS; }

struct TypeRow {
  const char *name, *base;
  KrylovMethod method;
  PetscErrorCode (*attach)(KSP, Solver&);
  PetscErrorCode (*read_options)(KSP, Solver&, OptionItems);
  PetscErrorCode (*solve_columns)(KSP, Mat, Mat);  ///< null: PETSc solves column by column
};
constexpr TypeRow types[] = {
    {KSPCGCOMPOUND, KSPCG, KrylovMethod::cg, attach_cg, read_cg_options, for_petsc<solve_columns>},
    {KSPBCGSCOMPOUND, KSPBCGS, KrylovMethod::bcgs, attach_bcgs, read_nothing, nullptr}};
std::array<PetscErrorCode (*)(KSP), std::size(types)> create_base;

PetscErrorCode solve_by_base(KSP ksp, Solver& s) {
  PetscFunctionBegin;
  s.fused.ran = Ran::base_solver;
  PetscCall(PetscInfo(ksp, "Iterations are PETSc's own: %s\n", s.fused.why_not.c_str()));
  PetscCall((*s.base.solve)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By PETSc's CG from its own loop's numbers, or from ours.
PetscErrorCode eigenvalues(KSP ksp, PetscInt most, PetscReal* re, PetscReal* im, PetscInt* count) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  if (s->fused.ran == Ran::base_solver) {
    PetscCall((*s->base.computeeigenvalues)(ksp, most, re, im, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<PetscReal> found = s->fused.lanczos.eigenvalues();
  PetscCheck(static_cast<PetscInt>(found.size()) <= most, PetscObjectComm(object(ksp)), PETSC_ERR_ARG_SIZ,
             "There are %d eigenvalues and room for %" PetscInt_FMT "; one for each iteration is enough",
             static_cast<int>(found.size()), most);
  std::ranges::copy(found, re);
  std::fill_n(im, most, PetscReal(0));
  *count = static_cast<PetscInt>(found.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode extreme_values(KSP ksp, PetscReal* largest, PetscReal* smallest) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  if (s->fused.ran == Ran::base_solver) {
    PetscCall((*s->base.computeextremesingularvalues)(ksp, largest, smallest));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<PetscReal> found = s->fused.lanczos.eigenvalues();
  *largest = found.empty() ? 1 : found.back();
  *smallest = found.empty() ? 1 : found.front();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Overrides the function that the base solver's set-up has put there, if any.
template <class F>
void override_function(F& now, F& base, F ours) {
  if (now && now != ours) base = std::exchange(now, ours);
}

/// What only PETSc's own loop does of what this solve is to do; null: nothing. The same on all processes.
const char* why_base_solver(KSP ksp, const Solver& s) {
  if (const char* const settings = why_not_solver(ksp)) return settings;
  if (!s.asked.empty()) return s.asked.c_str();
  return s.radius ? s.radius : s.objective;
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  StepwiseOn where = StepwiseOn::nothing;
  PetscCall(solver_of(ksp, &s));
  FusedSolver& f = s->fused;
  f.lanczos.forget();
  f.lanczos.wanted = ksp->calc_sings == PETSC_TRUE;
  override_function(ksp->ops->computeeigenvalues, s->base.computeeigenvalues, for_petsc<eigenvalues>);
  override_function(ksp->ops->computeextremesingularvalues, s->base.computeextremesingularvalues,
                    for_petsc<extreme_values>);
  const char* why = nullptr;
  PetscCall(why_failed(ksp, &why));
  if (!why) why = why_base_solver(ksp, *s);
  if (why) {
    f.why_not = why;
    PetscCall(solve_by_base(ksp, *s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  DeviceParts matrix;
  PetscCall(why_not_fused(ksp, &matrix, &f.why_not));
  f.ran = Ran::device;
  if (f.why_not.empty()) PetscCall(solve_fused(ksp, f, matrix));
  if (f.why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(prepare_steps(ksp, f.hermitian, s->stepwise, &where));
  if (where == StepwiseOn::nothing) {
    f.why_not = s->stepwise.why_not;
    PetscCall(solve_by_base(ksp, *s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  f.ran = where == StepwiseOn::host ? Ran::host : Ran::stepwise;
  PetscCall(solve_stepwise(ksp, s->stepwise, f.lanczos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "the constant and 2 vectors".
std::string text_of(const NullSpace& space) {
  std::string text = space.constant ? "the constant" : "";
  if (space.constant && space.vectors) text += " and ";
  if (space.vectors) text += std::to_string(space.vectors) + (space.vectors == 1 ? " vector" : " vectors");
  return text;
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscBool ascii;
  PetscCall(solver_of(ksp, &s));
  if (s->base.view) PetscCall((*s->base.view)(ksp, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  const FusedSolver& f = s->fused;
  const char* const reductions = s->stepwise.form->reductions;
  const KrylovLoop::Shape shape = f.loop ? f.loop->shape() : KrylovLoop::Shape{};
  const NullSpace null_space = f.loop ? f.loop->problem().null_space : NullSpace{};
  const std::string by = f.peers ? f.peers->library() : "";
  const std::string by_devices =
      !f.peers ? "" : "; devices exchange values and sums " + (by.empty() ? "themselves" : "by " + by);
  const bool says_why_host = device_backend() && !f.why_not.empty();  // else nothing could be gained
  switch (f.ran) {
    case Ran::nowhere:
      break;
    case Ran::base_solver:
      PetscCall(PetscViewerASCIIPrintf(viewer, "  not fused: %s\n", f.why_not.c_str()));
      break;
    case Ran::host:
      PetscCall(PetscViewerASCIIPrintf(viewer, "  fused on the host: %s an iteration%s%s\n", reductions,
                                       says_why_host ? "; not on the device: " : "",
                                       says_why_host ? f.why_not.c_str() : ""));
      break;
    case Ran::stepwise:
      PetscCall(PetscViewerASCIIPrintf(viewer, "  fused on the device: %s an iteration; not more: %s\n", reductions,
                                       f.why_not.c_str()));
      break;
    case Ran::device:
      if (shape.one_kernel)
        PetscCall(PetscViewerASCIIPrintf(viewer,
                                         "  fused on the device: one cooperative kernel for all iterations, with %d "
                                         "grid synchronizations an iteration%s\n",
                                         shape.grid_syncs, by_devices.c_str()));
      else
        PetscCall(PetscViewerASCIIPrintf(viewer, "  fused on the device: %d kernels an iteration, graphs of %d%s\n",
                                         shape.kernels, shape.iterations, by_devices.c_str()));
      if (null_space.size())
        PetscCall(
            PetscViewerASCIIPrintf(viewer, "  null space removed in the loop: %s\n", text_of(null_space).c_str()));
      break;
    case Ran::host_systems:
    case Ran::device_systems:
      PetscCall(PetscViewerASCIIPrintf(viewer, "  fused on the %s: %" PetscInt_FMT " right-hand sides at once\n",
                                       f.ran == Ran::device_systems ? "device" : "host", s->at_once));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's CG has it in the first vector of its own loop, as ours on the host; its BiCGSTAB makes it anew.
PetscErrorCode build_residual(KSP ksp, Vec t, Vec v, Vec* residual) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  if (s->fused.ran == Ran::device_systems || s->fused.ran == Ran::host_systems) {  // no work vector has it
    Mat A;
    PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
    PetscCall(residual_of_solution(ksp, A, v));
    *residual = v;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->fused.ran == Ran::device && s->fused.method == KrylovMethod::cg)
    PetscCall(take_residual(s->fused, ksp->work[0]));
  PetscCall((*s->base.buildresidual)(ksp, t, v, residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(KSP ksp) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  s->fused.loop.reset();
  s->fused.peers.reset();
  s->fused.systems.reset();
  s->fused.buffers = {};
  s->stepwise.passes.reset();
  s->fused.ran = Ran::nowhere;
  if (s->base.reset) PetscCall((*s->base.reset)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  const auto destroy_base = s->base.destroy;
  PetscCall(PetscObjectCompose(object(ksp), name_of_solver, nullptr));
  if (destroy_base) PetscCall((*destroy_base)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options' name is that of PETSc's macros.
template <std::size_t row>
PetscErrorCode set_from_options(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  if (s->base.setfromoptions) PetscCall((*s->base.setfromoptions)(ksp, PetscOptionsObject));
  auto runner = static_cast<PetscInt>(s->fused.runner);
  PetscCall(PetscOptionsEList(
      "-ksp_compound_loop", "Loop on a device (default auto; persistent2 has two grid synchronizations per iteration)",
      nullptr, runners, static_cast<PetscInt>(std::size(runners)), runners[runner], &runner, nullptr));
  s->fused.runner = static_cast<KrylovRunner>(runner);
  PetscCall(types[row].read_options(ksp, *s, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t row>
PetscErrorCode create(KSP ksp) {
  PetscFunctionBegin;
  PetscCall((*create_base[row])(ksp));
  std::unique_ptr<Solver> made;
  PetscCall(together(PetscObjectComm(object(ksp)), [&] {
    made = std::make_unique<Solver>();
    // A process alone without memory would go another way than the others.
    constexpr std::size_t longest_reason = 256;
    for (std::string* why_not : {&made->fused.why_not, &made->stepwise.why_not}) why_not->reserve(longest_reason);
  }));
  Solver& solver = *made;
  solver.base = *ksp->ops;
  solver.fused.method = types[row].method;
  ksp->ops->solve = for_petsc<solve>;
  ksp->ops->matsolve = types[row].solve_columns;
  ksp->ops->view = for_petsc<view>;
  ksp->ops->buildresidual = for_petsc<build_residual>;
  ksp->ops->reset = reset;
  ksp->ops->destroy = for_petsc<destroy>;
  ksp->ops->setfromoptions = for_petsc<set_from_options<row>>;
  PetscCall(together(PetscObjectComm(object(ksp)), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(compose_owned(object(ksp), name_of_solver, std::move(made)));
    PetscCall(types[row].attach(ksp, solver));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... row>
PetscErrorCode register_all(std::index_sequence<row...>) {
  PetscFunctionBegin;
  for (std::size_t r = 0; r < std::size(types); ++r)
    PetscCall(PetscFunctionListFind(KSPList, types[r].base, &create_base[r]));
  PetscErrorCode (*const creators[])(KSP) = {for_petsc<create<row>>...};
  for (std::size_t r = 0; r < std::size(types); ++r) PetscCall(KSPRegister(types[r].name, creators[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode solver_of(KSP ksp, Solver** solver) { return composed(object(ksp), name_of_solver, solver); }

PetscErrorCode keep_loop(KSP ksp, Solver& s, const char* why) {
  PetscFunctionBegin;
  if (ksp->ops->solve == for_petsc<solve>) PetscFunctionReturn(PETSC_SUCCESS);
  s.asked = why;
  s.base.solve = std::exchange(ksp->ops->solve, for_petsc<solve>);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_solvers() {
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  PetscCall(register_all(std::make_index_sequence<std::size(types)>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
