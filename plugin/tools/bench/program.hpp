// What the programs here share from main() to their work: PETSc, the plugin, the command line, files, the device,
// failures.
#pragma once

#include <petscsys.h>

#include <string>

#include "options.hpp"
#include "record.hpp"

namespace compound::bench {

struct Program {
  const char* name;
  const char* help;  ///< what it is for, with examples
  PetscErrorCode (*show_help)(MPI_Comm);
  int (*run)(MPI_Comm comm, int argc, char** argv);  ///< the exit status
  int failed = 1;                                    ///< exit status where run() throws
};

/// Of main(): its exit status.
int run_program(const Program& program, int argc, char** argv);

/// Whether -help was given: then that is said, and there is nothing else to do.
bool is_help(MPI_Comm comm);

/// Before a long run, not after it. The rank that writes gets the files' own names.
void check_outputs(MPI_Comm comm, Options& options);

/// Takes the device, where the options ask for one, and tells the circumstances of the run. Throws usage_error where
/// there is no device.
Record begin(MPI_Comm comm, int argc, char** argv, const Options& options);

}  // namespace compound::bench
