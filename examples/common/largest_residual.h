/* A convergence test on the largest component of the residual, in place of its norm */
#pragma once

#include <petscksp.h>

/* The solver ends when the largest component of the residual is at most its relative tolerance times that of the
   right-hand side.  -ksp_convergence_test still has the last word. */
PetscErrorCode SolverTestLargest(KSP ksp);
