#include "program.hpp"

#include <petsccompound.h>

#include <unistd.h>

#include <cstdio>
#include <new>

#include "device.hpp"
#include "failure.hpp"
#include "output_file.hpp"

namespace compound::bench {

namespace {

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool quote = word.empty() || word.find_first_of(" ;*?$&|<>()'\"") != std::string::npos;
    line += (i ? " " : "") + (quote ? "\"" + word + "\"" : word);
  }
  return line;
}

/// Failures that perhaps not all ranks share end the job: others may wait for this rank for ever.
int fail_alone(MPI_Comm comm, const Program& program, const char* what) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
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

int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

void check_outputs(MPI_Comm comm, Options& o) {
  if (!o.json.empty() && !has_json())
    throw usage_error("-json: this " + program_name() +
                      " was built without nlohmann-json (Debian: nlohmann-json3-dev)");
  if (!o.csv.empty() && o.csv == o.json) throw usage_error("-csv and -json name the same file; choose two");
  collectively(comm, [&] {
    if (rank_of(comm) > 0) return;
    if (!o.json.empty()) o.json = output_file("-json", o.json);
    if (!o.csv.empty()) o.csv = output_file("-csv", o.csv);
  });
}

void start_device(MPI_Comm comm, const Options& o) {
  if (!o.on_device) return;
  collectively(comm, [] {
    Device* const device = find_device();
    if (!device) throw usage_error("-device cuda: " + why_no_device());
    use_device(device);
  });
}

bool is_help(MPI_Comm comm) {
  PetscBool wanted = PETSC_FALSE;
  must(PetscOptionsHasHelp(nullptr, &wanted));
  if (wanted)
    must(PetscPrintf(comm, "%s's own options are at the top; -help intro prints them alone\n", program_name().c_str()));
  return wanted;
}

Circumstances circumstances(MPI_Comm comm, int argc, char** argv) {
  Circumstances c{this_machine(), these_versions(), date_now(), command_line(argc, argv), {}};
  if (used_device()) c.device = used_device()->facts();
  if (c.versions.petsc_debug && rank_of(comm) == 0)
    std::fprintf(stderr, "%s: this PETSc is a debugging build: its own times mean little\n", program_name().c_str());
  return c;
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
