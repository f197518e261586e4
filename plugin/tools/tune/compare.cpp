#include "compare.hpp"

#include <algorithm>
#include <fstream>

#include "failure.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {

namespace {

template <class Read>
auto guarded(const char* option, const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const Record::exception& e) {
    throw usage_error(std::string(option) + ": '" + file + "' is no JSON file of compound-tune: " + e.what() +
                      "; write it by -json");
  }
}

}  // namespace

Record read_results(const char* option, const std::string& file) {
  return guarded(option, file, [&] {
    std::ifstream in(file);
    Record j = Record::parse(in);
    if (j.at("program") != "compound-tune" || j.at("schema") != schema)
      throw usage_error(std::string(option) + ": '" + file + "' is not of this program's schema " +
                        std::to_string(schema) + "; write it by compound-tune -json");
    return j;
  });
}

SavedTimes read_times(const std::string& file) {
  return guarded("-compare", file, [&] {
    const Record j = read_results("-compare", file);
    SavedTimes times;
    for (const Record& c : j.at("cases")) {
      PlanTimes& plans = times[case_name(c.at("description"), c.at("block"), j.at("precision"))];
      for (const Record& p : c.at("plans")) {
        const double seconds = p.at("median_s").get<double>();
        if (!(seconds > 0))
          throw usage_error("-compare: '" + file + "': a time is not above 0; write it anew by -json");
        plans.emplace(p.at("plan").get<std::string>(), seconds);
      }
    }
    return times;
  });
}

namespace {

/// f(matrix, plan, seconds) for every time.
template <class F>
void for_each(const SavedTimes& times, const F& f) {
  for (const auto& [matrix, plans] : times)
    for (const auto& [plan, seconds] : plans) f(matrix, plan, seconds);
}

/// Null where there is none.
const double* find(const SavedTimes& times, const std::string& matrix, const std::string& plan) {
  const auto of_matrix = times.find(matrix);
  if (of_matrix == times.end()) return nullptr;
  const auto found = of_matrix->second.find(plan);
  return found == of_matrix->second.end() ? nullptr : &found->second;
}

}  // namespace

Comparison compared(const SavedTimes& before, const SavedTimes& after, double threshold) {
  Comparison c;
  for_each(before, [&](const std::string& matrix, const std::string& plan, double before_s) {
    const double* const after_s = find(after, matrix, plan);
    if (!after_s) {
      ++c.before_alone;
      return;
    }
    ++c.compared;
    const Change change{matrix, plan, before_s, *after_s};
    if (change.ratio() > threshold) c.slower.push_back(change);
    if (change.ratio() * threshold < 1) c.faster.push_back(change);
  });
  for_each(after, [&](const std::string& matrix, const std::string& plan, double) {
    if (!find(before, matrix, plan)) ++c.after_alone;
  });
  std::ranges::stable_sort(c.slower, std::greater{}, &Change::ratio);
  std::ranges::stable_sort(c.faster, {}, &Change::ratio);
  return c;
}

}  // namespace compound::bench::tune
