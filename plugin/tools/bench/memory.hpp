// How much memory a case will take, and how much there is.
#pragma once

#include <mpi.h>

#include "options.hpp"

namespace compound::bench {

struct CaseSize {
  double block_rows = 0, entries = 0;
  BlockShape block{1, 1};
};

/// Bytes of the matrix and all candidates' copies, on all ranks together; from above for plans chosen by rule.
double estimated_bytes(const CaseSize& size, const Options& options, int ranks);

/// Bytes of the same on each rank's device, from above.
double estimated_device_bytes(const CaseSize& size, const Options& options, int ranks);

/// Throws usage_error when a device's share of the case is more than 95 % of what is free there.
void check_device_memory(const CaseSize& size, const Options& options, int ranks, double free_bytes);

/// Bytes that the machines of all ranks have free; collective. 0 where that cannot be found out.
double available_bytes(MPI_Comm comm);

/// Throws usage_error when the estimate is above the limit.
void check_memory(MPI_Comm comm, const CaseSize& size, const Options& options);

}  // namespace compound::bench
