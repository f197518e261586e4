#include "wisdom_files.hpp"

#include <ostream>

#include "failure.hpp"
#include "planner/wisdom_file.hpp"
#include "record.hpp"
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
  Record rows = Record::array();
  for (const WisdomEntry& e : entries)
    rows.push_back({{"device", e.key.device},
                    {"problem", e.key.problem},
                    {"class", to_string(e.key.pattern_class)},
                    {"pattern", text("%016llx", static_cast<unsigned long long>(e.key.pattern))},
                    {"seconds", e.seconds},
                    {"gain", e.gain},
                    {"effort", e.effort},
                    {"plan", e.plan}});
  print_rows(out,
             {{"device", 0, "device"},
              {"problem", 0, "problem"},
              {"class", 0, "class"},
              {"pattern", 0, "pattern"},
              {"us", 12, "seconds", "%.2f", 1e6},
              {"x default", 9, "gain", "%.2f"},
              {"effort", 0, "effort"},
              {"plan", 0, "plan"}},
             rows);
  out << text("%zu plans in %s\n", entries.size(), file.c_str());
}

}  // namespace compound::bench::tune
