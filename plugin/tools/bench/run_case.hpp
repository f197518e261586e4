// One case from its description to its results.
#pragma once

#include "measure.hpp"
#include "prepare_case.hpp"
#include "report.hpp"

namespace compound::bench {

/// Collective. Throws usage_error, petsc_error.
CaseResult run_case(MPI_Comm comm, const CaseSpec& spec, const Options& options, Progress& progress);

}  // namespace compound::bench
