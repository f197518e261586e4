// The cases of a run, and their matrices.
#pragma once

#include <string>
#include <vector>

#include "candidate.hpp"
#include "measure.hpp"
#include "options.hpp"

namespace compound::bench {

/// A shape of blocks and a size of the generated matrix, or a file.
struct CaseSpec {
  BlockShape block;  ///< 0x0: the file's own
  Grid grid;         ///< kind null: the file
  std::string ordering = "natural";
  BlockShape regrouped = {};  ///< of the products; 0x0: as they are

  BlockShape multiplied() const { return regrouped.rows > 0 ? regrouped : block; }
};

/// Every size with every shape of blocks in every order, and in every shape of -regroup.
std::vector<CaseSpec> cases_of(const Options& options);

/// Of its matrix: "7-point grid, 40^3 nodes, quaternion blocks", or the file.
std::string describe(const CaseSpec& spec, const Options& options);
/// The same with the order of its rows.
std::string description_of(const CaseSpec& spec, const Options& options);

/// Collective. Throws usage_error where the case does not fit in memory, petsc_error.
CaseMatrix prepare(MPI_Comm comm, const CaseSpec& spec, const Options& options, Progress& progress);

/// A small generated matrix whose blocks are of the case's shape.
CaseMatrix small_case(MPI_Comm comm, const BlockShape& block, const Options& options);

}  // namespace compound::bench
