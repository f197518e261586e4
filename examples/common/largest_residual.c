#include "largest_residual.h"

/* What the test keeps between its calls */
typedef struct {
  Vec residual, work;
  PetscReal limit; /* of the residual's largest component */
} Largest;

/* Ends when the largest component of the residual is small.  It is at least rnorm / sqrt(n), so nothing is computed
 * before that is. */
static PetscErrorCode TestLargest(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason* reason, void* context) {
  Largest* test = (Largest*)context;
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

static PetscErrorCode Destroy(void* context) {
  Largest* test = (Largest*)context;

  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&test->work));
  PetscCall(VecDestroy(&test->residual));
  PetscCall(PetscFree(test));
  PetscFunctionReturn(0);
}

PetscErrorCode SolverTestLargest(KSP ksp) {
  Largest* test;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&test));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetConvergenceTest(ksp, TestLargest, test, Destroy));
  PetscFunctionReturn(0);
}
