// How the programs fail, on one rank or several: exceptions inside, one message and a non-zero exit at main().
#pragma once

#include <petscsys.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace compound::bench {

/// Of the running program, for messages; set once, by run_program().
void set_program_name(const std::string& name);
const std::string& program_name();

/// What was asked for cannot be had. Thrown with the same message on every rank, so that all may end in order.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A PETSc call failed, perhaps on this rank alone.
class petsc_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A candidate cannot be had here, for a reason that is worth a line but not the end of the run.
class left_out : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps PETSc's message of a failed call for must(), instead of printing its trace.
PetscErrorCode remember_error(MPI_Comm, int line, const char* function, const char* file, PetscErrorCode code,
                              PetscErrorType type, const char* message, void*);

/// Throws petsc_error with PETSc's message unless `code` is success.
void must(PetscErrorCode code);

int rank_of(MPI_Comm comm);
int ranks_of(MPI_Comm comm);

/// Runs `body`, which may fail on some ranks only; then all throw usage_error with the message of the lowest of those.
void collectively(MPI_Comm comm, const std::function<void()>& body);

}  // namespace compound::bench
