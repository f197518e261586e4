// Krylov methods side by side: time of an iteration.
#pragma once

#include "candidate.hpp"
#include "measure.hpp"

namespace compound::bench {

/// Fills result.ksp: each of options.ksp on each matrix type, interleaved. Collective. The case's values get so large a
/// diagonal that CG may be used, whatever they were; the preconditioner is of PETSc's options.
void time_ksp(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress, CaseResult& result);

}  // namespace compound::bench
