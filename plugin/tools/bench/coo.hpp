// Assembly from coordinates: MatSetPreallocationCOO once, MatSetValuesCOO again and again.
#pragma once

#include "candidate.hpp"
#include "measure.hpp"

namespace compound::bench {

/// Fills result.coo. Collective. Every entry of the case's matrix is a coordinate of its own, in the order of its
/// blocks.
void time_coo(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress, CaseResult& result);

}  // namespace compound::bench
