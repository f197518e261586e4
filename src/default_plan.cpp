// Which plan a matrix gets by rule. What the limits rest on is in docs/performance.md.
#include <algorithm>
#include <bit>
#include <initializer_list>

#include "host/processor.hpp"
#include "plan.hpp"

namespace compound {

namespace {

/// Bytes of the words and columns of a matrix.
double bytes_of(const PatternStatistics& s, const Problem& p, std::string_view entry) {
  const std::size_t words = bytes_of(entry_kind(entry).shape(p.scalar.field, p.block), p.scalar);
  return double(s.entries) * double(words + sizeof(idx));
}

/// Row starts and lists cost 4 to 8 bytes a row, an empty row of y two visits: a list pays when most rows are empty.
bool wants_row_list(const PatternStatistics& s) { return s.empty_rows > s.rows / 2; }

namespace host_rule {

/// Neighbouring rows that touch x in places apart, over more of it than a core's second cache holds.
bool wants_x_ahead(const PatternStatistics& s, const Problem& problem) {
  return s.scattered > 0.5 &&
         s.mean_distance * problem.block.cols * bytes_of(problem.scalar) > double(host::processor().second_cache);
}

/// Compressed rows with column-major words, which lie on the parent's own arrays (no second copy): slices of 8, where
/// they are faster at all, are so by a few per cent (docs/performance.md). But words that are decoded go by slices, many
/// entries at a time. x is fetched ahead where rows are in no order.
Plan plan(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  Plan plan;
  set_layout(plan, entry_kind(entry).host_form == HostForm::unit_words ? "sell:8" : "csr");
  plan.schedule.fetch_x = wants_x_ahead(s, problem);
  return plan;
}

}  // namespace host_rule

namespace cuda_rule {

/// A schedule and the layout it is for.
struct Form {
  std::string_view layout;
  Traversal traversal;
  int lanes, unroll, threads, blocks;
};

/// What serves blocks of up to a size, in rows of up to a mean length; the first such row of a table is taken.
struct Row {
  int block_size;
  double mean_row;
  Form form;
};
constexpr double any_length = 1e9;
constexpr int any_size = 1 << 20;

/// Few rows, or blocks too large for one worker's registers: many workers a block row.
constexpr Row shared_rows[] = {
    {3, 16, {"csr", Traversal::rows, 16, 1, 128, 8}},
    {3, any_length, {"csr", Traversal::components, 32, 4, 128, 12}},
    {4, any_length, {"csr", Traversal::components, 32, 1, 128, 12}},
    {any_size, any_length, {"csr", Traversal::components, 32, 2, 128, 8}},
};
/// Small blocks in no order, as on meshes numbered by a generator: x comes from all over, and compressed rows with half
/// a warp each wait least for it.
constexpr Form scattered{"csr", Traversal::rows, 16, 2, 128, 8};
constexpr Form half_warps{"csr", Traversal::components, 16, 1, 128, 12};

/// One worker a scalar row, or some.
constexpr Row scalar_rows[] = {
    {2, any_length, {"sell:32", Traversal::components, 1, 2, 128, 8}},
    {any_size, any_length, {"sell:32", Traversal::components, 1, 1, 128, 8}},
};

/// One worker a block row, for matrices with rows enough for all of a device.
constexpr Row block_rows[] = {
    {1, any_length, {"sell:32", Traversal::components, 1, 2, 128, 8}},
    {2, any_length, {"sell:32", Traversal::rows, 1, 2, 128, 8}},
    {3, any_length, {"sell:32", Traversal::rows, 1, 1, 128, 8}},
    {any_size, any_length, {"sell:32", Traversal::rows, 1, 1, 128, 4}},
};

// In rows; an H200 has 132 multiprocessors of 2048 threads.
constexpr double few_rows = 4200;         ///< a warp each is less than half of the device
constexpr double many_rows = 40000;       ///< one worker each is enough, for blocks that keep it busy
constexpr double many_small_rows = 1e5;   ///< the same for blocks below 4x4
constexpr double workers_wanted = 65536;  ///< scalar rows x lanes, between the two

/// Beyond the second cache words pass through it: kept, they would only push x out.
constexpr double cached_bytes = 40e6;

int size_of(const Problem& p) { return std::max(p.block.rows, p.block.cols); }

/// Beyond this a block row's x and sums are too many for one worker.
constexpr int largest_in_registers = 8;

template <std::size_t n>
const Form& form_in(const Row (&table)[n], const PatternStatistics& s, const Problem& problem) {
  return std::ranges::find_if(
             table, [&](const Row& r) { return size_of(problem) <= r.block_size && s.mean_row <= r.mean_row; })
      ->form;
}

/// Padded slices would waste memory on a few long rows, and one worker each time.
bool is_uneven(const PatternStatistics& s) { return s.longest_row > 8 * s.mean_row + 32; }

/// Workers that share a scalar row, where there are too few of those; no more than its entries keep busy.
int lanes(const PatternStatistics& s, const Problem& problem) {
  const double wanted = std::min(workers_wanted / std::max(1.0, double(s.rows) * problem.block.rows), s.mean_row / 4);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1.0, wanted)))), 1, 4);
}

/// Kinds other than dense keep few words, which every worker of a row needs whole: they go by block rows. Few rows, and
/// uneven ones, take a quarter of a warp each.
constexpr Form quarter_warps{"csr", Traversal::rows, 8, 1, 128, 8};

/// The others take one worker each where there are rows enough, but several where blocks are large: each has sums and x
/// of as many registers.
struct KindRow {
  int block_size, words;  ///< up to so many
  double few_rows;
  int least_lanes, most_lanes;
  Form slices;
};
constexpr KindRow kind_rows[] = {
    {3, 2, 10000, 1, 8, {"sell:32", Traversal::rows, 1, 2, 128, 16}},
    {4, any_size, 10000, 1, 8, {"sell:32", Traversal::rows, 1, 2, 128, 8}},
    {8, any_size, 1000, 2, 4, {"sell:32", Traversal::rows, 2, 1, 128, 8}},
    {any_size, any_size, 1e9, 4, 8, {"sell:32", Traversal::rows, 4, 1, 128, 4}},
};
constexpr double kind_workers_wanted = 80000;

const KindRow& kind_row(const Problem& problem, std::string_view entry) {
  const int words = entry_kind(entry).shape(problem.scalar.field, problem.block).words;
  return *std::ranges::find_if(kind_rows,
                               [&](const KindRow& r) { return size_of(problem) <= r.block_size && words <= r.words; });
}

Form kind_slices(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  const KindRow& row = kind_row(problem, entry);
  const double wanted = std::min(kind_workers_wanted / std::max(1.0, double(s.rows)), s.mean_row / 3);
  const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1.0, wanted))));
  Form form = row.slices;
  form.lanes = std::clamp(power, row.least_lanes, row.most_lanes);
  return form;
}

Form kind_form(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  return s.rows <= kind_row(problem, entry).few_rows || is_uneven(s) ? quarter_warps : kind_slices(s, problem, entry);
}

/// By the number of rows: many workers each, several workers a scalar row, one a scalar row, one a block row.
Form form(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  if (entry != "dense") return kind_form(s, problem, entry);
  const int size = size_of(problem);
  if (s.rows <= few_rows || size > largest_in_registers || is_uneven(s)) return form_in(shared_rows, s, problem);
  if (s.rows >= (size < 4 ? many_small_rows : many_rows)) return form_in(block_rows, s, problem);
  if (size < 4 && s.scattered > 0.5) return scattered;
  if (size == 4 && s.rows <= 2 * few_rows) return half_warps;
  if (size == largest_in_registers) return form_in(shared_rows, s, problem);
  Form form = form_in(scalar_rows, s, problem);
  form.lanes = lanes(s, problem);
  return form;
}

Plan plan_of(const Form& f, const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  Plan plan;
  set_layout(plan, f.layout);
  plan.schedule.traversal = f.traversal;
  plan.schedule.lanes = f.lanes;
  plan.schedule.unroll = f.unroll;
  plan.schedule.threads = f.threads;
  plan.schedule.blocks = f.blocks;
  plan.schedule.cache = bytes_of(s, problem, entry) > cached_bytes ? Cache::stream : Cache::keep;
  return plan;
}

Plan plan(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  return plan_of(form(s, problem, entry), s, problem, entry);
}

/// All that form() can give for such blocks.
std::vector<Form> forms(const Problem& problem, std::string_view entry) {
  std::vector<Form> all;
  const auto add = [&](Form form, int least_lanes, int most_lanes) {
    for (form.lanes = least_lanes; form.lanes <= most_lanes; form.lanes *= 2) all.push_back(form);
  };
  const auto add_one = [&](const Form& form) { add(form, form.lanes, form.lanes); };
  /// As for long rows of a matrix with a row more than so many: the most lanes there are.
  const auto more_than = [](double rows) {
    return PatternStatistics{.rows = static_cast<idx>(rows) + 1, .mean_row = any_length};
  };
  if (entry != "dense") {
    const KindRow& row = kind_row(problem, entry);
    add_one(quarter_warps);
    add(row.slices, row.least_lanes, kind_slices(more_than(row.few_rows), problem, entry).lanes);
    return all;
  }
  const int size = size_of(problem);
  add_one(form_in(shared_rows, {.mean_row = 0}, problem));
  if (size <= 3) add_one(form_in(shared_rows, {.mean_row = any_length}, problem));
  if (size > largest_in_registers) return all;
  add_one(form_in(block_rows, {}, problem));
  if (size < 4) add_one(scattered);
  if (size == 4) add_one(half_warps);
  if (size < largest_in_registers)
    add(form_in(scalar_rows, {}, problem), 1, lanes(more_than(size == 4 ? 2 * few_rows : few_rows), problem));
  return all;
}

/// The schedule that suits a layout somebody asked for, where the rule would have taken another.
Plan base_for(const LayoutSpec& asked, const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  const Plan rule = plan(s, problem, entry);
  if ((asked.slice == 1) == (rule.layout.slice == 1)) return rule;
  if (entry != "dense")
    return plan_of(asked.slice == 1 ? quarter_warps : kind_slices(s, problem, entry), s, problem, entry);
  Form form = asked.slice == 1 ? form_in(shared_rows, s, problem) : form_in(scalar_rows, s, problem);
  if (asked.slice != 1) form.lanes = lanes(s, problem);
  return plan_of(form, s, problem, entry);
}

/// Other lanes and depths of unrolling of each kind of form.
std::vector<Plan> neighbours(const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  std::vector<Plan> plans;
  const auto vary = [&](Form form, std::initializer_list<int> lanes, std::initializer_list<int> unrolls) {
    for (const int l : lanes)
      for (const int u : unrolls) {
        form.lanes = l;
        form.unroll = u;
        plans.push_back(plan_of(form, s, problem, entry));
      }
  };
  if (entry != "dense") {
    vary(quarter_warps, {4, 8, 16}, {1, 2});
    vary(kind_slices(s, problem, entry), {1, 2, 4, 8}, {1, 2});
    return plans;
  }
  vary(form_in(shared_rows, s, problem), {16, 32}, {1, 2});
  vary(form_in(scalar_rows, s, problem), {1, 2, 4}, {1, 2});
  if (size_of(problem) <= largest_in_registers) vary(form_in(block_rows, s, problem), {1, 2}, {1, 2, 3});
  return plans;
}

}  // namespace cuda_rule

/// Of this kind, and what all plans of the rule have.
Plan completed(Plan plan, const PatternStatistics& s, const Problem& problem, std::string_view entry) {
  set_entry(plan, entry);
  plan.values = problem.scalar.precision;
  plan.layout.row_list = wants_row_list(s);
  return plan;
}

}  // namespace

Plan default_plan(const PatternStatistics& s, const Problem& problem, std::string_view backend,
                  std::string_view entry) {
  const Plan plan = backend == "cuda" ? cuda_rule::plan(s, problem, entry) : host_rule::plan(s, problem, entry);
  return completed(plan, s, problem, entry);
}

std::vector<Plan> default_cuda_plans(const Problem& problem, std::string_view entry) {
  std::vector<Plan> plans;
  for (const cuda_rule::Form& form : cuda_rule::forms(problem, entry))
    for (const Cache cache : {Cache::keep, Cache::stream})
      for (const bool row_list : {false, true}) {
        Plan plan = completed(cuda_rule::plan_of(form, {}, problem, entry), {}, problem, entry);
        plan.schedule.cache = cache;
        plan.layout.row_list = row_list;
        if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);  // two forms may be one
      }
  return plans;
}

std::vector<Plan> near_plans(const PatternStatistics& s, const Problem& problem, std::string_view backend,
                             std::string_view entry) {
  std::vector<Plan> plans = {default_plan(s, problem, backend, entry)};
  const auto add = [&](const Plan& plan) {
    const Plan candidate = completed(plan, s, problem, entry);
    if (std::ranges::find(plans, candidate) == plans.end()) plans.push_back(candidate);
  };
  if (backend != "cuda") {
    for (const char* layout : {"csr", "sell:8"}) {
      Plan plan = host_rule::plan(s, problem, entry);
      set_layout(plan, layout);
      add(plan);
    }
    return plans;
  }
  for (const Plan& plan : cuda_rule::neighbours(s, problem, entry)) add(plan);
  return plans;
}

Plan plan_for_layout(std::string_view layout, const PatternStatistics& s, const Problem& problem,
                     std::string_view backend, std::string_view entry) {
  if (backend != "cuda") return parse_plan(layout, default_plan(s, problem, backend, entry));
  const Plan base = cuda_rule::base_for(parse_layout(layout), s, problem, entry);
  return parse_plan(layout, completed(base, s, problem, entry));
}

}  // namespace compound
