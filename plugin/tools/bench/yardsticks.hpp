// What products are compared with: plain passes over memory.
#pragma once

#include "candidate.hpp"
#include "measure.hpp"

namespace compound::bench {

/// On the host a read of the matrix' own arrays, the last of the runners then; on a device its own copy and read, in
/// that order. The samples are still to come.
void add_yardsticks(MPI_Comm comm, const CaseMatrix& matrix, std::vector<Runner>& runners, Yardstick& read,
                    std::optional<Yardstick>& copy);

}  // namespace compound::bench
