// One case from its description to its results.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "options.hpp"
#include "report.hpp"

namespace compound::bench {

/// A shape of blocks and a size of the generated matrix, or a file.
struct CaseSpec {
  BlockShape block;  ///< 0x0: the file's own
  Grid grid;         ///< kind null: the file
};

/// Every shape of blocks with every size.
std::vector<CaseSpec> cases_of(const Options& options);

/// Collective. Throws usage_error, petsc_error.
CaseResult run_case(MPI_Comm comm, const CaseSpec& spec, const Options& options, Progress& progress);

}  // namespace compound::bench
