#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "report.hpp"
#include "statistics.hpp"

namespace compound::bench {

namespace {

template <class... Values>
std::string text(const char* format, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  return buffer;
}

double gbs(double bytes, double seconds) { return seconds > 0 ? bytes / seconds / 1e9 : 0; }

std::string percent(double fraction) { return text("%.1f", 100 * fraction); }

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

void print_table(std::ostream& out, const CaseResult& r, const Options& o) {
  print_head(out, r, o);
  std::size_t width = 9;
  for (const CandidateResult& c : r.candidates) width = std::max(width, c.name.size());
  const int w = static_cast<int>(width);
  const CandidateResult& base = r.candidates[r.baseline];
  const double base_s = statistics_of(base.samples.seconds).median;
  const double read_gbs = gbs(r.read_bytes, statistics_of(r.read.seconds).median);
  out << text("%-*s %11s %7s %7s %7s", w, "candidate", "median us", "+- %", "GB/s", "% read");
  out << text(" %*s", std::max(6, static_cast<int>(base.name.size()) + 2), ("x " + base.name).c_str());
  out << text(" %7s %7s %10s %10s %9s\n", "pack", "values", "parent MB", "packed MB", "error");
  for (const CandidateResult& c : r.candidates) {
    const Statistics s = statistics_of(c.samples.seconds);
    const double rate = gbs(c.compulsory_bytes, s.median);
    out << text("%-*s %11.2f %7s %7.2f %7s", w, c.name.c_str(), 1e6 * s.median, percent(s.spread).c_str(), rate,
                percent(read_gbs > 0 ? rate / read_gbs : 0).c_str());
    out << text(" %*.2f", std::max(6, static_cast<int>(base.name.size()) + 2), s.median > 0 ? base_s / s.median : 0);
    out << text(" %7.1f %7.1f %10.1f %10.1f %9s\n", s.median > 0 ? c.first_pack_s / s.median : 0,
                s.median > 0 ? c.new_values_s / s.median : 0, c.parent_bytes / 1e6, c.packed_bytes / 1e6,
                error_text(c).c_str());
  }
  for (const CandidateResult& c : r.candidates)
    if (!c.plan.empty()) out << "plan of " << c.name << ": " << c.plan << "\n";
  out.flush();
}

}  // namespace compound::bench
