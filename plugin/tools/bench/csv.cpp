// Results as lines of comma-separated values (RFC 4180): one for each candidate and layout of each case.
#include <functional>

#include "output_file.hpp"
#include "report.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace compound::bench {

namespace {

struct Field {
  const char* name;
  std::function<std::string(const CaseResult&, const CandidateResult&)> text;
};

/// Empty where nothing was measured.
std::string median(const std::vector<double>& seconds) {
  return seconds.empty() ? "" : csv_number(statistics_of(seconds).median);
}

/// Not timed in the rounds of the others.
bool alone(const CandidateResult& c) { return c.kind == "layout"; }

std::vector<Field> fields_of(const Options& o) {
  using Case = const CaseResult&;
  using Result = const CandidateResult&;
  return {
      {"description", [](Case r, Result) { return r.description; }},
      {"ordering", [](Case r, Result) { return r.ordering; }},
      {"block", [](Case r, Result) { return std::to_string(r.block.rows) + "x" + std::to_string(r.block.cols); }},
      {"block_rows", [](Case r, Result) { return std::to_string(r.block_rows); }},
      {"blocks", [](Case r, Result) { return std::to_string(r.entries); }},
      {"ranks", [](Case r, Result) { return std::to_string(r.ranks); }},
      {"operation", [&o](Case, Result) { return std::string(name_of(o.operation)); }},
      {"candidate", [](Case, Result c) { return c.name; }},
      {"kind", [](Case, Result c) { return c.kind; }},
      {"plan", [](Case, Result c) { return c.plan; }},
      {"median_s", [](Case, Result c) { return median(c.samples.seconds); }},
      {"least_s", [](Case, Result c) { return csv_number(statistics_of(c.samples.seconds).least); }},
      {"spread", [](Case, Result c) { return csv_number(statistics_of(c.samples.seconds).spread); }},
      {"cold_median_s", [](Case, Result c) { return median(c.cold_s); }},
      {"graph_median_s", [](Case, Result c) { return median(c.graph_s); }},
      {"compulsory_bytes", [](Case, Result c) { return csv_number(c.compulsory_bytes); }},
      {"share_of_read", [](Case r, Result c) { return alone(c) ? "" : csv_number(share_of(r.read, c)); }},
      {"times_baseline", [](Case r, Result c) { return alone(c) ? "" : csv_number(times_baseline(r, c)); }},
      {"first_pack_s", [](Case, Result c) { return csv_number(c.first_pack_s); }},
      {"new_values_s", [](Case, Result c) { return csv_number(c.new_values_s); }},
      {"new_values_there_s",
       [](Case, Result c) { return c.new_values_there_s >= 0 ? csv_number(c.new_values_there_s) : ""; }},
      {"parent_bytes", [](Case, Result c) { return csv_number(c.parent_bytes); }},
      {"packed_bytes", [](Case, Result c) { return csv_number(c.packed_bytes); }},
      {"padding", [](Case r, Result c) { return c.slots > 0 ? csv_number(padding_of(r, c)) : ""; }},
      {"error", [](Case, Result c) { return c.allowed_error > 0 ? csv_number(c.error) : ""; }},
  };
}

}  // namespace

void write_csv(const std::string& file, const Options& o, const std::vector<CaseResult>& results) {
  const std::vector<Field> fields = fields_of(o);
  std::string text;
  const auto line = [&](const auto& cell) {
    for (std::size_t i = 0; i < fields.size(); ++i) text += (i ? "," : "") + csv_text(cell(fields[i]));
    text += "\n";
  };
  line([](const Field& f) { return std::string(f.name); });
  for (const CaseResult& r : results) {
    for (const CandidateResult& c : r.candidates) line([&](const Field& f) { return f.text(r, c); });
    for (const LayoutResult& l : r.layouts)
      if (l.why.empty()) line([&](const Field& f) { return f.text(r, l.result); });
  }
  write_output("-csv", file, text);
}

}  // namespace compound::bench
