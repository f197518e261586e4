/* A linear solver with defaults, and what it prints */
#pragma once

#include <petscksp.h>

/* A solver with the matrix A, and P to make the preconditioner of, for vectors like b; type, pc and the relative
   tolerance are defaults.  Where b is on a GPU, a registered solver whose iterations run there takes the place of type.
   It reads no options: KSPSetFromOptions() comes when all defaults are set. */
PetscErrorCode SolverCreate(Mat A, Mat P, Vec b, const char prefix[], KSPType type, PCType pc, PetscReal rtol,
                            KSP* ksp);

/* What a test on the largest component of the residual keeps between its calls; destroyed after the solver */
typedef struct {
  Vec residual, work;
  PetscReal limit; /* of that component */
} LargestTest;

/* Lets the solver end when the largest component of the residual, not its norm, is at most the relative tolerance times
   that of the right-hand side. */
PetscErrorCode SolverTestLargest(KSP ksp, LargestTest* test);
PetscErrorCode LargestTestDestroy(LargestTest* test);

/* Solves, and prints the time as "LABEL seconds: ...". */
PetscErrorCode SolveTimed(KSP ksp, Vec b, Vec x, const char label[]);

/* Prints, each line after the label ("BiCGSTAB "), iterations, the reason that ended them, and |b - A x| / |b| anew. */
PetscErrorCode ReportSolve(KSP ksp, Mat A, Vec b, Vec x, const char label[]);

/* PETSC_ERR_NOT_CONVERGED where the solve with that label did not converge; `remedy` is what to try beside a larger
   -ksp_max_it. */
PetscErrorCode CheckConverged(KSP ksp, const char label[], const char remedy[]);

/* Around what is done `times` times more, to be timed: in the log stage Repeat, and then prints the seconds of each and
   the microseconds of an iteration, of which each has had `iterations`. */
PetscErrorCode RepeatBegin(PetscInt times, PetscLogDouble* start);
PetscErrorCode RepeatEnd(PetscInt times, PetscInt iterations, PetscLogDouble start);

/* Once more with everything set up and in place: what a second load case would cost. */
PetscErrorCode SolveRepeated(PetscInt times, KSP ksp, Vec b, Vec x);
