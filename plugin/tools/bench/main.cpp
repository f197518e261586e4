// compound-bench: matrix types and plans side by side, interleaved in one run.
#include <petsccompound.h>

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <new>

#include "device.hpp"
#include "failure.hpp"
#include "output_file.hpp"
#include "run_case.hpp"

namespace compound::bench {

namespace {

const char help[] =
    "compound-bench: times matrix-vector products of PETSc matrix types and of plans of baijcompound, interleaved in "
    "one "
    "run.\n"
    "  compound-bench -types aij,baij,baijcompound -megabytes 1500 -block_size 2,3,4\n"
    "  compound-bench -matrix file.mtx -plans \"csr;sell:8;csr values=float\" -json results.json\n\n";

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool quote = word.empty() || word.find_first_of(" ;*?$&|<>()'\"") != std::string::npos;
    line += (i ? " " : "") + (quote ? "\"" + word + "\"" : word);
  }
  return line;
}

int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Before a long run, not after it. The rank that writes gets the files' own names.
void check_outputs(MPI_Comm comm, Options& o) {
  if (!o.json.empty() && !has_json())
    throw usage_error("-json: this compound-bench was built without nlohmann-json (Debian: nlohmann-json3-dev)");
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

void run(MPI_Comm comm, int argc, char** argv) {
  check_words(argc, argv);
  PetscBool wants_help = PETSC_FALSE;
  must(PetscOptionsHasHelp(nullptr, &wants_help));
  if (wants_help) {
    must(PetscPrintf(comm, "compound-bench's own options are at the top; -help intro prints them alone\n"));
    return;
  }
  Options o = read_options();
  check_unused_options(true);
  check_outputs(comm, o);
  start_device(comm, o);
  Circumstances circumstances{this_machine(), these_versions(), date_now(), command_line(argc, argv), {}};
  if (used_device()) circumstances.device = used_device()->facts();
  if (circumstances.versions.petsc_debug && rank_of(comm) == 0)
    std::fprintf(stderr, "compound-bench: this PETSc is a debugging build: its own times mean little\n");
  Progress progress(comm);
  std::vector<CaseResult> results;
  for (const CaseSpec& spec : cases_of(o)) {
    results.push_back(run_case(comm, spec, o, progress));
    if (rank_of(comm) == 0) print_table(std::cout, results.back(), o);
    if (rank_of(comm) == 0) print_effect_of_order(std::cout, results);
    collectively(comm, [&] {
      if (rank_of(comm) > 0) return;
      if (!o.json.empty()) write_json(o.json, circumstances, o, results);
      if (!o.csv.empty()) write_csv(o.csv, o, results);
    });
  }
  check_unused_options(false);
}

/// Failures that perhaps not all ranks share end the job: others may wait for this rank for ever.
int fail_alone(MPI_Comm comm, const char* what) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank > 0) sleep(2);  // where all fail alike, one message is enough
  if (size == 1)
    std::fprintf(stderr, "compound-bench: error: %s\n", what);
  else
    std::fprintf(stderr, "compound-bench: error on rank %d: %s\n", rank, what);
  if (size > 1) MPI_Abort(comm, 1);
  return 1;
}

int guarded_run(MPI_Comm comm, int argc, char** argv) {
  try {
    run(comm, argc, argv);
    return 0;
  } catch (const usage_error& e) {
    if (rank_of(comm) == 0) std::fprintf(stderr, "compound-bench: error: %s\n", e.what());
    return 1;
  } catch (const std::bad_alloc&) {
    return fail_alone(comm, "out of memory; choose a smaller case or fewer candidates");
  } catch (const std::exception& e) {
    return fail_alone(comm, e.what());
  }
}

}  // namespace

}  // namespace compound::bench

int main(int argc, char** argv) {
  namespace bench = compound::bench;
  if (PetscSetHelpVersionFunctions(bench::show_help, nullptr)) return 2;
  if (PetscInitialize(&argc, &argv, nullptr, bench::help)) return 2;
  (void)PetscPushErrorHandler(bench::remember_error, nullptr);
  int code = 1;
  if (PetscCompoundInitialize())
    std::fprintf(stderr, "compound-bench: error: the plugin does not fit this PETSc; rebuild both together\n");
  else
    code = bench::guarded_run(PETSC_COMM_WORLD, argc, argv);
  (void)PetscPopErrorHandler();
  // Complaints about unused options were ours already.
  (void)PetscOptionsSetValue(nullptr, "-options_left", "no");
  return PetscFinalize() && code == 0 ? 2 : code;
}
