// What a program waits for between its blocks and its solutions.
#include <fstream>
#include <optional>
#include <span>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "device.hpp"
#include "dominant_rows.hpp"
#include "failure.hpp"
#include "run_case.hpp"
#include "solve.hpp"

namespace compound::bench {

namespace {

/// The steps of one round, in their order.
constexpr const char* steps[] = {"insert_s", "first_solve_s", "second_solve_s", "new_values_s", "solve_after_s"};

/// Memory of this process, in bytes; -1 where the system does not tell.
class PeakMemory {
 public:
  PeakMemory() {
#ifdef __GLIBC__
    malloc_trim(0);  // what earlier rounds freed is not taken for memory of this one
#endif
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = status("VmRSS:");
  }
  double grown() const {
    const double most = status("VmHWM:");
    return before_ < 0 || most < 0 ? -1 : most - before_;
  }

 private:
  static double status(const std::string& key) {
    std::ifstream in("/proc/self/status");
    double kilobytes;
    for (std::string word; in >> word;)
      if (word == key) return in >> kilobytes ? 1024 * kilobytes : -1;
    return -1;
  }
  double before_;
};

/// What all types are given.
struct Input {
  Mat parent;
  BlockRows rows;
  RowLengths lengths;
  PetscInt block_size;
};

Matrix preallocated(const Input& in, const std::string& type) {
  Matrix A = empty_like(in.parent, type);
  must(MatXAIJSetPreallocation(A, in.block_size, in.lengths.diagonal.data(), in.lengths.off_diagonal.data(), nullptr,
                               nullptr));
  must(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));  // blocks lie by columns
  must(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  return A;
}

void add_rows(Mat A, const Input& in) {
  const std::size_t area = static_cast<std::size_t>(in.block_size) * static_cast<std::size_t>(in.block_size);
  for (std::size_t r = 1; r < in.rows.start.size(); ++r) {
    const auto first = static_cast<std::size_t>(in.rows.start[r - 1]);
    const auto row = static_cast<PetscInt>(in.rows.first + static_cast<std::int64_t>(r) - 1);
    must(MatSetValuesBlocked(A, 1, &row, in.rows.start[r] - in.rows.start[r - 1], in.rows.column.data() + first,
                             in.rows.values.data() + first * area, ADD_VALUES));
  }
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

void to_small_residuals(KSP ksp) { must(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT)); }

void solve_now(Solve& solve) {
  const KSPConvergedReason reason = solve.run();
  if (reason <= 0)
    throw usage_error(std::string("-types TYPE/assembly: a solve ended with ") + KSPConvergedReasons[reason] +
                      "; choose another method by -ksp_type and -pc_type");
}

double sum_over_ranks(MPI_Comm comm, double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, comm);
  return mine;
}

/// One type from nothing to its solutions: seconds of each step are added to `samples`. What is known afterwards is in
/// the record.
Record run_round(MPI_Comm comm, const Input& in, const std::string& type, std::vector<double>* samples) {
  Matrix A;
  std::optional<Solve> solve;
  const PeakMemory memory;
  const double free_before = used_device() ? used_device()->free_bytes() : 0;
  const std::function<void()> bodies[] = {[&] {
                                            A = preallocated(in, type);
                                            add_rows(A, in);
                                          },
                                          [&] {
                                            solve.emplace(A, is_ours(type) ? "cgcompound" : KSPCG, to_small_residuals);
                                            solve_now(*solve);
                                          },
                                          [&] { solve_now(*solve); },
                                          [&] {
                                            must(MatZeroEntries(A));
                                            add_rows(A, in);
                                          },
                                          [&] { solve_now(*solve); }};
  for (std::size_t k = 0; k < std::size(bodies); ++k) samples[k].push_back(timed(comm, bodies[k]));
  Record facts = {{"ksp", solve->method()},
                  {"pc", solve->preconditioner()},
                  {"iterations", solve->iterations()},
                  {"residual", solve->residual()}};
  const double grown = memory.grown();
  double least = grown;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm);
  if (least >= 0) facts["host_peak_bytes"] = sum_over_ranks(comm, grown);
  if (used_device()) facts["device_bytes"] = sum_over_ranks(comm, free_before - used_device()->free_bytes());
  return facts;
}

/// The first round is kept apart: it is that of a process which has nothing loaded and nothing compiled.
struct Samples {
  std::vector<double> of_step[std::size(steps)];
  std::vector<double> whole(std::size_t from) const {
    std::vector<double> sums(of_step[0].size() - from, 0.0);
    for (const std::vector<double>& s : of_step)
      for (std::size_t round = from; round < s.size(); ++round) sums[round - from] += s[round];
    return sums;
  }
};

void add_times(const Samples& samples, const Samples& of_first_type, Record* row) {
  for (std::size_t k = 0; k < std::size(steps); ++k) {
    const std::span all(samples.of_step[k]);
    (*row)[steps[k]] = statistics_of(all.subspan(1)).median;
  }
  const Statistics whole = statistics_of(samples.whole(1));
  row->update({{"whole_s", whole.median},
               {"whole_spread", whole.spread},
               {"whole_samples_s", samples.whole(1)},
               {"times_first", paired_ratio(of_first_type.whole(1), samples.whole(1))},
               {"first_round_s", samples.whole(0).front()}});
}

}  // namespace

Record time_assembly(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  if (!c.parent || c.block_rows != c.block_columns)
    throw usage_error("-types TYPE/assembly takes square matrices of square blocks only");
  Input in = {c.parent, with_diagonal(c, dominant_diagonal(c.parent)), {}, c.block.rows};
  in.lengths = row_lengths(in.rows, in.rows.first, in.rows.first + in.rows.rows());
  std::vector<Samples> samples(o.inserted.size());
  Record rows;
  for (int round = 0; round <= o.rounds; ++round)
    for (std::size_t i = 0; i < o.inserted.size(); ++i) try {
        progress.say("assembling " + o.inserted[i] + ", round " + std::to_string(round));
        const Record facts = run_round(comm, in, o.inserted[i], samples[i].of_step);
        if (round == 0) rows.push_back({{"type", o.inserted[i]}});
        rows[i].update(facts);
      } catch (const petsc_error& e) {
        throw petsc_error("-types " + o.inserted[i] + "/assembly: " + e.what());
      }
  for (std::size_t i = 0; i < samples.size(); ++i) add_times(samples[i], samples.front(), &rows[i]);
  return rows;
}

}  // namespace compound::bench
