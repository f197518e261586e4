#include "report.hpp"

#include <algorithm>
#include <ostream>

#include "text.hpp"

namespace compound::bench {

namespace {

double median_of(const Record& candidate) { return candidate.value("median_s", 0.0); }

bool keeps_blocks(const Record& candidate) {
  return candidate.value("plan", "").find("entry=dense") != std::string::npos;
}

template <class Belongs>
const Record* fastest(const Record& result, const Belongs& belongs) {
  const Record* best = nullptr;
  if (!result.contains("candidates")) return best;
  for (const Record& c : result.at("candidates"))
    if (belongs(c) && (!best || median_of(c) < median_of(*best))) best = &c;
  return best;
}

}  // namespace

void add_speed(Record& r, const char* bytes) {
  r["gbs"] = median_of(r) > 0 ? r.value(bytes, 0.0) / median_of(r) / 1e9 : 0;
}

double times(const Record& other, const Record& c) { return paired_ratio(samples_of(other), samples_of(c)); }

double share_of(const Record& y, const Record& c) {
  const double bytes = y.value("bytes", 0.0);
  return bytes > 0 ? c.value("compulsory_bytes", 0.0) / bytes * times(y, c) : 0;
}

const Record* best_of_cusparse(const Record& r) {
  return fastest(r, [](const Record& c) { return c.value("kind", "") == "cusparse"; });
}

const Record* best_of_ours(const Record& r) {
  return fastest(r, [](const Record& c) {
    const std::string kind = c.value("kind", "");
    return kind == "plan" || kind == "core" || is_ours(c.value("name", ""));
  });
}

const Record* best_of_dense(const Record& r) { return fastest(r, keeps_blocks); }

namespace {

/// New values from the device in products of slices: those of the first such layout that there is.
void relate_layouts(Record& layouts) {
  const auto is_slices = [](const Record& l) { return !l.contains("why") && l.value("name", "").starts_with("sell"); };
  const auto slices = std::ranges::find_if(layouts, is_slices);
  for (Record& l : layouts) {
    if (l.contains("why")) continue;
    add_speed(l, "compulsory_bytes");
    if (l.contains("new_values_there_s") && slices != layouts.end())
      l["new_values_there_of_sell"] = l.value("new_values_there_s", 0.0) / median_of(*slices);
  }
}

}  // namespace

void relate(Record& r, std::size_t baseline) {
  if (r.contains("layouts")) relate_layouts(r["layouts"]);
  if (!r.contains("candidates")) return;
  Record& candidates = r["candidates"];
  const Record *const dense = best_of_dense(r), *const vendor = best_of_cusparse(r);
  for (Record& c : candidates) {
    add_speed(c, "compulsory_bytes");
    c["share_of_read"] = share_of(r.at("read"), c);
    c["times_baseline"] = times(candidates[baseline], c);
    if (dense) c["times_dense"] = times(*dense, c);
    if (r.contains("copy")) c["share_of_copy"] = share_of(r.at("copy"), c);
    if (vendor) c["times_best_cusparse"] = times(*vendor, c);
  }
  // New members of a record move its old ones.
  Record names = {{"baseline", candidates[baseline].at("name")}};
  if (vendor) names["best_of_cusparse"] = vendor->at("name");
  r.update(names);
}

namespace {

std::string quartiles_text(const Record& quartiles) {
  std::string all;
  for (const Record& q : quartiles) all += (all.empty() ? "" : " ") + q.dump();
  return all;
}

std::string yardstick_text(const char* name, const Record& y) {
  return text("%s %.2f GB/s (spread %.1f %%)", name, y.value("gbs", 0.0), 100 * y.value("spread", 0.0));
}

void print_head(std::ostream& out, const Record& r, const Options& o) {
  const auto number = [&](const char* member) { return r.value(member, 0.0); };
  const double rows = number("block_rows");
  out << "\n" << r.value("description", "") << "\n";
  out << text("%.0f block rows, %.0f blocks of %s (%.1f a row), values %.1f MB, %.0f rank%s, %s, %d rounds; ", rows,
              number("blocks"), r.value("block", "").c_str(), rows > 0 ? number("blocks") / rows : 0.0,
              number("value_bytes") / 1e6, number("ranks"), number("ranks") == 1 ? "" : "s",
              std::string(word_of(operation_words, o.operation)).c_str(), o.rounds);
  if (r.contains("copy")) out << yardstick_text("device copy", r.at("copy")) << ", ";
  out << yardstick_text(r.contains("copy") ? "device read" : "plain read", r.at("read")) << "\n"
      << "row lengths " << quartiles_text(r.at("row_lengths")) << ", row bandwidths "
      << quartiles_text(r.at("row_bandwidths")) << " (least, quartiles, most)";
  const std::string ordering = r.value("ordering", "");
  if (ordering != "natural") out << "; found " << ordering << text(" in %.2f s", number("ordering_s"));
  out << "\n";
}

std::vector<Column> candidate_columns(const Record& r) {
  std::vector<Column> columns = {{"candidate", 0, "name"},
                                 {"median us", 11, "median_s", "%.2f", 1e6},
                                 {"least us", 11, "least_s", "%.2f", 1e6},
                                 {"+- %", 6, "spread", "%.1f", 100},
                                 {"cold us", 11, "cold_median_s", "%.2f", 1e6, nullptr, true},
                                 {"graph us", 11, "graph_median_s", "%.2f", 1e6, nullptr, true},
                                 {"GB/s", 7, "gbs", "%.2f"},
                                 {"% copy", 7, "share_of_copy", "%.1f", 100, nullptr, true},
                                 {"% read", 7, "share_of_read", "%.1f", 100}};
  const std::string ratio = "x " + r.value("baseline", "");
  columns.push_back({ratio, std::max(6, static_cast<int>(ratio.size())), "times_baseline", "%.2f"});
  // Beside candidates with fewer words: what those are worth.
  if (std::ranges::any_of(r.at("candidates"),
                          [](const Record& c) { return !c.value("plan", "").empty() && !keeps_blocks(c); }))
    columns.push_back({"x dense", 7, "times_dense", "%.2f", 1, nullptr, true});
  const Column rest[] = {{"pack", 7, "first_pack_s", "%.1f", 1, "median_s"},
                         {"values", 7, "new_values_s", "%.1f", 1, "median_s"},
                         {"base MB", 10, "parent_bytes", "%.1f", 1e-6},
                         {"packed MB", 10, "packed_bytes", "%.1f", 1e-6},
                         {"error", 9, "error", "%.1e"},
                         {"x cusparse", 10, "times_best_cusparse", "%.2f", 1, nullptr, true}};
  columns.insert(columns.end(), std::begin(rest), std::end(rest));
  return columns;
}

const std::vector<Column> layout_columns = {{"layout", 0, "name"},
                                            {"median us", 11, "median_s", "%.2f", 1e6},
                                            {"+- %", 6, "spread", "%.1f", 100},
                                            {"cold us", 11, "cold_median_s", "%.2f", 1e6, nullptr, true},
                                            {"GB/s", 7, "gbs", "%.2f"},
                                            {"padding", 7, "padding", "%.2f"},
                                            {"packed MB", 10, "packed_bytes", "%.1f", 1e-6},
                                            {"pack", 7, "first_pack_s", "%.1f", 1, "median_s"},
                                            {"values", 7, "new_values_s", "%.1f", 1, "median_s"},
                                            {"error", 9, "error", "%.1e"},
                                            {"there", 7, "new_values_there_s", "%.1f", 1, "median_s", true},
                                            {"of sell", 7, "new_values_there_of_sell", "%.1f", 1, nullptr, true}};

const std::vector<Column> ksp_columns = {{"type", 0, "type"},
                                         {"ksp", 0, "ksp"},
                                         {"pc", 0, "pc"},
                                         {"iteration us", 13, "iteration_median_s", "%.2f", 1e6},
                                         {"+- %", 8, "iteration_spread", "%.1f", 100},
                                         {"x the first", 11, "times_first", "%.2f"},
                                         {"set-up ms", 9, "set_up_s", "%.2f", 1e3},
                                         {"residual", 9, "residual", "%.1e"}};

const std::vector<Column> dense_columns = {{"type", 0, "type"},
                                           {"columns", 9, "columns", "%.0f"},
                                           {"median us", 11, "median_s", "%.2f", 1e6},
                                           {"+- %", 6, "spread", "%.1f", 100},
                                           {"in products", 12, "products", "%.2f"},
                                           {"x the first", 11, "times_first", "%.2f"},
                                           {"error", 9, "error", "%.1e"}};

const std::vector<Column> solve_columns = {{"type", 0, "type"},
                                           {"ksp", 0, "ksp"},
                                           {"pc", 0, "pc"},
                                           {"columns", 9, "columns", "%.0f"},
                                           {"iteration us", 13, "iteration_s", "%.2f", 1e6},
                                           {"+- %", 6, "spread", "%.1f", 100},
                                           {"in solves", 10, "solves", "%.2f"},
                                           {"x the first", 11, "times_first", "%.2f"},
                                           {"error", 9, "error", "%.1e"}};

const std::vector<Column> coo_columns = {{"type", 0, "type"},
                                         {"coordinates", 0, "coordinates"},
                                         {"values", 0, "values_on"},
                                         {"preallocate ms", 15, "preallocation_s", "%.2f", 1e3},
                                         {"values ms", 11, "median_s", "%.3f", 1e3},
                                         {"+- %", 6, "spread", "%.1f", 100},
                                         {"x the first", 11, "times_first", "%.2f"},
                                         {"GB/s", 7, "gbs", "%.2f"},
                                         {"with product ms", 16, "with_product_median_s", "%.3f", 1e3},
                                         {"with solve ms", 14, "with_solve_median_s", "%.3f", 1e3},
                                         {"error", 9, "error", "%.1e"}};

const std::vector<Column> assembly_columns = {{"type", 0, "type"},
                                              {"ksp", 0, "ksp"},
                                              {"pc", 0, "pc"},
                                              {"insert ms", 10, "insert_s", "%.2f", 1e3},
                                              {"first solve", 12, "first_solve_s", "%.2f", 1e3},
                                              {"second solve", 13, "second_solve_s", "%.2f", 1e3},
                                              {"new values", 11, "new_values_s", "%.2f", 1e3},
                                              {"solve after", 12, "solve_after_s", "%.2f", 1e3},
                                              {"whole ms", 10, "whole_s", "%.2f", 1e3},
                                              {"+- %", 6, "whole_spread", "%.1f", 100},
                                              {"x the first", 11, "times_first", "%.2f"},
                                              {"first round", 12, "first_round_s", "%.2f", 1e3},
                                              {"its", 5, "iterations", "%.0f"},
                                              {"host MB", 9, "host_peak_bytes", "%.1f", 1e-6, nullptr, true},
                                              {"device MB", 9, "device_bytes", "%.1f", 1e-6, nullptr, true},
                                              {"residual", 9, "residual", "%.1e"}};

/// What is found at the first block is no time at all beside a product.
std::string of_products(double products) {
  return products < 0.005 ? "less than 0.01 products" : text("%.2f products", products);
}

void print_entry_check(std::ostream& out, const Record& r) {
  const Record& check = r.at("entry_check");
  const double seconds = median_of(check);
  out << "blocks are of format " << check.value("entry", "") << text(": found in %.1f us", 1e6 * seconds);
  const Record *const dense = best_of_dense(r), *const ours = best_of_ours(r);
  for (const Record* c : {dense, ours == dense ? nullptr : ours})
    if (c) out << ", " << of_products(seconds / median_of(*c)) << " of " << c->value("name", "");
  out << "\n";
}

void print_plans(std::ostream& out, const Record& rows) {
  for (const Record& row : rows)
    if (!row.value("plan", "").empty())
      out << "plan of " << row.value("name", "") << ": " << row.value("plan", "") << "\n";
}

void print_candidates(std::ostream& out, const Record& r) {
  print_rows(out, candidate_columns(r), r.at("candidates"));
  if (r.contains("entry_check")) print_entry_check(out, r);
  const Record *theirs = best_of_cusparse(r), *ours = best_of_ours(r);
  if (theirs && ours)
    out << "best of cuSPARSE: " << theirs->value("name", "") << "; of this plugin: " << ours->value("name", "") << ", "
        << text("%.2f", times(*theirs, *ours)) << " times as fast\n";
  if (r.contains("left_out"))
    for (const Record& l : r.at("left_out"))
      out << "left out: " << l.value("name", "") << ": " << l.value("why", "") << "\n";
  print_plans(out, r.at("candidates"));
}

}  // namespace

void print_case(std::ostream& out, const Record& r, const Options& o) {
  print_head(out, r, o);
  if (r.contains("candidates")) print_candidates(out, r);
  if (r.contains("layouts")) print_rows(out, layout_columns, r.at("layouts"));
  if (r.contains("layouts")) print_plans(out, r.at("layouts"));
  if (r.contains("dense")) print_rows(out, dense_columns, r.at("dense"));
  if (r.contains("ksp")) print_rows(out, ksp_columns, r.at("ksp"));
  if (r.contains("columns")) print_rows(out, solve_columns, r.at("columns"));
  if (r.contains("assembly")) print_rows(out, assembly_columns, r.at("assembly"));
  if (r.contains("coo")) {
    out << text("assembly from %.1f MB of scalars by coordinates\n", r.value("coo_bytes", 0.0) / 1e6);
    print_rows(out, coo_columns, r.at("coo"));
  }
  out.flush();
}

void print_effect_of_order(std::ostream& out, const Record& cases) {
  const Record& now = cases.back();
  const Record& first = *std::ranges::find_if(
      cases, [&](const Record& r) { return r.at("matrix") == now.at("matrix") && r.at("block") == now.at("block"); });
  if (first.at("ordering") == now.at("ordering") || !now.contains("candidates")) return;
  for (std::size_t i = 0; i < now.at("candidates").size(); ++i) {
    const Record &before = first.at("candidates")[i], &after = now.at("candidates")[i];
    out << now.value("ordering", "") << " beside " << first.value("ordering", "") << ": " << after.value("name", "")
        << text(" %.2f times as fast, packed MB %.1f, before %.1f\n", median_of(before) / median_of(after),
                after.value("packed_bytes", 0.0) / 1e6, before.value("packed_bytes", 0.0) / 1e6);
  }
  out.flush();
}

namespace {

constexpr CsvColumn csv_columns[] = {{"description"},
                                     {"ordering"},
                                     {"block"},
                                     {"block_rows"},
                                     {"blocks"},
                                     {"ranks"},
                                     {"operation"},
                                     {"candidate", "name"},
                                     {"kind"},
                                     {"plan"},
                                     {"median_s"},
                                     {"least_s"},
                                     {"spread"},
                                     {"cold_median_s"},
                                     {"graph_median_s"},
                                     {"compulsory_bytes"},
                                     {"share_of_read"},
                                     {"times_baseline"},
                                     {"first_pack_s"},
                                     {"new_values_s"},
                                     {"new_values_there_s"},
                                     {"parent_bytes"},
                                     {"packed_bytes"},
                                     {"padding"},
                                     {"error"}};

/// One for each candidate and layout of each case.
std::vector<Record> csv_lines(const Record& run) {
  std::vector<Record> lines;
  for (const Record& r : run.at("cases"))
    for (const char* rows : {"candidates", "layouts"})
      for (const Record& row : r.value(rows, Record::array())) {
        if (row.contains("why")) continue;
        Record& line = lines.emplace_back(r);
        line["operation"] = run.at("operation");
        line.update(row);
      }
  return lines;
}

}  // namespace

void write_results(const Options& o, const Record& run) {
  if (!o.json.empty()) write_json(o.json, run);
  if (!o.csv.empty()) write_csv(o.csv, csv_columns, csv_lines(run));
}

}  // namespace compound::bench
