#include "program.hpp"

#include <petsccompound.h>

#include <unistd.h>

#include <cstdio>
#include <new>

#include "device.hpp"
#include "failure.hpp"

namespace compound::bench {

namespace {

/// Failures that perhaps not all ranks share end the job: others may wait for this rank for ever.
int fail_alone(MPI_Comm comm, const Program& program, const char* what) {
  const int rank = rank_of(comm), size = ranks_of(comm);
  if (rank > 0) sleep(2);  // where all fail alike, one message is enough
  if (size == 1)
    std::fprintf(stderr, "%s: error: %s\n", program_name().c_str(), what);
  else
    std::fprintf(stderr, "%s: error on rank %d: %s\n", program_name().c_str(), rank, what);
  if (size > 1) MPI_Abort(comm, program.failed);
  return program.failed;
}

int guarded_run(const Program& program, MPI_Comm comm, int argc, char** argv) {
  try {
    return program.run(comm, argc, argv);
  } catch (const usage_error& e) {
    if (rank_of(comm) == 0) std::fprintf(stderr, "%s: error: %s\n", program_name().c_str(), e.what());
    return program.failed;
  } catch (const std::bad_alloc&) {
    return fail_alone(comm, program, "out of memory; choose a smaller case or fewer candidates");
  } catch (const std::exception& e) {
    return fail_alone(comm, program, e.what());
  }
}

}  // namespace

void check_outputs(MPI_Comm comm, Options& o) {
  if (!o.csv.empty() && o.csv == o.json) throw usage_error("-csv and -json name the same file; choose two");
  collectively(comm, [&] {
    if (rank_of(comm) > 0) return;
    if (!o.json.empty()) o.json = output_file("-json", o.json);
    if (!o.csv.empty()) o.csv = output_file("-csv", o.csv);
  });
}

bool is_help(MPI_Comm comm) {
  PetscBool wanted = PETSC_FALSE;
  must(PetscOptionsHasHelp(nullptr, &wanted));
  if (wanted)
    must(PetscPrintf(comm, "%s's own options are at the top; -help intro prints them alone\n", program_name().c_str()));
  return wanted;
}

Record begin(MPI_Comm comm, int argc, char** argv, const Options& o) {
  if (o.on_device)
    collectively(comm, [] {
      Device* const device = find_device();
      if (!device) throw usage_error("-device cuda: " + why_no_device());
      used_device() = device;
    });
  if (PetscDefined(USE_DEBUG) && rank_of(comm) == 0)
    std::fprintf(stderr, "%s: this PETSc is a debugging build: its own times mean little\n", program_name().c_str());
  return circumstances(argc, argv);
}

int run_program(const Program& program, int argc, char** argv) {
  set_program_name(program.name);
  if (PetscSetHelpVersionFunctions(program.show_help, nullptr)) return 2;
  if (PetscInitialize(&argc, &argv, nullptr, program.help)) return 2;
  (void)PetscPushErrorHandler(remember_error, nullptr);
  int code = program.failed;
  if (PetscCompoundInitialize())
    std::fprintf(stderr, "%s: error: the plugin does not fit this PETSc; rebuild both together\n", program.name);
  else
    code = guarded_run(program, PETSC_COMM_WORLD, argc, argv);
  (void)PetscPopErrorHandler();
  // Complaints about unused options were ours already.
  (void)PetscOptionsSetValue(nullptr, "-options_left", "no");
  return PetscFinalize() && code == 0 ? 2 : code;
}

}  // namespace compound::bench
