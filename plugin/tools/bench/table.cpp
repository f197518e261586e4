#include <algorithm>
#include <cstdio>
#include <ostream>

#include "report.hpp"
#include "statistics.hpp"

namespace compound::bench {

namespace {

template <class... Values>
std::string text(const char* format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format, values...);
  std::string buffer(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  buffer.pop_back();
  return buffer;
}

double gbs(double bytes, double seconds) { return seconds > 0 ? bytes / seconds / 1e9 : 0; }

void print_head(std::ostream& out, const CaseResult& r, const Options& o) {
  const Statistics read = statistics_of(r.read.seconds);
  out << text("\n%s\n", r.description.c_str());
  out << text("%lld block rows, %lld blocks of %dx%d (%.1f a row), values %.1f MB, %d rank%s, %s, %d rounds; ",
              static_cast<long long>(r.block_rows), static_cast<long long>(r.entries), r.block_size, r.block_size,
              r.block_rows > 0 ? static_cast<double>(r.entries) / static_cast<double>(r.block_rows) : 0.0,
              r.value_bytes / 1e6, r.ranks, r.ranks == 1 ? "" : "s", std::string(name_of(o.operation)).c_str(),
              o.rounds);
  out << text("plain read %.2f GB/s (spread %.1f %%)\n", gbs(r.read_bytes, read.median), 100 * read.spread);
}

/// Shown as "-" where the candidates' results were not compared.
std::string error_text(const CandidateResult& c) { return c.allowed_error > 0 ? text("%.1e", c.error) : "-"; }

}  // namespace

double times_baseline(const CaseResult& r, const CandidateResult& c) {
  return paired_ratio(r.candidates[r.baseline].samples.seconds, c.samples.seconds);
}

double share_of_read(const CaseResult& r, const CandidateResult& c) {
  if (r.read_bytes == 0) return 0;
  return c.compulsory_bytes / r.read_bytes * paired_ratio(r.read.seconds, c.samples.seconds);
}

namespace {

void print_row(std::ostream& out, const CaseResult& r, const CandidateResult& c, int name_width, int ratio_width) {
  const Statistics s = statistics_of(c.samples.seconds);
  const double per_product = s.median > 0 ? 1 / s.median : 0;
  out << text("%-*s %11.2f %11.2f %6.1f %7.2f %7.1f", name_width, c.name.c_str(), 1e6 * s.median, 1e6 * s.least,
              100 * s.spread, gbs(c.compulsory_bytes, s.median), 100 * share_of_read(r, c));
  out << text(" %*.2f %7.1f %7.1f %10.1f %10.1f %9s\n", ratio_width, times_baseline(r, c), c.first_pack_s * per_product,
              c.new_values_s * per_product, c.parent_bytes / 1e6, c.packed_bytes / 1e6, error_text(c).c_str());
}

}  // namespace

void print_table(std::ostream& out, const CaseResult& r, const Options& o) {
  print_head(out, r, o);
  std::size_t width = 9;
  for (const CandidateResult& c : r.candidates) width = std::max(width, c.name.size());
  const int name_width = static_cast<int>(width);
  const std::string ratio = "x " + r.candidates[r.baseline].name;
  const int ratio_width = std::max(6, static_cast<int>(ratio.size()));
  out << text("%-*s %11s %11s %6s %7s %7s", name_width, "candidate", "median us", "least us", "+- %", "GB/s", "% read");
  out << text(" %*s %7s %7s %10s %10s %9s\n", ratio_width, ratio.c_str(), "pack", "values", "parent MB", "packed MB",
              "error");
  for (const CandidateResult& c : r.candidates) print_row(out, r, c, name_width, ratio_width);
  for (const CandidateResult& c : r.candidates)
    if (!c.plan.empty()) out << "plan of " << c.name << ": " << c.plan << "\n";
  out.flush();
}

}  // namespace compound::bench
