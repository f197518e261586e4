#include "ksp/solver.hpp"
#include "petsc/quiet.hpp"
#include "petsc/scoped.hpp"

namespace compound::plugin {

namespace {

constexpr const char* single_reduction = "a single reduction is asked for (-ksp_cg_single_reduction)";

/// What PETSc's CG composes under these names.
PetscErrorCode (*base_set_type)(KSP, KSPCGType);
PetscErrorCode (*base_use_single_reduction)(KSP, PetscBool);
PetscErrorCode (*base_set_radius)(KSP, PetscReal);
PetscErrorCode (*base_set_objective)(KSP, PetscReal);
PetscErrorCode (*base_get_objective)(KSP, PetscReal*);

PetscErrorCode set_type(KSP ksp, KSPCGType type) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  PetscCall((*base_set_type)(ksp, type));
  s->fused.hermitian = type == KSP_CG_HERMITIAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Overrides the base solver's function of that name, if it has one.
template <class F>
PetscErrorCode override_function(KSP ksp, const char* name, F* ours, F** base) {
  PetscFunctionBegin;
  F* found = nullptr;
  PetscCall(PetscObjectQueryFunction(object(ksp), name, &found));
  if (!found || found == ours) PetscFunctionReturn(PETSC_SUCCESS);
  *base = found;
  PetscCall(PetscObjectComposeFunction(object(ksp), name, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x^H A x / 2 - b^H x, which the base solver keeps as it iterates; here it is made of x and its residual. Collective.
PetscErrorCode value_of_objective(KSP ksp, PetscReal* value) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  ScopedVec r;
  alignas(sizeof(PetscScalar)) PetscScalar of_r, of_b;  // as in stepwise_cg.cpp
  PetscCall(solver_of(ksp, &s));
  if (s->fused.ran == FusedSolver::Ran::nowhere || s->fused.ran == FusedSolver::Ran::base_solver) {
    PetscCall((*base_get_objective)(ksp, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(ksp->vec_rhs && ksp->vec_sol, PetscObjectComm(object(ksp)), PETSC_ERR_ARG_WRONGSTATE,
             "There is no objective: KSPMatSolve() solves for several columns; call KSPSolve() for one");
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, r.out()));
  PetscCall(VecDot(r, ksp->vec_sol, &of_r));
  PetscCall(VecDot(ksp->vec_rhs, ksp->vec_sol, &of_b));
  *value = -PetscRealPart(of_r + of_b) / 2;
  PetscCall(r.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base solver's single reduction removes this function, and puts its own back.
PetscErrorCode override_objective(KSP ksp) {
  return override_function(ksp, "KSPCGGetObjFcn_C", for_petsc<value_of_objective>, &base_get_objective);
}

PetscErrorCode use_single_reduction(KSP ksp, PetscBool yes) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  PetscCall((*base_use_single_reduction)(ksp, yes));
  PetscCall(override_objective(ksp));
  PetscCall(keep_loop(ksp, *s, single_reduction));
  if (!yes) s->asked.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Numbers that only the base solver's loop looks at.

PetscErrorCode set_radius(KSP ksp, PetscReal radius) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  PetscCall((*base_set_radius)(ksp, radius));
  s->radius = radius == 0 ? nullptr : "a radius is set (KSPCGSetRadius)";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base solver ignores objectives that are not negative.
PetscErrorCode set_objective(KSP ksp, PetscReal objective) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  PetscCall(solver_of(ksp, &s));
  PetscCall((*base_set_objective)(ksp, objective));
  s->objective = objective < 0 ? "an objective is set (KSPCGSetObjectiveTarget)" : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode attach_cg(KSP ksp, Solver& s) {
  PetscFunctionBegin;
  s.fused.hermitian = PetscDefined(USE_COMPLEX);  // KSPCG's own default
  s.stepwise.take(forms_of_cg().back());
  PetscCall(override_function(ksp, "KSPCGSetType_C", for_petsc<set_type>, &base_set_type));
  PetscCall(
      override_function(ksp, "KSPCGUseSingleReduction_C", for_petsc<use_single_reduction>, &base_use_single_reduction));
  PetscCall(override_function(ksp, "KSPCGSetRadius_C", for_petsc<set_radius>, &base_set_radius));
  PetscCall(override_function(ksp, "KSPCGSetObjectiveTarget_C", for_petsc<set_objective>, &base_set_objective));
  PetscCall(override_objective(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode read_reductions(KSP ksp, StepwiseSolver& stepwise, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  const auto forms = forms_of_cg();
  const auto most = static_cast<PetscInt>(forms.size());
  PetscInt reductions = static_cast<PetscInt>(stepwise.form - forms.data()) + 1;
  // PETSc's error does not say of which option.
  const PetscErrorCode code = quietly([&] {
    return PetscOptionsInt("-ksp_cgcompound_reductions",
                           "Reductions per iteration when the solve is not entirely on one GPU: 1 or 2 (default 2)",
                           nullptr, reductions, &reductions, nullptr);
  });
  PetscCheck(!code, PetscObjectComm(object(ksp)), PETSC_ERR_ARG_WRONG,
             "-ksp_cgcompound_reductions is not a whole number; choose 1 or 2 reductions per iteration");
  PetscCheck(reductions >= 1 && reductions <= most, PetscObjectComm(object(ksp)), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_cgcompound_reductions is %" PetscInt_FMT "; choose 1 or 2 reductions per iteration", reductions);
  stepwise.take(forms[reductions - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// PETSc's CG sets its type from the options without a word.
PetscErrorCode read_cg_options(KSP ksp, Solver& s, OptionItems items) {
  PetscFunctionBegin;
  PetscCall(read_reductions(ksp, s.stepwise, items));
  PetscEnum type;
  PetscBool given;
  PetscCall(PetscOptionsGetEnum(object(ksp)->options, object(ksp)->prefix, "-ksp_cg_type", KSPCGTypes, &type, &given));
  if (given) s.fused.hermitian = static_cast<int>(type) == static_cast<int>(KSP_CG_HERMITIAN);
  PetscCall(keep_loop(ksp, s, single_reduction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
