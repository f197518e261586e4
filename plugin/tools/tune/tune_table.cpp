#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include "statistics.hpp"
#include "text.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {

namespace {

constexpr std::size_t shown_blocks = 4;

void print_rows(std::ostream& out, const Analysis& a) {
  const PatternStatistics& n = a.numbers;
  const Quartiles& q = a.quartiles.lengths;
  out << text("  block rows %d, block columns %d, blocks %u, empty rows %d\n", n.rows, n.cols, n.entries, n.empty_rows)
      << text("  row lengths: shortest %lld, quartiles %lld %lld %lld, longest %lld; mean %.1f, deviation %.1f\n",
              static_cast<long long>(q.least), static_cast<long long>(q.lower), static_cast<long long>(q.median),
              static_cast<long long>(q.upper), static_cast<long long>(q.most), n.mean_row, n.row_deviation)
      << text("  scattered blocks %.0f %%, bandwidth %d\n", 100 * n.scattered, n.bandwidth);
}

/// The fewest bytes, and the given size.
void print_blocks(std::ostream& out, const TuneResult& r) {
  const std::vector<BlockFill>& all = r.analysis.blocks;
  if (all.empty()) return;
  out << "  block sizes (fill, bytes over those as given):";
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < shown_blocks || all[i].block == r.block)
      out << text(" %dx%d %.0f %% %.2f;", all[i].block.rows, all[i].block.cols, 100 * all[i].fill, all[i].of_given);
  out << text(" fewest bytes by %dx%d\n", all.front().block.rows, all.front().block.cols);
}

void print_layouts(std::ostream& out, const Analysis& a) {
  out << "  MB by layout (padding):";
  for (const LayoutBytes& l : a.layouts)
    if (l.why.empty()) out << text(" %s %.3f (%.2f)", l.layout.c_str(), l.bytes / 1e6, l.padding);
  out << "\n";
  for (const LayoutBytes& l : a.layouts)
    if (!l.why.empty()) out << "  " << l.layout << ": " << l.why << "\n";
}

struct Column {
  std::string title;
  int width;
  std::function<std::string(const TunedPlan&)> cell;
};

std::string ms(double seconds) { return text("%.4f", 1e3 * seconds); }

/// The plan that the model predicts to be the fastest; null where it predicts nothing, as of the host.
const TunedPlan* predicted_fastest(const TuneResult& r) {
  const TunedPlan* best = nullptr;
  for (const TunedPlan& p : r.plans)
    if (p.predicted_s && (!best || *p.predicted_s < *best->predicted_s)) best = &p;
  return best;
}

std::vector<Column> columns_of(const TuneResult& r) {
  using P = const TunedPlan&;
  std::vector<Column> all = {{"ms", 10, [](P p) { return ms(p.median_s()); }},
                             {"least", 10, [](P p) { return ms(p.least_s()); }},
                             {"95 %", 10, [](P p) { return p.late_s() ? ms(*p.late_s()) : "-"; }},
                             {"GB/s", 8, [&r](P p) { return text("%.2f", r.compulsory_bytes / p.median_s() / 1e9); }}};
  if (predicted_fastest(r))
    all.push_back({"model ms", 10, [](P p) { return p.predicted_s ? ms(*p.predicted_s) : "-"; }});
  if (r.copy) all.push_back({"% copy", 7, [&r](P p) { return text("%.1f", 100 * share(r, *r.copy, p)); }});
  const std::vector<Column> rest = {
      {"% read", 7, [&r](P p) { return text("%.1f", 100 * share(r, r.read, p)); }},
      {"MB", 10, [](P p) { return text("%.3f", double(p.measured.bytes) / 1e6); }},
      {"padding", 8, [](P p) { return text("%.2f", p.padding); }},
      {"pack ms", 9, [](P p) { return text("%.2f", 1e3 * p.measured.packing_s); }},
      {"pays off", 9,
       [&r](P p) {
         const auto products = pays_off_after(r, p);
         return products ? text("%.0f", std::ceil(*products)) : "-";
       }},
      {"x rule", 7, [&r](P p) { return r.rule_s > 0 ? text("%.2f", r.times_rule(p)) : "-"; }}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

void print_times(std::ostream& out, const TuneResult& r, const TuneOptions& o) {
  const std::vector<Column> columns = columns_of(r);
  for (const Column& c : columns) out << text("%*s", c.width, c.title.c_str());
  out << "  plan\n";
  const std::size_t shown = std::min(r.plans.size(), static_cast<std::size_t>(o.top));
  for (std::size_t i = 0; i < r.plans.size(); ++i) {
    const bool is_rule = r.plans[i].line == r.analysis.rule;
    if (i >= shown && i != r.best && !is_rule) continue;
    for (const Column& c : columns) out << text("%*s", c.width, c.cell(r.plans[i]).c_str());
    out << "  " << r.plans[i].line << (is_rule ? "  (by rule)" : "") << "\n";
  }
  if (shown < r.plans.size()) out << text("%zu more plans were timed; -top shows more\n", r.plans.size() - shown);
}

/// Plans of one reason together: the first, and how many more.
void print_without(std::ostream& out, const TuneResult& r) {
  std::vector<std::pair<const LeftOut*, std::size_t>> reasons;
  for (const LeftOut& l : r.without) {
    const auto same = std::ranges::find_if(reasons, [&](const auto& seen) { return seen.first->why == l.why; });
    if (same == reasons.end())
      reasons.emplace_back(&l, 0);
    else
      ++same->second;
  }
  if (!reasons.empty()) out << "without a time:\n";
  for (const auto& [first, more] : reasons)
    out << "  " << first->name << (more ? text(" and %zu more", more) : "") << ": " << first->why << "\n";
}

void print_pareto(std::ostream& out, const TuneResult& r) {
  out << "no other plan is both faster and smaller:\n";
  for (const std::size_t i : pareto(r.plans)) {
    const TunedPlan& p = r.plans[i];
    out << text("  %s ms, %.3f MB, %.2f x rule: ", ms(p.median_s()).c_str(), double(p.measured.bytes) / 1e6,
                r.times_rule(p))
        << p.line << "\n";
  }
}

/// "1.62 times the speed and 2.10 times the bytes": of a plan, beside the rule's.
std::string compared_with_rule(const TuneResult& r, const TunedPlan& plan) {
  const auto rule = std::ranges::find(r.plans, r.analysis.rule, &TunedPlan::line);
  const double bytes = rule != r.plans.end() ? double(rule->measured.bytes) : 0;
  const std::string size = bytes > 0 ? text("%.2f times the bytes", double(plan.measured.bytes) / bytes)
                                     : text("%.3f MB instead of none", double(plan.measured.bytes) / 1e6);
  return text("%.2f times the speed and ", r.times_rule(plan)) + size;
}

void print_advice(std::ostream& out, const TuneResult& r, const TuneOptions& o) {
  const TunedPlan& best = r.plans[r.best];
  const bool is_rule = best.line == r.analysis.rule;
  if (o.memory_weight > 0 && is_rule) {
    out << text("what to do: nothing; by time and memory (-score %g) no plan is better than the rule's\n",
                o.memory_weight);
    if (r.best != 0)
      out << "  the fastest, for " << compared_with_rule(r, r.plans.front()) << ": " << r.plans.front().line << "\n";
  } else if (is_rule) {
    out << "what to do: nothing; no plan is faster than the rule's by more than can be told apart\n";
  } else if (o.memory_weight > 0) {
    out << "what to do, for " << compared_with_rule(r, best) << ":\n";
  } else {
    out << text("what to do, for %.2f times the speed:\n", r.gain);
  }
  out << "  -mat_compound_plan \"" << best.line << "\"\n";
  if (!r.kept.empty()) out << "  " << r.kept << "\n";
}

void print_study(std::ostream& out, const Study& s) {
  out << text("%d plans screened, %d timed again, %d once more, from which these are:\n", s.screened.timed,
              s.again.timed, s.finals.timed);
  for (const TestedPlan& t : s.tested)
    out << text("  by %s: %.3f times as long as the fastest: ", std::string(t.chosen_by).c_str(), s.of_best(t))
        << to_string(t.plan) << "\n";
}

}  // namespace

void print_block_sizes(std::ostream& out, const std::vector<BlockFill>& sizes) {
  if (sizes.empty()) out << "  blocks are not square, or there are none: no other sizes are tried\n";
  out << text("  %-7s %8s %10s\n", "block", "fill %", "x bytes");
  for (const BlockFill& b : sizes)
    out << text("  %-7s %8.1f %10.3f\n", text("%dx%d", b.block.rows, b.block.cols).c_str(), 100 * b.fill, b.of_given);
}

namespace {

void print_matrix(std::ostream& out, const TuneResult& r) {
  out << text("\n%s, blocks of %dx%d\n", r.description.c_str(), r.block.rows, r.block.cols);
  print_rows(out, r.analysis);
  print_blocks(out, r);
}

}  // namespace

void print_counted(std::ostream& out, const TuneResult& r, const TuneOptions&) {
  print_matrix(out, r);
  out << text("  %14s %14s %8s  plan\n", "bytes read", "allocated", "padding");
  for (const CountedPlan& p : r.counted)
    if (p.why.empty())
      out << text("  %14zu %14zu %8.2f  ", p.bytes.read.total(), p.bytes.allocated.total(), p.padding) << p.line
          << "\n";
  for (const CountedPlan& p : r.counted)
    if (!p.why.empty()) out << "  " << p.asked << ": " << p.why << "\n";
  out.flush();
}

void print_result(std::ostream& out, const TuneResult& r, const TuneOptions& o) {
  print_matrix(out, r);
  print_layouts(out, r.analysis);
  out << "  by rule: " << r.analysis.rule << "\n";
  if (const TunedPlan* const p = predicted_fastest(r))
    out << "  by model: " << p->line << text(", predicted to take %s ms", ms(*p->predicted_s).c_str()) << "\n";
  out << "\n";
  print_times(out, r, o);
  out << text("%zu plans timed in %.2f s (%.0f products of the rule's plan), packed in %.2f s\n", r.plans.size(),
              r.timing_s, r.products, r.packing_s);
  print_without(out, r);
  if (o.pareto) print_pareto(out, r);
  if (r.study) print_study(out, *r.study);
  print_advice(out, r, o);
  out.flush();
}

}  // namespace compound::bench::tune
