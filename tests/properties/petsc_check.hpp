// Properties of PETSc's matrices of our types.
#pragma once

#include <petscmat.h>

#include "check.hpp"

namespace compound::test {

#if defined(PETSC_USE_COMPLEX)
using PetscCore = complex_number<PetscReal>;
#else
using PetscCore = PetscReal;
#endif

/// On the first ranks of PETSC_COMM_WORLD, as many as the case wants. All ranks call it and have the same verdict.
Verdict check_petsc(const Case& c, bool broken = false);

/// Remembers messages of errors, which are returned. Before any check.
void begin_petsc_checks();
void end_petsc_checks();

}  // namespace compound::test
