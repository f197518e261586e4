#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "device.hpp"
#include "failure.hpp"
#include "report.hpp"

namespace compound::bench {

// A case of a second is over before it would be read.
Progress::Progress(MPI_Comm comm, double interval_s)
    : speaks_(rank_of(comm) == 0),
      interval_s_(interval_s),
      begin_s_(MPI_Wtime()),
      last_s_(std::max(begin_s_, begin_s_ + 2 - interval_s)) {}

void Progress::say(const std::string& what, bool surely) {
  const double now = MPI_Wtime();
  if (!speaks_ || (now - last_s_ < interval_s_ && !surely)) return;
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

std::vector<Record> measure(MPI_Comm comm, const std::vector<Runner>& runners, const Options& o, Progress& progress) {
  std::vector<std::int64_t> products(runners.size());
  std::vector<std::vector<double>> seconds(runners.size());
  for (std::size_t i = 0; i < runners.size(); ++i) {
    progress.say("warming up " + runners[i].name);
    products[i] = calibrated(comm, runners[i], o);
  }
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < runners.size(); ++i) {
      progress.say("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ", " + runners[i].name);
      runners[i].product();
      seconds[i].push_back(time_products(comm, runners[i], products[i]));
    }
  std::vector<Record> all;
  for (std::size_t i = 0; i < runners.size(); ++i) all.push_back(record_of_samples(seconds[i], products[i]));
  return all;
}

namespace {

double sum_over_ranks(MPI_Comm comm, double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, comm);
  return mine;
}

/// The host's plain read of the matrix' own arrays.
Record host_read(MPI_Comm comm, const CaseMatrix& c, std::vector<Runner>& runners) {
  runners.push_back({"plain read", [parts = c.arrays(), area = std::size_t(c.area())] {
                       // Without a use of the sums the compiler might leave them out.
                       [[maybe_unused]] static volatile std::uint64_t sink;
                       for (const BlockArrays& p : parts) {
                         const auto entries = static_cast<std::size_t>(p.entries());
                         sink = streaming_sum(p.values, entries * area * sizeof(PetscScalar)) +
                                streaming_sum(p.column, entries * sizeof(PetscInt));
                       }
                     }});
  return {{"bytes", sum_over_ranks(comm, static_cast<double>(c.read_bytes))}, {"kernel", streaming_sum_name()}};
}

}  // namespace

void add_yardsticks(MPI_Comm comm, const CaseMatrix& c, std::vector<Runner>& runners, Record& r) {
  if (!used_device()) {
    r["read"] = host_read(comm, c, runners);
    return;
  }
  const auto add = [&](const char* name, const MemoryPass& pass) {
    runners.push_back({std::string("device ") + name, pass.run});
    r[name] = {{"bytes", sum_over_ranks(comm, pass.bytes)}, {"kernel", "device"}};
  };
  add("copy", used_device()->copy());
  add("read", used_device()->read());
}

void take_yardsticks(const std::vector<Record>& samples, Record& r) {
  const auto take = [&](const char* name, std::size_t from_the_end) {
    r[name].update(samples[samples.size() - from_the_end]);
    add_speed(r[name], "bytes");
  };
  take("read", 1);
  if (r.contains("copy")) take("copy", 2);
}

}  // namespace compound::bench
