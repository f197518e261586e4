#include <algorithm>
#include <cstdio>
#include <functional>
#include <ostream>

#include "report.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace compound::bench {

namespace {

double gbs(double bytes, double seconds) { return seconds > 0 ? bytes / seconds / 1e9 : 0; }

void print_yardstick(std::ostream& out, const char* name, const Yardstick& y) {
  const Statistics s = statistics_of(y.samples.seconds);
  out << text("%s %.2f GB/s (spread %.1f %%)", name, gbs(y.bytes, s.median), 100 * s.spread);
}

std::string quartiles_text(const Quartiles& q) {
  std::string all;
  for (const std::int64_t v : {q.least, q.lower, q.median, q.upper, q.most})
    all += (all.empty() ? "" : " ") + std::to_string(v);
  return all;
}

void print_head(std::ostream& out, const CaseResult& r, const Options& o) {
  out << text("\n%s\n", r.description.c_str());
  out << text("%lld block rows, %lld blocks of %dx%d (%.1f a row), values %.1f MB, %d rank%s, %s, %d rounds; ",
              static_cast<long long>(r.block_rows), static_cast<long long>(r.entries), r.block.rows, r.block.cols,
              r.block_rows > 0 ? static_cast<double>(r.entries) / static_cast<double>(r.block_rows) : 0.0,
              r.value_bytes / 1e6, r.ranks, r.ranks == 1 ? "" : "s", std::string(name_of(o.operation)).c_str(),
              o.rounds);
  if (r.copy) {
    print_yardstick(out, "device copy", *r.copy);
    out << ", ";
  }
  print_yardstick(out, r.copy ? "device read" : "plain read", r.read);
  out << "\n"
      << "row lengths " << quartiles_text(r.row_quartiles.lengths) << ", row bandwidths "
      << quartiles_text(r.row_quartiles.bandwidths) << " (least, quartiles, most)";
  if (r.ordering != "natural") out << text("; found %s in %.2f s", r.ordering.c_str(), r.ordering_s);
  out << "\n";
}

/// Shown as "-" where the candidates' results were not compared.
std::string error_text(const CandidateResult& c) { return c.allowed_error > 0 ? text("%.1e", c.error) : "-"; }

std::string median_us(const std::vector<double>& seconds) {
  return seconds.empty() ? "-" : text("%.2f", 1e6 * statistics_of(seconds).median);
}

template <class Candidates, class Belongs>
const CandidateResult* fastest(const Candidates& candidates, const Belongs& belongs) {
  const CandidateResult* best = nullptr;
  const auto median = [](const CandidateResult& c) { return statistics_of(c.samples.seconds).median; };
  for (const CandidateResult& c : candidates)
    if (belongs(c) && (!best || median(c) < median(*best))) best = &c;
  return best;
}

bool keeps_blocks(const CandidateResult& c) { return c.plan.find("entry=dense") != std::string::npos; }

}  // namespace

double times(const CandidateResult& other, const CandidateResult& c) {
  return paired_ratio(other.samples.seconds, c.samples.seconds);
}

double padding_of(const CaseResult& r, const CandidateResult& c) {
  return r.entries > 0 ? c.slots / static_cast<double>(r.entries) : 0;
}

double times_baseline(const CaseResult& r, const CandidateResult& c) { return times(r.candidates[r.baseline], c); }

double share_of(const Yardstick& y, const CandidateResult& c) {
  if (y.bytes == 0) return 0;
  return c.compulsory_bytes / y.bytes * paired_ratio(y.samples.seconds, c.samples.seconds);
}

const CandidateResult* best_of_cusparse(const CaseResult& r) {
  return fastest(r.candidates, [](const CandidateResult& c) { return c.kind == "cusparse"; });
}

const CandidateResult* best_of_ours(const CaseResult& r) {
  return fastest(r.candidates,
                 [](const CandidateResult& c) { return c.kind == "plan" || c.kind == "core" || is_ours(c.name); });
}

const CandidateResult* best_of_dense(const CaseResult& r) {
  return fastest(r.candidates, [](const CandidateResult& c) { return keeps_blocks(c); });
}

namespace {

struct Column {
  std::string title;
  int width;
  std::function<std::string(const CandidateResult&)> cell;
};

double median_of(const CandidateResult& c) { return statistics_of(c.samples.seconds).median; }

std::string in_products(double seconds, const CandidateResult& c) {
  const double median = median_of(c);
  return text("%.1f", median > 0 ? seconds / median : 0.0);
}

void add_device_times(std::vector<Column>& columns, const Options& o) {
  if (o.cold) columns.push_back({"cold us", 11, [](const CandidateResult& c) { return median_us(c.cold_s); }});
  if (o.graph) columns.push_back({"graph us", 11, [](const CandidateResult& c) { return median_us(c.graph_s); }});
}

void add_speeds(std::vector<Column>& columns, const CaseResult& r) {
  columns.push_back(
      {"GB/s", 7, [](const CandidateResult& c) { return text("%.2f", gbs(c.compulsory_bytes, median_of(c))); }});
  if (r.copy)
    columns.push_back(
        {"% copy", 7, [&r](const CandidateResult& c) { return text("%.1f", 100 * share_of(*r.copy, c)); }});
  columns.push_back({"% read", 7, [&r](const CandidateResult& c) { return text("%.1f", 100 * share_of(r.read, c)); }});
  const std::string ratio = "x " + r.candidates[r.baseline].name;
  columns.push_back({ratio, std::max(6, static_cast<int>(ratio.size())),
                     [&r](const CandidateResult& c) { return text("%.2f", times_baseline(r, c)); }});
}

/// Beside candidates with fewer words: what those are worth.
void add_entry_speed(std::vector<Column>& columns, const CaseResult& r) {
  const bool compressed =
      std::ranges::any_of(r.candidates, [](const CandidateResult& c) { return !c.plan.empty() && !keeps_blocks(c); });
  const CandidateResult* const dense = best_of_dense(r);
  if (!compressed || !dense) return;
  columns.push_back({"x dense", 7, [dense](const CandidateResult& c) { return text("%.2f", times(*dense, c)); }});
}

std::vector<Column> columns_of(const CaseResult& r, const Options& o) {
  using Result = const CandidateResult&;
  std::vector<Column> columns = {
      {"median us", 11, [](Result c) { return median_us(c.samples.seconds); }},
      {"least us", 11, [](Result c) { return text("%.2f", 1e6 * statistics_of(c.samples.seconds).least); }},
      {"+- %", 6, [](Result c) { return text("%.1f", 100 * statistics_of(c.samples.seconds).spread); }}};
  add_device_times(columns, o);
  add_speeds(columns, r);
  add_entry_speed(columns, r);
  columns.push_back({"pack", 7, [](Result c) { return in_products(c.first_pack_s, c); }});
  columns.push_back({"values", 7, [](Result c) { return in_products(c.new_values_s, c); }});
  columns.push_back({"parent MB", 10, [](Result c) { return text("%.1f", c.parent_bytes / 1e6); }});
  columns.push_back({"packed MB", 10, [](Result c) { return text("%.1f", c.packed_bytes / 1e6); }});
  columns.push_back({"error", 9, [](Result c) { return error_text(c); }});
  if (const CandidateResult* best = best_of_cusparse(r))
    columns.push_back({"x cusparse", 10, [best](Result c) { return text("%.2f", times(*best, c)); }});
  return columns;
}

/// What is found at the first block is no time at all beside a product.
std::string of_products(double products) {
  return products < 0.005 ? "less than 0.01 products" : text("%.2f products", products);
}

void print_entry_check(std::ostream& out, const CaseResult& r) {
  const EntryCheck& check = r.entry_check;
  if (check.seconds.empty()) return;
  const double seconds = statistics_of(check.seconds).median;
  out << text("blocks are entries of kind %s: found in %.1f us", check.entry.c_str(), 1e6 * seconds);
  const CandidateResult *const dense = best_of_dense(r), *const ours = best_of_ours(r);
  for (const CandidateResult* c : {dense, ours == dense ? nullptr : ours})
    if (c) out << ", " << of_products(seconds / median_of(*c)) << " of " << c->name;
  out << "\n";
}

void print_notes(std::ostream& out, const CaseResult& r) {
  print_entry_check(out, r);
  const CandidateResult *theirs = best_of_cusparse(r), *ours = best_of_ours(r);
  if (theirs && ours)
    out << "best of cuSPARSE: " << theirs->name << "; ours: " << ours->name << ", "
        << text("%.2f", times(*theirs, *ours)) << " times as fast\n";
  for (const LeftOut& l : r.left_out) out << "left out: " << l.name << ": " << l.why << "\n";
  for (const CandidateResult& c : r.candidates)
    if (!c.plan.empty()) out << "plan of " << c.name << ": " << c.plan << "\n";
}

void print_coo(std::ostream& out, const CaseResult& r) {
  out << text("assembly from %.1f MB of scalars by coordinates\n", r.coo_bytes / 1e6);
  out << text("%-16s %8s %15s %11s %7s %16s %9s\n", "type", "values", "preallocate ms", "values ms", "GB/s",
              "with product ms", "error");
  for (const CooResult& c : r.coo) {
    const double median = statistics_of(c.values_s).median;
    out << text("%-16s %8s %15.2f %11.3f %7.2f %16.3f %9.1e\n", c.type.c_str(), c.values_on.c_str(),
                1e3 * c.preallocation_s, 1e3 * median, gbs(r.coo_bytes, median),
                1e3 * statistics_of(c.with_product_s).median, c.error);
  }
}

/// Ratios are to the first.
void print_ksp(std::ostream& out, const CaseResult& r) {
  out << text("%-16s %-14s %-12s %13s %8s %11s %9s %9s\n", "type", "ksp", "pc", "iteration us", "+- %", "x the first",
              "set-up ms", "residual");
  for (const KspResult& k : r.ksp) {
    const Statistics s = statistics_of(k.iteration_s);
    out << text("%-16s %-14s %-12s %13.2f %8.1f %11.2f %9.2f %9.1e\n", k.type.c_str(), k.ksp.c_str(),
                k.preconditioner.c_str(), 1e6 * s.median, 100 * s.spread,
                statistics_of(r.ksp.front().iteration_s).median / s.median,
                1e3 * (k.first_s - statistics_of(k.solve_s).median), k.residual);
  }
}

void print_candidates(std::ostream& out, const CaseResult& r, const Options& o) {
  std::size_t width = 9;
  for (const CandidateResult& c : r.candidates) width = std::max(width, c.name.size());
  const int name_width = static_cast<int>(width);
  const std::vector<Column> columns = columns_of(r, o);
  out << text("%-*s", name_width, "candidate");
  for (const Column& c : columns) out << text(" %*s", c.width, c.title.c_str());
  out << "\n";
  for (const CandidateResult& candidate : r.candidates) {
    out << text("%-*s", name_width, candidate.name.c_str());
    for (const Column& c : columns) out << text(" %*s", c.width, c.cell(candidate).c_str());
    out << "\n";
  }
  print_notes(out, r);
}

/// Products that the times of packing are told in, those of slices: the first such layout that there is.
const CandidateResult* products_of_slices(const CaseResult& r) {
  const auto row = std::ranges::find_if(
      r.layouts, [](const LayoutResult& l) { return l.why.empty() && l.result.name.starts_with("sell"); });
  return row == r.layouts.end() ? nullptr : &row->result;
}

/// New values from blocks on the device, in products of the layout and of slices.
std::string values_there(const CandidateResult& c, const CandidateResult* slices) {
  if (c.new_values_there_s < 0) return text(" %7s %7s", "", "");
  return text(" %7s %7s", in_products(c.new_values_there_s, c).c_str(),
              slices ? in_products(c.new_values_there_s, *slices).c_str() : "");
}

/// Products in each layout; what could not be packed with the reason.
void print_layouts(std::ostream& out, const CaseResult& r, const Options& o) {
  out << text("%-16s %11s %6s", "layout", "median us", "+- %");
  if (o.cold) out << text(" %11s", "cold us");
  out << text(" %7s %7s %10s %7s %7s %9s", "GB/s", "padding", "packed MB", "pack", "values", "error");
  const CandidateResult* const slices = products_of_slices(r);
  const bool on_device =
      std::ranges::any_of(r.layouts, [](const LayoutResult& l) { return l.result.new_values_there_s >= 0; });
  out << (on_device ? text(" %7s %7s", "there", "of sell") : "") << "\n";
  for (const LayoutResult& l : r.layouts) {
    const CandidateResult& c = l.result;
    out << text("%-16s ", c.name.c_str());
    if (!l.why.empty()) {
      out << "left out: " << l.why << "\n";
      continue;
    }
    out << text("%11s %6.1f", median_us(c.samples.seconds).c_str(), 100 * statistics_of(c.samples.seconds).spread);
    if (o.cold) out << text(" %11s", median_us(c.cold_s).c_str());
    out << text(" %7.2f %7.2f %10.1f %7s %7s %9s", gbs(c.compulsory_bytes, median_of(c)), padding_of(r, c),
                c.packed_bytes / 1e6, in_products(c.first_pack_s, c).c_str(), in_products(c.new_values_s, c).c_str(),
                error_text(c).c_str());
    out << (on_device ? values_there(c, slices) : "") << "\n";
  }
  for (const LayoutResult& l : r.layouts)
    if (l.why.empty()) out << "plan of " << l.result.name << ": " << l.result.plan << "\n";
}

}  // namespace

void print_table(std::ostream& out, const CaseResult& r, const Options& o) {
  print_head(out, r, o);
  if (!r.candidates.empty()) print_candidates(out, r, o);
  if (!r.layouts.empty()) print_layouts(out, r, o);
  if (!r.ksp.empty()) print_ksp(out, r);
  if (!r.coo.empty()) print_coo(out, r);
  out.flush();
}

void print_effect_of_order(std::ostream& out, const std::vector<CaseResult>& results) {
  const CaseResult& now = results.back();
  const auto first = std::ranges::find_if(
      results, [&](const CaseResult& r) { return r.matrix == now.matrix && r.block == now.block; });
  if (first->ordering == now.ordering) return;
  for (std::size_t i = 0; i < now.candidates.size(); ++i) {
    const CandidateResult &before = first->candidates[i], &after = now.candidates[i];
    out << text("%s beside %s: %s %.2f times as fast, packed MB %.1f, before %.1f\n", now.ordering.c_str(),
                first->ordering.c_str(), after.name.c_str(), median_of(before) / median_of(after),
                after.packed_bytes / 1e6, before.packed_bytes / 1e6);
  }
  out.flush();
}

}  // namespace compound::bench
