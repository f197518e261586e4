#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "candidate.hpp"
#include "failure.hpp"

namespace compound::bench {

Progress::Progress(MPI_Comm comm) : begin_s_(MPI_Wtime()), last_s_(begin_s_ + 1) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  speaks_ = rank == 0;
}

void Progress::say(const std::string& what, bool surely) {
  const double now = MPI_Wtime();
  if (!speaks_ || (now - last_s_ < 1 && !surely)) return;
  last_s_ = std::max(last_s_, now);
  std::fprintf(stderr, "%s: %s, %.0f s\n", program_name().c_str(), what.c_str(), now - begin_s_);
}

namespace {

/// Seconds per product of `count` of them.
double time_products(MPI_Comm comm, const Runner& r, std::int64_t count) {
  const double seconds = timed(comm, [&] {
    for (std::int64_t i = 0; i < count; ++i) r.product();
  });
  return seconds / static_cast<double>(count);
}

/// Warms up, and returns how many products fill the least time. Times are the slowest rank's: all decide alike.
std::int64_t calibrated(MPI_Comm comm, const Runner& r, const Options& o) {
  constexpr double most = 1e9;
  double spent_s = 0, least_s = INFINITY;
  std::int64_t done = 0;
  for (std::int64_t count = 1; done < o.warm_up || spent_s < o.min_time_s; count *= 2) {
    const double each_s = time_products(comm, r, count);
    least_s = std::min(least_s, each_s);
    spent_s += each_s * static_cast<double>(count);
    done += count;
    if (count > most) break;
  }
  const double wanted = least_s > 0 ? std::ceil(o.min_time_s / least_s) : 1;
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, most));
}

}  // namespace

std::vector<Samples> measure(MPI_Comm comm, const std::vector<Runner>& runners, const Options& o, Progress& progress) {
  std::vector<Samples> all(runners.size());
  for (std::size_t i = 0; i < runners.size(); ++i) {
    progress.say("warming up " + runners[i].name);
    all[i].products_a_sample = calibrated(comm, runners[i], o);
  }
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < runners.size(); ++i) {
      progress.say("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ", " + runners[i].name);
      runners[i].product();
      all[i].seconds.push_back(time_products(comm, runners[i], all[i].products_a_sample));
    }
  return all;
}

}  // namespace compound::bench
