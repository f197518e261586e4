#include "calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "options.hpp"
#include "parent_matrix.hpp"
#include "planner/default_plan.hpp"
#include "planner/tuner.hpp"

namespace compound::bench::tune {

namespace {

/// Of a grid of `points`, with blocks of `size`.
struct Cube {
  const char* points;
  int size;
  double caches;  ///< bytes of its words and columns over those of the second cache
  bool shuffled = false;
  LongRows longer = {};
};

// On both sides of the second cache, blocks small and large, in order and not, with a few long rows, and hardly
// anything: what the seconds of a table are told apart by. The model chooses among matrices like these.
constexpr Cube cubes[] = {{"7", 1, 0.003},
                          {"7", 1, 0.4},
                          {"7", 1, 3},
                          {"27", 1, 0.4},
                          {"27", 1, 2},
                          {"27", 1, 1.5, true},
                          {"7", 1, 1.5, false, {4, 1000}},
                          {"7", 2, 2},
                          {"27", 3, 0.4},
                          {"27", 3, 3},
                          {"7", 3, 1.5, true},
                          {"27", 6, 2}};

std::string description(const Cube& c) {
  return std::string(c.points) + "-point cube, blocks of " + block_text({c.size, c.size}) +
         (c.shuffled ? ", shuffled" : "") + (c.longer.count > 0 ? ", long rows" : "");
}

Pattern pattern(const Cube& c, double cache) {
  const GridKind& kind = *find_grid(c.points);
  const Grid of_size = grid_of_entries(kind, c.caches * cache / (8.0 * c.size * c.size + 4));
  const Grid grid(&kind, std::max<std::int64_t>(4, of_size.sides.x));
  const Generated matrix{grid, Shuffle(grid.rows(), c.shuffled ? grid.rows() : 1, 1), c.longer};
  const BlockRows rows = generated_rows(matrix, 0, grid.rows());
  Pattern p{static_cast<idx>(grid.rows()), static_cast<idx>(grid.rows()), {}, {}};
  p.start.assign(rows.start.begin(), rows.start.end());
  p.column.assign(rows.column.begin(), rows.column.end());
  return p;
}

/// By the plans that the model chooses among.
std::vector<Timed> timed(const Cube& cube, Backend& on, double cache) {
  // Twelve matrices in less than a minute.
  MeasureLimits limits;
  limits.seconds = 3;
  limits.timing_s = 0.5;
  limits.products = std::numeric_limits<double>::infinity();
  const Pattern p = pattern(cube, cache);
  const PatternStatistics s = statistics(p.view());
  const Problem problem{{cube.size, cube.size}, {Field::real, Precision::double_}};
  const std::vector<double> blocks(p.column.size() * cube.size * cube.size, 1.0);
  std::vector<Plan> plans = candidates(Search::few, default_plan(s, problem, on.name()), s, problem, on);
  leave_out_large(plans, p.view(), problem, on, {.padding = 4});
  const Measurement m = measure(p.view(), problem, plans, on, blocks.data(), limits);
  Predictor predictor(p.view(), s, problem, on);
  std::vector<Timed> all;
  for (const Measured& one : m.all)
    if (one.is_timed())
      all.push_back({predictor.work(one.plan), one.seconds, one.seconds / m.all.front().seconds, 1.0 / m.timed});
  return all;
}

}  // namespace

Calibration calibrated(Backend& on, const DeviceTraits& device, const DeviceTable& nearest,
                       const std::function<void(const std::string&)>& report) {
  Calibration c{nearest};
  c.table.name = on.machine().device;
  const double larger = double(device.second_cache_bytes) / nearest.cache;
  for (double DeviceTable::*bytes :
       {&DeviceTable::kept_all, &DeviceTable::kept_none, &DeviceTable::streamed_all, &DeviceTable::streamed_none})
    c.table.*bytes *= larger;
  c.table.multiprocessors = device.multiprocessors;
  c.table.cache = double(device.second_cache_bytes);
  if (device.bandwidth > 0) c.table.bandwidth = device.bandwidth;
  std::vector<Timed> all;
  for (const Cube& cube : cubes) {
    report(description(cube));
    const std::vector<Timed> of_cube = timed(cube, on, c.table.cache);
    all.insert(all.end(), of_cube.begin(), of_cube.end());
  }
  c.table = fitted(c.table, all);
  std::vector<double> errors;
  for (const Timed& t : all) errors.push_back(std::abs(seconds_of(c.table, t.work) / t.seconds - 1));
  std::ranges::sort(errors);
  c.plans = static_cast<int>(errors.size());
  if (errors.empty()) throw error(ErrorKind::unsupported, "no plan could be timed on " + c.table.name);
  c.mean_error = std::accumulate(errors.begin(), errors.end(), 0.0) / c.plans;
  c.median_error = errors[errors.size() / 2];
  return c;
}

}  // namespace compound::bench::tune
