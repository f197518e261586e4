// The table of layouts.
#pragma once

#include "check.hpp"
#include "measure.hpp"

namespace compound::bench {

/// Times products in each layout that was asked for; one packed copy is in memory at a time. What is refused or too
/// large is told.
void time_layouts(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Check& check, Progress& progress,
                  CaseResult& result);

}  // namespace compound::bench
