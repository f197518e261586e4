// compound-bench: matrix types and plans side by side, interleaved in one run.
#include <iostream>

#include "failure.hpp"
#include "program.hpp"
#include "run_case.hpp"

namespace compound::bench {

namespace {

const char help[] =
    "compound-bench: times matrix-vector products of PETSc matrix types and of plans of baijcompound, interleaved in "
    "one "
    "run.\n"
    "  compound-bench -types aij,baij,baijcompound -megabytes 1500 -block_size 2,3,4\n"
    "  compound-bench -matrix file.mtx -plans \"csr;sell:8;csr values=float\" -json results.json\n\n";

int run(MPI_Comm comm, int argc, char** argv) {
  check_words(argc, argv);
  if (is_help(comm)) return 0;
  Options o = read_options();
  check_unused_options(true, option_names());
  check_outputs(comm, o);
  start_device(comm, o);
  const Circumstances of_run = circumstances(comm, argc, argv);
  Progress progress(comm);
  std::vector<CaseResult> results;
  for (const CaseSpec& spec : cases_of(o)) {
    results.push_back(run_case(comm, spec, o, progress));
    if (rank_of(comm) == 0) print_table(std::cout, results.back(), o);
    if (rank_of(comm) == 0) print_effect_of_order(std::cout, results);
    collectively(comm, [&] {
      if (rank_of(comm) > 0) return;
      if (!o.json.empty()) write_json(o.json, of_run, o, results);
      if (!o.csv.empty()) write_csv(o.csv, o, results);
    });
  }
  check_unused_options(false, option_names());
  return 0;
}

}  // namespace

}  // namespace compound::bench

int main(int argc, char** argv) {
  namespace bench = compound::bench;
  return bench::run_program({"compound-bench", bench::help, bench::show_help, bench::run}, argc, argv);
}
