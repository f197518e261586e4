// Timing: warm-up, then rounds in which everything takes its turn.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"
#include "report.hpp"

namespace compound::bench {

/// Tells the user on stderr (rank 0) what takes long: nothing in the first two seconds, then once a second at most,
/// unless `surely`.
class Progress {
 public:
  explicit Progress(MPI_Comm comm);
  void say(const std::string& what, bool surely = false);

 private:
  bool speaks_;
  double begin_s_, last_s_;
};

/// What takes its turn in every round.
struct Runner {
  std::string name;
  std::function<void()> product;
};

/// Collective; one result for each runner. A sample is the mean of as many products as fill min_time_s, after one that
/// is not counted, so that each turn begins with caches of its own.
std::vector<Samples> measure(MPI_Comm comm, const std::vector<Runner>& runners, const Options& options,
                             Progress& progress);

}  // namespace compound::bench
