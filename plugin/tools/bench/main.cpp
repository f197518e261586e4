// compound-bench: matrix types and plans side by side, interleaved in one run.
#include <iostream>

#include "failure.hpp"
#include "program.hpp"
#include "report.hpp"
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
  Record all = begin(comm, argc, argv, o);
  all.update({{"operation", word_of(operation_words, o.operation)},
              {"rounds", o.rounds},
              {"min_time_s", o.min_time_s},
              {"warm_up", o.warm_up},
              {"seed", o.seed}});
  Progress progress(comm);
  for (const CaseSpec& spec : cases_of(o)) {
    all["cases"].push_back(run_case(comm, spec, o, progress));
    collectively(comm, [&] {
      if (rank_of(comm) > 0) return;
      print_case(std::cout, all["cases"].back(), o);
      print_effect_of_order(std::cout, all["cases"]);
      write_results(o, all);
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
