// Which plan a matrix gets by rule. What the limits rest on is in docs/performance.md.
#include "planner/default_plan.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/error.hpp"
#include "host/processor.hpp"
#include "layout/family.hpp"
#include "plan/keywords.hpp"
#include "plan/value_order.hpp"
#include "planner/device_rule.hpp"
#include "planner/device_tables.hpp"

namespace compound {

namespace {

/// Row starts and lists cost 4 to 8 bytes a row, an empty row of y two visits: a list pays when most rows are empty.
bool wants_row_list(const PatternStatistics& s) { return s.empty_rows > s.rows / 2; }

namespace host_rule {

/// Neighbouring rows that touch x in places apart, over more of it than a core's second cache holds.
bool wants_x_ahead(const PatternStatistics& s, const Problem& problem) {
  return s.scattered > 0.5 &&
         s.mean_distance * problem.block.cols * bytes_of(problem.scalar) > double(host::processor().second_cache);
}

/// Compressed rows with words as the parent has them, which lie on its own arrays (no second copy): slices of 8, where
/// they are faster at all, are so by a few per cent (docs/performance.md). But words that are decoded go by slices,
/// many entries at a time. x is fetched ahead where rows are in no order.
Plan plan(const PatternStatistics& s, const Problem& problem, std::string_view entry, Precision values) {
  Plan plan;
  set_layout(plan, entry_kind(entry).host_form == HostForm::unit_words ? "sell:8" : "csr");
  if (needs_order(problem) && entry == "dense" && values == problem.scalar.precision) set_words_in_rows(plan.layout);
  plan.schedule.fetch_x = wants_x_ahead(s, problem);
  return plan;
}

}  // namespace host_rule

const DevicePolicy& policy_of(std::string_view backend) { return policy_for(device_traits(backend)); }

/// Of this kind, and what all plans of the rule have.
Plan completed(Plan plan, const PatternStatistics& s, const Problem& problem, std::string_view entry,
               ValuePrecision values) {
  set_entry(plan, entry);
  plan.values = values.value_or(problem.scalar.precision);
  plan.layout.row_list = wants_row_list(s) && family_of(plan.layout).has_row_list;
  return plan;
}

}  // namespace

Plan default_plan(const PatternStatistics& s, const Problem& problem, std::string_view backend, std::string_view entry,
                  ValuePrecision values, Parts parts) {
  const Plan plan = backend == "cuda" ? device_rule::plan(policy_of(backend), s, problem, entry, values, parts)
                                      : host_rule::plan(s, problem, entry, values.value_or(problem.scalar.precision));
  return completed(plan, s, problem, entry, values);
}

std::vector<Plan> default_cuda_plans(const Problem& problem, std::string_view entry) {
  std::vector<Plan> plans;
  for (const DevicePolicy& policy : device_policies())
    for (const Plan& given : device_rule::all_plans(policy, problem, entry))
      for (const bool row_list : {false, true}) {
        Plan plan = completed(given, {}, problem, entry, {});
        plan.layout.row_list = row_list && family_of(plan.layout).has_row_list;
        if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);  // two policies may have it
      }
  return plans;
}

std::vector<Plan> near_plans(const PatternStatistics& s, const Problem& problem, std::string_view backend,
                             std::string_view entry, ValuePrecision values) {
  std::vector<Plan> plans = {default_plan(s, problem, backend, entry, values)};
  const auto add = [&](const Plan& plan) {
    const Plan candidate = completed(plan, s, problem, entry, values);
    if (std::ranges::find(plans, candidate) == plans.end()) plans.push_back(candidate);
  };
  if (backend != "cuda") {
    for (const char* layout : {"csr", "sell:8"}) {
      Plan plan = host_rule::plan(s, problem, entry, problem.scalar.precision);
      set_layout(plan, layout);
      add(plan);
    }
    return plans;
  }
  for (const Plan& plan : device_rule::near_plans(policy_of(backend), s, problem, entry, values)) add(plan);
  return plans;
}

Plan plan_for_layout(std::string_view layout, const PatternStatistics& s, const Problem& problem,
                     std::string_view backend, std::string_view entry, ValuePrecision values) {
  if (backend != "cuda") {
    const Plan rule = default_plan(s, problem, backend, entry, values);
    Plan plan = parse_plan(layout, rule);
    if (plan.layout.preset == rule.layout.preset) plan.layout.word_group = rule.layout.word_group;
    return plan;
  }
  const Plan base = device_rule::plan_for(parse_layout(layout), policy_of(backend), s, problem, entry, values);
  return parse_plan(layout, completed(base, s, problem, entry, values));
}

namespace {

using Names = std::function<bool(std::string_view keyword)>;

/// On the host products of a half go to x and y wherever the columns are, and wait for both. Scalars, of which a cache
/// line has eight, lose by fetching them ahead (docs/performance-host.md).
void suit_half_rows(Plan& plan, const Names& names, const PatternStatistics& s, const Problem& problem) {
  if (names("xahead") || names("xnear")) return;
  const double vectors = 2.0 * s.rows * problem.block.cols * static_cast<double>(bytes_of(problem.scalar));
  plan.schedule.fetch_x =
      problem.block.cols > 1 && s.scattered > 0.5 && vectors > double(host::processor().second_cache);
}

/// What the line leaves open: workers of a dense block have as many of its columns as they can read ahead
/// (device/spmv_patches.hpp), fewer where a patch that the line names leaves threads for fewer. Sizes of patches are
/// those that were fastest (docs/performance-gpu.md).
void suit_patches(Plan& plan, bool has_layout, const Names& names, const Problem& problem) {
  if (names("lanes=") || names("threads=") || names("blocks=") || plan.entry != "dense") return;
  constexpr int most_bytes = 96, most_lanes = 16;
  const int n = problem.block.cols, bytes = n * static_cast<int>(bytes_of(problem.scalar)),
            columns = std::max(1, most_bytes / bytes), share = (n + columns - 1) / columns;
  int lanes = std::min(most_lanes, static_cast<int>(std::bit_ceil(static_cast<unsigned>(share))));
  constexpr idx usual_threads = 512, least_segments = 64;
  if (!has_layout) plan.layout.sigma = std::clamp<idx>(usual_threads / lanes, least_segments, usual_segments_of_patch);
  while (lanes * plan.layout.sigma > most_threads_of_block) lanes /= 2;
  go_by_patches(plan, lanes);
}

}  // namespace

Plan plan_for_line(std::string_view line, const Plan& base, const PatternStatistics& s, const Problem& problem,
                   std::string_view backend, std::string_view entry, ValuePrecision values) {
  const std::string_view layout = layout_in(line);
  Plan plan = parse_plan(line, layout.empty() ? base : plan_for_layout(layout, s, problem, backend, entry, values));
  if (const auto why = why_not_in(line, plan, backend == "host" ? MemorySpace::host : MemorySpace::device))
    throw error(ErrorKind::argument, "plan '" + std::string(line) + "': " + *why);
  const Names names = [&](std::string_view keyword) { return line.find(keyword) != line.npos; };
  if (plan.half == Half::none) return plan;
  if (!plan.schedule.of_device())
    suit_half_rows(plan, names, s, problem);
  else if (plan.layout.columns == columns_by_patches && !why_not_patches(plan))
    suit_patches(plan, !layout.empty(), names, problem);
  return plan;
}

std::optional<Plan> plan_of_transpose(const Plan& plan, const PatternView& pattern, const PatternView& transposed,
                                      const Problem& problem, std::string_view backend) {
  const auto rule = [&](const PatternView& of, BlockShape block, bool row_list) {
    Plan made = default_plan(statistics(of), {block, problem.scalar}, backend, plan.entry, plan.values, Parts::one);
    made.layout.row_list = row_list;
    return made;
  };
  const BlockShape block = problem.block;
  if (plan != rule(pattern, block, plan.layout.row_list)) return {};
  return rule(transposed, {block.cols, block.rows}, false);
}

}  // namespace compound
