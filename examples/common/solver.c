#include "solver.h"

#include <petsctime.h>

/* The same methods with iterations that run on a GPU by themselves: there once -dll_append has brought their plugin */
static const struct { KSPType type, on_gpu; } counterparts[] = {{KSPCG, "cgcompound"}, {KSPBCGS, "bcgscompound"}};

static PetscErrorCode TakeCounterpart(Vec b, KSPType* type) {
  PetscErrorCode (*create)(KSP) = NULL;
  PetscBool on_gpu, same;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)b, &on_gpu, VECSEQCUDA, VECMPICUDA, ""));
  for (size_t i = 0; on_gpu && i < PETSC_STATIC_ARRAY_LENGTH(counterparts); i++) {
    PetscCall(PetscStrcmp(*type, counterparts[i].type, &same));
    if (same) PetscCall(PetscFunctionListFind(KSPList, counterparts[i].on_gpu, &create));
    if (same && create) *type = counterparts[i].on_gpu;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SolverCreate(Mat A, Mat P, Vec b, const char prefix[], KSPType type, PCType pc, PetscReal rtol,
                            KSP* ksp) {
  PC preconditioner;

  PetscFunctionBeginUser;
  PetscCall(TakeCounterpart(b, &type));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &preconditioner));
  PetscCall(PCSetType(preconditioner, pc));
  PetscFunctionReturn(0);
}

/* The largest component of the residual is at least rnorm / sqrt(n): nothing is computed before that is small */
static PetscErrorCode TestLargest(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason* reason, void* context) {
  LargestTest* test = (LargestTest*)context;
  PetscReal rtol, largest;
  KSPNormType type;
  PetscInt n;
  Vec b, r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetRhs(ksp, &b));
  if (it == 0) {
    PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
    PetscCall(VecNorm(b, NORM_INFINITY, &largest));
    test->limit = rtol * largest;
  }
  *reason = PetscIsInfOrNanReal(rnorm) ? KSP_DIVERGED_NANORINF : KSP_CONVERGED_ITERATING;
  if (*reason) PetscFunctionReturn(0);
  PetscCall(KSPGetNormType(ksp, &type));
  PetscCall(VecGetSize(b, &n));
  if (type == KSP_NORM_UNPRECONDITIONED && rnorm > test->limit * PetscSqrtReal((PetscReal)n)) PetscFunctionReturn(0);
  if (!test->work) {
    PetscCall(VecDuplicate(b, &test->work));
    PetscCall(VecDuplicate(b, &test->residual));
  }
  PetscCall(KSPBuildResidual(ksp, test->work, test->residual, &r));
  PetscCall(VecNorm(r, NORM_INFINITY, &largest));
  if (largest <= test->limit) *reason = KSP_CONVERGED_RTOL;
  PetscFunctionReturn(0);
}

PetscErrorCode SolverTestLargest(KSP ksp, LargestTest* test) {
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(test, sizeof(*test)));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetConvergenceTest(ksp, TestLargest, test, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode LargestTestDestroy(LargestTest* test) {
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&test->work));
  PetscCall(VecDestroy(&test->residual));
  PetscFunctionReturn(0);
}

PetscErrorCode SolveTimed(KSP ksp, Vec b, Vec x, const char label[]) {
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s seconds: %.3f\n", label, t1 - t0));
  PetscFunctionReturn(0);
}

PetscErrorCode ReportSolve(KSP ksp, Mat A, Vec b, Vec x, const char label[]) {
  const char* reason;
  PetscReal bnorm, rnorm;
  PetscInt its;
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReasonString(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%siterations: %" PetscInt_FMT "\n%sconvergence reason: %s\n%srelative residual: %.3e\n", label,
                        its, label, reason, label, (double)(rnorm / bnorm)));
  PetscFunctionReturn(0);
}

PetscErrorCode CheckConverged(KSP ksp, const char label[], const char remedy[]) {
  const char *name, *prefix;
  KSPConvergedReason reason;
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(ksp, &name));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "The solve %sdid not converge: %s after %" PetscInt_FMT " iterations. Raise -%sksp_max_it, or %s", label,
             name, its, prefix ? prefix : "", remedy);
  PetscFunctionReturn(0);
}

PetscErrorCode RepeatBegin(PetscInt times, PetscLogDouble* start) {
  PetscLogStage stage;

  PetscFunctionBeginUser;
  if (!times) PetscFunctionReturn(0);
  PetscCall(PetscLogStageRegister("Repeat", &stage));
  PetscCall(PetscLogStagePush(stage));
  PetscCall(PetscTime(start));
  PetscFunctionReturn(0);
}

PetscErrorCode RepeatEnd(PetscInt times, PetscInt iterations, PetscLogDouble start) {
  PetscLogDouble end;

  PetscFunctionBeginUser;
  if (!times) PetscFunctionReturn(0);
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "repeat seconds each: %.3f\n", (end - start) / times));
  if (iterations > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "repeat microseconds an iteration: %.2f\n",
                          1e6 * (end - start) / ((PetscLogDouble)times * (PetscLogDouble)iterations)));
  PetscFunctionReturn(0);
}

PetscErrorCode SolveRepeated(PetscInt times, KSP ksp, Vec b, Vec x) {
  PetscLogDouble t0;
  PetscInt iterations;

  PetscFunctionBeginUser;
  PetscCall(RepeatBegin(times, &t0));
  for (PetscInt i = 0; i < times; i++) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(RepeatEnd(times, iterations, t0));
  PetscFunctionReturn(0);
}
