// Which plan a matrix gets by rule. What the limits rest on is in docs/performance.md.
#include <algorithm>
#include <bit>

#include "plan.hpp"

namespace compound {

namespace {

/// Bytes of the values and columns of a matrix of dense blocks.
double bytes_of(const PatternStatistics& s, const Problem& p) {
  return double(s.entries) * (double(p.block.rows) * p.block.cols * bytes_of(p.scalar) + sizeof(idx));
}

/// Row starts and lists cost 4 to 8 bytes a row, an empty row of y two visits: a list pays when most rows are empty.
bool wants_row_list(const PatternStatistics& s) { return s.empty_rows > s.rows / 2; }

namespace host_rule {

/// Neighbouring rows that touch x in places apart, over more of it than a core's second cache holds.
bool wants_x_ahead(const PatternStatistics& s, const Problem& problem) {
  constexpr double cached_bytes = 1 << 20;
  return s.scattered > 0.5 && s.mean_distance * problem.block.cols * bytes_of(problem.scalar) > cached_bytes;
}

/// Short, even rows that stay in a core's second cache: there the end of each row costs more than its entries, and
/// slices of 8 share it (docs/performance.md). Larger matrices stream equally fast from compressed rows, without a
/// second copy.
bool wants_slices(const PatternStatistics& s, const Problem& problem) {
  constexpr double cached_bytes = 1 << 20, short_row = 16;
  const double bytes = double(s.entries) * problem.block.rows * problem.block.cols * bytes_of(problem.scalar);
  const bool small_block = problem.block.rows == problem.block.cols && problem.block.rows <= 8;
  return s.entries > 0 && problem.scalar.field == Field::real && small_block && bytes <= cached_bytes &&
         s.mean_row < short_row && s.longest_row <= 1.5 * s.mean_row && s.rows >= 64;
}

/// Compressed rows with column-major words, which lie on the parent's own arrays (no second copy); slices of 8 for
/// short, even rows of at most 1 MB; x fetched ahead where rows are in no order.
Plan plan(const PatternStatistics& s, const Problem& problem) {
  Plan plan;
  set_layout(plan, wants_slices(s, problem) ? "sell:8" : "csr");
  plan.schedule.fetch_x = wants_x_ahead(s, problem);
  return plan;
}

}  // namespace host_rule

namespace cuda_rule {

/// A schedule and the layout it is for.
struct Form {
  std::string_view layout;
  Traversal traversal;
  int unroll, threads, blocks;
};

/// One worker a block row, for matrices with rows enough for all of a device: by block size, the last row for larger
/// ones.
struct LargeRow {
  int block_size;
  Form form;
};
constexpr LargeRow large[] = {
    {1, {"sell:32", Traversal::components, 2, 128, 8}},
    {2, {"sell:32", Traversal::rows, 2, 128, 8}},
    {3, {"sell:32", Traversal::rows, 1, 128, 8}},
    {8, {"sell:32", Traversal::rows, 1, 128, 4}},
};
constexpr Form scalar_rows{"sell:32", Traversal::components, 1, 128, 8};
constexpr Form warps{"csr", Traversal::components, 1, 128, 12};

// In rows; an H200 has 132 multiprocessors of 2048 threads.
constexpr double few_rows = 4200;         ///< a warp each is less than half of the device
constexpr double many_rows = 40000;       ///< one worker each is enough, for blocks that keep it busy
constexpr double many_small_rows = 1e5;   ///< the same for blocks below 4x4
constexpr double workers_wanted = 65536;  ///< scalar rows x lanes, between the two

/// Beyond the second cache words pass through it: kept, they would only push x out.
constexpr double cached_bytes = 40e6;

const Form& large_form(int block_size) {
  for (const LargeRow& row : large)
    if (block_size <= row.block_size) return row.form;
  return warps;
}

/// Padded slices would waste memory on a few long rows, and one worker each time.
bool is_uneven(const PatternStatistics& s) { return s.longest_row > 8 * s.mean_row + 32; }

/// Beyond this a block row's x and sums are too many for one worker.
constexpr int largest_in_registers = 8;

int size_of(const Problem& problem) { return std::max(problem.block.rows, problem.block.cols); }

const Form& form(const PatternStatistics& s, const Problem& problem) {
  const int size = size_of(problem);
  if (s.rows <= few_rows || size > largest_in_registers || is_uneven(s)) return warps;
  if (s.rows >= (size < 4 ? many_small_rows : many_rows)) return large_form(size);
  return size == largest_in_registers ? warps : scalar_rows;
}

/// Workers that share a scalar row, where there are too few of those; no more than its entries keep busy.
int lanes(const PatternStatistics& s, const Problem& problem) {
  const double wanted = std::min(workers_wanted / std::max(1.0, double(s.rows) * problem.block.rows), s.mean_row / 4);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1.0, wanted)))), 1, 4);
}

Plan plan_of(const Form& f, int lanes, bool stream) {
  Plan plan;
  set_layout(plan, f.layout);
  plan.schedule.traversal = f.traversal;
  plan.schedule.lanes = lanes;
  plan.schedule.unroll = f.unroll;
  plan.schedule.threads = f.threads;
  plan.schedule.blocks = f.blocks;
  plan.schedule.cache = stream ? Cache::stream : Cache::keep;
  return plan;
}

/// By the number of rows: a warp each, several workers a scalar row, one a scalar row, one a block row.
Plan plan(const PatternStatistics& s, const Problem& problem) {
  const Form& f = form(s, problem);
  const bool stream = bytes_of(s, problem) > cached_bytes;
  Plan plan = plan_of(f, &f == &warps ? 32 : &f == &scalar_rows ? lanes(s, problem) : 1, stream);
  // Small blocks take more steps until a worker has loads enough under way.
  if (&f == &warps && problem.block.rows <= 3) plan.schedule.unroll = 4;
  if (&f == &scalar_rows && problem.block.rows <= 2) plan.schedule.unroll = 2;
  return plan;
}

/// The schedule that suits a layout somebody asked for, where the rule would have taken another.
Plan base_for(const LayoutSpec& asked, const PatternStatistics& s, const Problem& problem) {
  const Plan rule = plan(s, problem);
  if ((asked.slice == 1) == (rule.layout.slice == 1)) return rule;
  const bool stream = rule.schedule.cache == Cache::stream;
  return asked.slice == 1 ? plan_of(warps, 32, stream) : plan_of(scalar_rows, lanes(s, problem), stream);
}

}  // namespace cuda_rule

Plan completed(Plan plan, const PatternStatistics& s, const Problem& problem) {
  plan.values = problem.scalar.precision;
  plan.layout.row_list = wants_row_list(s);
  return plan;
}

}  // namespace

Plan default_plan(const PatternStatistics& s, const Problem& problem, std::string_view backend) {
  return completed(backend == "cuda" ? cuda_rule::plan(s, problem) : host_rule::plan(s, problem), s, problem);
}

std::vector<Plan> near_plans(const PatternStatistics& s, const Problem& problem, std::string_view backend) {
  std::vector<Plan> plans = {default_plan(s, problem, backend)};
  const auto add = [&](const Plan& plan) {
    const Plan candidate = completed(plan, s, problem);
    if (std::ranges::find(plans, candidate) == plans.end()) plans.push_back(candidate);
  };
  if (backend != "cuda") {
    for (const char* layout : {"csr", "sell:8"}) {
      Plan plan = host_rule::plan(s, problem);
      set_layout(plan, layout);
      add(plan);
    }
    return plans;
  }
  using namespace cuda_rule;
  const bool stream = bytes_of(s, problem) > cached_bytes;
  for (const int lanes : {16, 32}) add(plan_of(warps, lanes, stream));
  for (const int lanes : {1, 2, 4})
    for (const int unroll : {1, 2}) {
      Plan plan = plan_of(scalar_rows, lanes, stream);
      plan.schedule.unroll = unroll;
      add(plan);
    }
  if (size_of(problem) > largest_in_registers) return plans;
  for (const int lanes : {1, 2, 4}) add(plan_of(large_form(size_of(problem)), lanes, stream));
  for (const int unroll : {1, 2, 3}) {
    Plan plan = plan_of(large_form(size_of(problem)), 1, stream);
    plan.schedule.unroll = unroll;
    add(plan);
  }
  return plans;
}

Plan plan_for_layout(std::string_view layout, const PatternStatistics& s, const Problem& problem,
                     std::string_view backend) {
  if (backend != "cuda") return parse_plan(layout, default_plan(s, problem, backend));
  return parse_plan(layout, completed(cuda_rule::base_for(parse_layout(layout), s, problem), s, problem));
}

}  // namespace compound
