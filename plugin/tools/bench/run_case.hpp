// One case from its description to its results.
#pragma once

#include "measure.hpp"
#include "prepare_case.hpp"

namespace compound::bench {

/// Collective. Throws usage_error, petsc_error.
Record run_case(MPI_Comm comm, const CaseSpec& spec, const Options& options, Progress& progress);

// Parts of it, each collective.

/// Krylov methods on types: a row for each.
Record time_ksp(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress);

/// KSPMatSolve() by types, beside KSPSolve(): a row for each type, method and number of columns.
Record time_columns(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress);

/// Steps of a program by types, each begun anew in every round: insertion of block rows and assembly, two solves, new
/// values, a solve: a row for each.
Record time_assembly(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress);

/// Assembly from coordinates by types, MatSetPreallocationCOO once, MatSetValuesCOO again and again: rows "coo", and
/// their bytes. Every entry of the case's matrix is a coordinate of its own, in the order of its blocks.
Record time_coo(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress);

/// Products with dense matrices by types, beside those with one vector: a row for each type and number of columns.
Record time_dense(MPI_Comm comm, const CaseMatrix& matrix, const Options& options, Progress& progress);

}  // namespace compound::bench
