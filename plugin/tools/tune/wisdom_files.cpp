#include "wisdom_files.hpp"

#include <algorithm>
#include <ostream>

#include "failure.hpp"
#include "planner/wisdom_file.hpp"
#include "text.hpp"

namespace compound::bench::tune {

namespace {

Wisdom read(const char* option, const std::string& file) {
  WisdomFile read = read_wisdom(file);
  if (!read.problem.empty())
    throw usage_error(std::string(option) + ": " + read.problem + "; give a file that tuning has written");
  return std::move(read.wisdom);
}

}  // namespace

void check_wisdom(const std::string& file) { read("-wisdom", file); }

std::size_t merge_wisdom(const std::vector<std::string>& files, const std::string& to) {
  Wisdom all;
  for (const std::string& file : files) all.merge(read("-merge", file));
  const std::string lost = merge_into_wisdom(to, all);
  if (!lost.empty()) throw usage_error("-merge: not all is in " + to + ": " + lost);
  return all.size();
}

void print_wisdom(std::ostream& out, const std::string& file) {
  const std::vector<WisdomEntry> entries = read("-list", file).entries();
  std::size_t device = 6, problem = 7;  // as wide as their titles
  for (const WisdomEntry& e : entries) {
    device = std::max(device, e.key.device.size());
    problem = std::max(problem, e.key.problem.size());
  }
  const auto line = [&](const std::string& d, const std::string& p, const std::string& of, const std::string& pattern,
                        const std::string& us, const std::string& gain, const std::string& effort,
                        const std::string& plan) {
    out << text("%-*s  %-*s  %-18s  %-16s  %12s  %6s  %-10s  %s\n", int(device), d.c_str(), int(problem), p.c_str(),
                of.c_str(), pattern.c_str(), us.c_str(), gain.c_str(), effort.c_str(), plan.c_str());
  };
  line("device", "problem", "class", "pattern", "us", "x rule", "effort", "plan");
  for (const WisdomEntry& e : entries)
    line(e.key.device, e.key.problem, to_string(e.key.pattern_class),
         text("%016llx", static_cast<unsigned long long>(e.key.pattern)), text("%.2f", 1e6 * e.seconds),
         text("%.2f", e.gain), e.effort, e.plan);
  out << text("%zu plans in %s\n", entries.size(), file.c_str());
}

}  // namespace compound::bench::tune
