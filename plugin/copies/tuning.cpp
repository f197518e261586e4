#include "copies/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/lock.hpp"
#include "copies/remembered.hpp"
#include "edge/log.hpp"
#include "planner/candidates.hpp"
#include "planner/model.hpp"

namespace compound::plugin {

namespace {

/// Why tuning, although asked for, is not for this copy; empty if it is.
std::string why_not_tuned(const Packing& p, const PatternView& pattern, const Plan& base) {
  if (!p.st.settings.plan_of_part(p.st.off_diagonal).empty()) return "a plan was asked for";
  if (p.b.entries() == 0) return "there are no blocks";
  const Backend& on = backend(row_of(p.place).backend);
  if (const auto why = on.applicable(base, p.copy.problem)) return *why;
  return too_much_memory(pattern, p.copy.problem, base, on, p.st.settings.limits()).value_or("");
}

/// `base` first, then the one that was the best for a pattern like this, then what else may be tried.
/// `beyond_memory`: how many are left out for what their packed copies would own.
std::vector<Plan> plans_to_try(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                               const Plan& base, const std::optional<Plan>& remembered, int* beyond_memory) {
  const Settings& s = p.st.settings;
  const Problem& problem = p.copy.problem;
  const Backend& on = backend(row_of(p.place).backend);
  const Search search = s.tune == "exhaustive" ? Search::all : Search::near;
  std::vector<Plan> plans = s.layout == "auto"
                                ? candidates(search, base, numbers, problem, on, VectorOrder::petsc, s.tried_library())
                                : schedules(search, base, problem, on);
  const auto large = leave_out_large(plans, pattern, problem, on, s.limits(), search);
  *beyond_memory = static_cast<int>(std::ranges::count(large, true, &LargePlan::by_memory));
  if (search == Search::near && base.schedule.of_device() && s.layout == "auto")
    order_by_model(plans, pattern, numbers, problem, on);
  if (remembered && *remembered != base) {
    std::erase(plans, *remembered);
    plans.insert(plans.begin() + 1, *remembered);
  }
  return plans;
}

/// Where products of a library are asked for and there are none: why, which would else be told nowhere.
std::string why_without_library(const Packing& p, const PatternStatistics& numbers, const Plan& base) {
  const Settings& s = p.st.settings;
  if (s.tried_library().empty() || s.layout != "auto") return "";
  const std::string why =
      why_no_library_plan(s.tried_library(), base, numbers, p.copy.problem, backend(row_of(p.place).backend));
  return why.empty() ? "" : "; none by " + s.tune_libraries + " (" + why + ")";
}

std::string times_as_fast(double gain) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f times as fast as that ", gain);
  return text;
}

/// "by measurement: 1.25 times as fast as that by rule; 9 of 12 plans timed in 148 products".
std::string text_of(const Measurement& m, const Measured& best, const std::string& base) {
  char text[96];
  std::snprintf(text, sizeof(text), "; %d of %zu plans timed in %.0f products", m.timed, m.all.size(), m.products);
  return "by measurement: " + (best.place == 0 ? "nothing is faster than that " : times_as_fast(gain(m, best))) + base +
         text;
}

/// Prints each plan that is better than those before it, and the end: processes tune their parts by themselves.
std::function<void(const Measured&)> monitor(std::size_t plans) {
  return [best = BestSoFar(plans)](const Measured& m) mutable {
    if (best.add(m) || best.has_all()) (void)PetscPrintf(PETSC_COMM_SELF, "compound tuning: %s\n", best.text().c_str());
  };
}

/// Processes of a computer that share a device time one after the other. Who waits too long, or finds no folder, goes
/// on beside the others: nothing hangs on this lock but how steady times are, and no process waits for another that has
/// ended.
std::optional<FileLock> turn_on(const Backend& on) {
  constexpr std::chrono::seconds longest_wait{60};
  const std::string folder = user_cache_folder();
  if (!on.is_device() || folder.empty()) return {};
  char computer[256] = "";
  if (gethostname(computer, sizeof(computer) - 1) != 0) return {};  // folders may be of several
  make_folders(folder);
  return std::optional<FileLock>(std::in_place, folder + "/timing-" + computer + "-" + on.machine().slot, longest_wait);
}

/// By measuring; `base` where nothing can be.
Plan measured_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers, const Plan& base,
                   const Remembered& before) {
  const Settings& s = p.st.settings;
  const LogSpan span(Event::tune, p.A);
  PackedCopy& copy = p.copy;
  int beyond_memory = 0;
  const std::vector<Plan> plans = plans_to_try(p, pattern, numbers, base, before.plan, &beyond_memory);
  Backend& on = backend(row_of(p.place).backend);
  {
    const auto turn = turn_on(on);
    copy.measured = measure(pattern, copy.problem, plans, on, packed_values(p), s.measure_limits(),
                            s.tune_monitor ? monitor(plans.size()) : nullptr);
  }
  const double weight = s.memory_weight();
  const Measured* const best = weight > 0 ? best_score(copy.measured, weight) : choice(copy.measured);
  if (!best) {
    copy.origin += " (nothing could be measured: " + copy.measured.all.front().failure + ")";
    return base;
  }
  copy.origin = text_of(copy.measured, *best, copy.origin) + why_without_library(p, numbers, base);
  if (weight > 0) {  // wisdom keeps what is fastest
    copy.origin += "; chosen by -mat_compound_tune_score " + s.tune_score;
    return best->plan;
  }
  if (beyond_memory > 0)
    copy.origin += "; " + std::to_string(beyond_memory) + " left out by -mat_compound_memory_limit";
  const std::string lost = beyond_memory > 0 ? "plans without that limit may be faster"
                                             : remember(before, *best, gain(copy.measured, *best), s.tune);
  if (!lost.empty()) copy.origin += " (not kept: " + lost + ")";
  return best->plan;
}

/// Once for all matrices: it is a matter of the program's environment.
void warn_of_tables(const std::string& problem) {
  static bool warned = false;
  if (problem.empty() || warned) return;
  warned = true;
  (void)PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                     "compound: COMPOUND_DEVICES is not used, the built-in tables of devices are: %s\n",
                     problem.c_str());
}

/// By predicted times; `base` where there are none.
Plan modelled_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers, const Plan& base) {
  const Settings& s = p.st.settings;
  std::string& origin = p.copy.origin;
  if (!base.schedule.of_device() || s.layout != "auto") {
    origin += base.schedule.of_device() ? " (not tuned: a layout was asked for, and the model chooses among layouts)"
                                        : " (not tuned: the model is of devices)";
    return base;
  }
  const LogSpan span(Event::tune, p.A);
  const Problem& problem = p.copy.problem;
  const Backend& on = backend(row_of(p.place).backend);
  const Prediction best =
      predicted_best(candidates(Search::few, base, numbers, problem, on), pattern, numbers, problem, on, s.limits());
  const std::string own = on.machine().device;
  const std::string by = best.device == own ? "" : " (of " + best.device + ", the nearest that has a table)";
  warn_of_tables(best.problem_with_file);
  origin = "by model" + by + ": " +
           (best.plan == base ? "nothing promises to be faster than that " : times_as_fast(best.gain)) + origin;
  return best.plan;
}

/// Whether what was found by `effort` is as good as what would be.
bool is_enough(const std::string& effort, const std::string& asked) { return effort == asked || asked != "exhaustive"; }

}  // namespace

Plan tuned_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers, const Plan& base) {
  constexpr double least_products = 200;  // of which a tenth is the least that measuring takes
  const Settings& s = p.st.settings;
  std::string& origin = p.copy.origin;
  if (const std::string why = why_not_tuned(p, pattern, base); !why.empty()) {
    origin += " (not tuned: " + why + ")";
    return base;
  }
  if (s.tune == "model") return modelled_plan(p, pattern, numbers, base);
  const bool only_wisdom = s.tune == "wisdom";
  if (only_wisdom && s.memory_weight() > 0) {
    origin += " (not tuned: wisdom keeps what is fastest, and -mat_compound_tune_score wants memory to count)";
    return base;
  }
  Remembered before;
  if (s.memory_weight() == 0) {
    const LogSpan span(Event::tune, p.A);
    before = remembered(p, pattern, numbers, base);
  }
  const std::string unread = before.problem.empty() ? "" : " (wisdom: " + before.problem + ")";
  if (before.plan && (only_wisdom || (before.is_of_pattern && is_enough(before.entry.effort, s.tune)))) {
    origin = "by wisdom: for " + std::string(before.is_of_pattern ? "this pattern " : "patterns like this ") +
             times_as_fast(before.entry.gain) + origin + unread;
    return *before.plan;
  }
  if (only_wisdom || s.products_expected() < least_products) {
    origin += only_wisdom ? " (nothing in " + (before.path.empty() ? "no wisdom file" : before.path) + ")"
                          : " (not tuned: " + s.expected_products + " products are too few to pay for it)";
    origin += unread;
    return base;
  }
  const Plan plan = measured_plan(p, pattern, numbers, base, before);
  origin += unread;
  return plan;
}

}  // namespace compound::plugin
