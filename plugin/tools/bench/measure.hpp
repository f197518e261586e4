// Timing: warm-up, then rounds in which everything takes its turn; and what products are compared with, plain passes
// over memory.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "record.hpp"

namespace compound::bench {

/// Tells the user on stderr (rank 0) what takes long: nothing in the first two seconds, then once a second at most,
/// unless `surely`.
class Progress {
 public:
  explicit Progress(MPI_Comm comm, double interval_s = 1);
  void say(const std::string& what, bool surely = false);

 private:
  bool speaks_;
  double interval_s_, begin_s_, last_s_;
};

/// What takes its turn in every round.
struct Runner {
  std::string name;
  std::function<void()> product;
};

/// Collective; the samples of each runner. A sample is the mean of as many products as fill min_time_s, after one that
/// is not counted, so that each turn begins with caches of its own.
std::vector<Record> measure(MPI_Comm comm, const std::vector<Runner>& runners, const Options& options,
                            Progress& progress);

/// Adds runners that pass over memory, and what they are to a case: on the host "read", of the matrix' own arrays; on a
/// device its own "copy" and "read", in that order.
void add_yardsticks(MPI_Comm comm, const CaseMatrix& matrix, std::vector<Runner>& runners, Record& result);
/// Their samples, which are the last ones.
void take_yardsticks(const std::vector<Record>& samples, Record& result);

/// Sum of 64-bit integers with several accumulators, in the widest vectors that this processor has; no prefetch.
/// Integer sums cost the same whatever the bits are.
std::uint64_t streaming_sum(const void* data, std::size_t bytes);
/// "avx512", "avx2" or "baseline".
const char* streaming_sum_name();

}  // namespace compound::bench
