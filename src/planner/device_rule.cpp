#include "planner/device_rule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "layout/family.hpp"

namespace compound::device_rule {

namespace {

/// A matrix as the rule sees it.
struct Matrix {
  Matrix(const PatternStatistics& s, const Problem& p, std::string_view entry, ValuePrecision values,
         const DevicePolicy& device)
      : shape(entry_kind(entry).shape(p.scalar.field, p.block)),
        size(std::max(p.block.rows, p.block.cols)),
        bytes_of_entry(double(bytes_of(shape, {p.scalar.field, values.value_or(p.scalar.precision)}) + sizeof(idx))),
        bytes_of_step(device.bytes_of_step),
        statistics(s) {
    const double bytes_of_vectors =
        double(bytes_of(p.scalar)) * (double(s.rows) * p.block.rows + double(s.cols) * p.block.cols);
    cache = s.entries * bytes_of_entry + bytes_of_vectors > device.cached_bytes ? Cache::stream : Cache::keep;
  }
  EntryShape shape;
  int size;
  double bytes_of_entry, bytes_of_step;
  const PatternStatistics& statistics;
  Cache cache;

  bool has(RowShape wanted) const {
    const PatternStatistics& s = statistics;
    const bool uneven = s.is_uneven();
    switch (wanted) {
      case RowShape::any:
        return true;
      case RowShape::uneven:
        return uneven;
      case RowShape::long_ones:
        return uneven && s.longest_row > 2000 && 300.0 * s.longest_row > s.entries;
      case RowShape::lagging:
        return s.longest_row > 3 * s.mean_row && s.longest_row * bytes_of_step > s.entries * bytes_of_entry;
      case RowShape::varied:
        return s.row_deviation > 0.2 * s.mean_row;
      case RowShape::scattered:
        return s.scattered > 0.5;
    }
    return false;
  }
  bool is_of(const Case& c) const {
    return size >= c.least_size && size <= c.most_size && statistics.rows >= c.least_rows &&
           statistics.rows <= c.most_rows && has(c.rows);
  }
};

const FamilyRule& family_of(const DevicePolicy& policy, std::string_view entry) {
  return entry == "dense" ? policy.dense : policy.kinds;
}

/// Workers that share a row, where there are too few rows; no more than its entries keep busy.
int lanes(const FormRow& row, const FamilyRule& rule, const Matrix& m) {
  const int rows_of_block = row.form.traversal == Traversal::components ? m.shape.rows : 1;
  const double rows = std::max(1.0, double(m.statistics.rows) * rows_of_block);
  const double wanted = std::min(rule.workers_wanted / rows, m.statistics.mean_row / rule.entries_of_lane);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1.0, wanted)))), row.form.lanes,
                    row.most_lanes);
}

Form form_in(std::span<const FormRow> forms, const FamilyRule& rule, const Matrix& m) {
  const auto row = std::ranges::find_if(forms, [&](const FormRow& r) {
    return m.size <= r.size && m.shape.words <= r.words && m.statistics.mean_row <= r.mean_row;
  });
  Form form = row->form;
  form.lanes = lanes(*row, rule, m);
  return form;
}

Form form(const FamilyRule& rule, const Matrix& m) {
  return form_in(std::ranges::find_if(rule.cases, [&](const Case& c) { return m.is_of(c); })->forms, rule, m);
}

Plan plan_of(const Form& f, const Matrix& m) {
  Plan plan;
  set_layout(plan, f.layout);
  plan.schedule.traversal = f.traversal;
  plan.schedule.lanes = f.lanes;
  plan.schedule.unroll = f.unroll;
  plan.schedule.threads = f.threads;
  plan.schedule.blocks = f.blocks;
  plan.schedule.cache = m.cache;
  return plan;
}

bool has_slices(const Form& f) { return compound::family_of(parse_layout(f.layout)).interleaved; }

/// Of the matrix without its long rows.
PatternStatistics without_long_rows(PatternStatistics s) {
  s.longest_row = s.usual_row;
  s.mean_row *= s.entries > 0 ? 1 - double(s.long_entries) / s.entries : 1;
  return s;
}

/// `longest`: of the rows in slices.
Plan in_two_parts(const FamilyRule& rule, const Form& slices, idx longest, const Matrix& m) {
  Plan plan = plan_of(slices, m);
  const Plan later = plan_of(form_in(rule.parts.forms, rule, m), m);
  plan.longest = longest;
  plan.later = {{later.layout, later.schedule}};
  return plan;
}

bool may_have_parts(const PartsRule& rule, const PatternStatistics& s) {
  return !rule.forms.empty() && s.is_uneven() && s.entries >= rule.least_entries && s.usual_row > 0 &&
         s.longest_row >= rule.much_longer * s.usual_row && s.long_entries <= rule.most_share * s.entries;
}

/// Statistics on both sides of every limit: between two neighbouring limits the rule gives one form.
std::vector<PatternStatistics> corners(const FamilyRule& rule, const Problem& problem) {
  std::set<double> rows = {0}, means = {0, 1e6};
  const auto add_rows = [&](double limit) {
    for (const double n : {limit - 1, limit, limit + 1})
      if (n >= 0 && n < std::numeric_limits<idx>::max()) rows.insert(std::floor(n));
  };
  for (const Case& c : rule.cases) {
    add_rows(c.least_rows);
    add_rows(c.most_rows);
    for (const FormRow& r : c.forms)
      if (r.mean_row < unlimited) means.insert({r.mean_row, r.mean_row + 1});
  }
  for (int lanes = 1; lanes <= 32; lanes *= 2) {
    means.insert(lanes * rule.entries_of_lane);
    for (const int rows_of_block : {1, problem.block.rows}) add_rows(rule.workers_wanted / (lanes * rows_of_block));
  }
  // Even rows, uneven ones, and long ones among few entries.
  constexpr idx longest_of_all = std::numeric_limits<idx>::max();
  constexpr std::pair<idx, count32> longest_and_entries[] = {{0, 0}, {2000 * 1000, ~count32{0}}, {longest_of_all, 0}};
  std::vector<PatternStatistics> all;
  for (const double r : rows)
    for (const double mean : means)
      for (const double scattered : {0, 1})
        for (const double deviation : {0.0, mean})
          for (const auto& [longest, entries] : longest_and_entries)
            all.push_back({.rows = static_cast<idx>(r),
                           .entries = entries,
                           .longest_row = longest,
                           .mean_row = mean,
                           .row_deviation = deviation,
                           .scattered = scattered});
  return all;
}

}  // namespace

Plan plan(const DevicePolicy& policy, const PatternStatistics& s, const Problem& problem, std::string_view entry,
          ValuePrecision values, Parts parts) {
  const FamilyRule& rule = family_of(policy, entry);
  const Matrix m(s, problem, entry, values, policy);
  if (parts == Parts::some && may_have_parts(rule.parts, s)) {
    const PatternStatistics usual = without_long_rows(s);
    const Form slices = form(rule, Matrix(usual, problem, entry, values, policy));
    if (has_slices(slices)) return in_two_parts(rule, slices, s.usual_row, m);
  }
  return plan_of(form(rule, m), m);
}

Plan plan_for(const LayoutSpec& asked, const DevicePolicy& policy, const PatternStatistics& s, const Problem& problem,
              std::string_view entry, ValuePrecision values) {
  const Plan rule = plan(policy, s, problem, entry, values, Parts::one);
  const bool by_slices = family_of(asked).interleaved, of_rows = !family_of(rule.layout).threads;
  if (of_rows && by_slices == family_of(rule.layout).interleaved) return rule;
  const FamilyRule& family = family_of(policy, entry);
  const Matrix m(s, problem, entry, values, policy);
  return plan_of(form_in(by_slices ? family.slices : family.compressed, family, m), m);
}

std::vector<Plan> all_plans(const DevicePolicy& policy, const Problem& problem, std::string_view entry) {
  std::vector<Plan> plans;
  const auto add = [&](const Plan& given) {
    if (std::ranges::find(plans, given) == plans.end()) plans.push_back(given);
  };
  const FamilyRule& rule = family_of(policy, entry);
  for (const PatternStatistics& s : corners(rule, problem))
    for (const Cache cache : {Cache::keep, Cache::stream}) {
      Matrix m(s, problem, entry, {}, policy);
      m.cache = cache;
      const Form whole = form(rule, m);
      add(plan_of(whole, m));
      const double most_entries = policy.cached_bytes / m.bytes_of_entry;
      if (rule.parts.forms.empty() || !has_slices(whole)) continue;
      if (cache == Cache::keep && rule.parts.least_entries > most_entries) continue;
      add(in_two_parts(rule, whole, 1, m));
    }
  return plans;
}

std::vector<Plan> near_plans(const DevicePolicy& policy, const PatternStatistics& s, const Problem& problem,
                             std::string_view entry, ValuePrecision values) {
  const FamilyRule& family = family_of(policy, entry);
  const Matrix m(s, problem, entry, values, policy);
  std::vector<Plan> plans;
  for (const Variation& v : family.near) {
    if (m.size > v.most_size) continue;
    Form form = form_in(v.forms, family, m);
    for (form.lanes = v.least_lanes; form.lanes <= v.most_lanes; form.lanes *= 2)
      for (form.unroll = 1; form.unroll <= v.most_unroll; ++form.unroll) plans.push_back(plan_of(form, m));
  }
  return plans;
}

}  // namespace compound::device_rule
