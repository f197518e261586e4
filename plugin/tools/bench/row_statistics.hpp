// Distributions over the block rows of a matrix.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "parent_matrix.hpp"

namespace compound::bench {

/// The least value that at least a quarter, a half, three quarters of the rows do not exceed, and both ends.
struct Quartiles {
  std::int64_t least = 0, lower = 0, median = 0, upper = 0, most = 0;
  bool operator==(const Quartiles&) const = default;
};

/// Of the numbers of all ranks together; collective. Zeros where there are none.
Quartiles quartiles(MPI_Comm comm, std::vector<std::int64_t> numbers);

struct RowQuartiles {
  Quartiles lengths;     ///< blocks
  Quartiles bandwidths;  ///< largest less smallest block column: 0 for rows of one block or none. MSF 2020, eq. 3
};

/// Of a matrix in one or two parts on each rank.
RowQuartiles row_quartiles(MPI_Comm comm, const std::vector<BlockArrays>& parts);

}  // namespace compound::bench
