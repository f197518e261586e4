#include "planner/search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/lock.hpp"
#include "plan/library_products.hpp"
#include "planner/model.hpp"
#include "planner/plan_key.hpp"
#include "planner/wisdom_file.hpp"

namespace compound {

namespace {

constexpr std::string_view words[] = {"off", "model", "wisdom", "measure", "exhaustive"};

/// Products after which a tenth of their time pays for measuring.
constexpr double least_products = 200;

/// For all users of a machine, made by its administrator.
std::string site_wisdom() {
  const std::string named = from_environment("COMPOUND_SITE_WISDOM");
  return named.empty() ? "/etc/petsc-compound/wisdom" : named;
}

WisdomKey key_of(const SearchedMatrix& m, const Plan& base, const SearchOptions& o) {
  return plan_key(m.pattern, m.numbers, m.problem, base, o.layout, m.on, o.library);
}

/// The plan of a line of wisdom, if the matrix can take it.
std::optional<Plan> usable(const std::string& line, const SearchedMatrix& m, const Plan& base, const SearchOptions& o) {
  try {
    const Plan plan = parse_plan(line, base);
    const bool as_asked = plan.entry == base.entry && plan.values == base.values && plan.codes == base.codes &&
                          plan.layout.vector_group == base.layout.vector_group &&
                          (o.layout == "auto" || (plan.layout == base.layout && plan.later == base.later)) &&
                          (plan.schedule.library.empty() || library_of(plan) == o.library);
    if (!as_asked || why_not(plan, m.problem, m.on)) return {};
    if (beyond(o.limits, m.pattern, m.problem, plan, m.on)) return {};
    return plan;
  } catch (const error&) {
    return {};
  }
}

/// What the wisdom files have for a matrix.
struct Remembered {
  WisdomKey key;               ///< of the matrix; made of all its pattern, and so once
  std::string problem;         ///< why a file was not used, in words; empty if each was
  std::optional<Plan> plan;    ///< that the matrix can take
  bool is_of_pattern = false;  ///< of this very pattern, not of one like it
  WisdomEntry entry;           ///< of `plan`
};

/// Looks for the pattern, then for its class. A plan that the matrix cannot take is as good as none.
Remembered remembered(const SearchedMatrix& m, const Plan& base, const SearchOptions& o) {
  Remembered found;
  if (o.wisdom.empty()) return found;
  found.key = key_of(m, base, o);
  // The user's own is newer; an entry of this very pattern comes before all of its class.
  std::optional<WisdomFound> best;
  for (const std::string& path : {o.wisdom, site_wisdom()}) {
    WisdomLookUp one = look_up_wisdom(path, found.key);
    if (!one.problem.empty()) found.problem = one.problem;
    if (one.found && (!best || one.found->match < best->match)) best = std::move(one.found);
  }
  if (!best) return found;
  found.plan = usable(best->entry.plan, m, base, o);
  found.is_of_pattern = best->match == WisdomMatch::pattern;
  found.entry = std::move(best->entry);
  return found;
}

std::string keep(const WisdomKey& key, const SearchOptions& o, const Measured& best, double gain) {
  if (o.wisdom.empty()) return "";
  return add_to_wisdom(o.wisdom, {{key, to_string(best.plan), best.seconds, gain, std::string(word_of(o.effort))}});
}

/// Whether what was found by `effort` is as good as what would be.
bool is_enough(std::string_view effort, Effort asked) {
  return effort == word_of(asked) || asked != Effort::exhaustive;
}

std::string times_as_fast(double gain) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f times as fast as the plan ", gain);
  return text;
}

/// "of the default heuristic", "asked for as layout csr": of the base plan, behind a noun.
std::string of_origin(const std::string& origin) {
  return (origin.starts_with("default heuristic") ? "of the " : "") + origin;
}

/// "by measurement: 1.25 times as fast as the plan of the default heuristic; 9 of 12 plans timed in 148 products".
std::string text_of(const Measurement& m, const Measured& best, const std::string& base) {
  char text[96];
  std::snprintf(text, sizeof(text), "; %d of %zu plans timed in %.0f products", m.timed, m.all.size(), m.products);
  return "by measurement: " + (best.place == 0 ? "nothing is faster than the plan " : times_as_fast(gain(m, best))) +
         of_origin(base) + text;
}

/// Where products of a library are asked for and there are none: why, which nothing else would tell.
std::string why_without_library(const SearchedMatrix& m, const Plan& base, const SearchOptions& o) {
  if (o.library.empty() || o.layout != "auto") return "";
  const std::string why = why_no_library_plan(o.library, base, m.numbers, m.problem, m.on);
  return why.empty() ? "" : "; none by " + o.library + " (" + why + ")";
}

/// A lock on the device among the processes of this computer, for a minute at most. Without it, or without a folder for
/// it, measuring goes on: only the steadiness of times depends on it.
std::optional<FileLock> turn_on(const Backend& on) {
  constexpr std::chrono::seconds longest_wait{60};
  const std::string folder = user_cache_folder();
  if (!on.is_device() || folder.empty()) return {};
  char computer[256] = "";
  if (gethostname(computer, sizeof(computer) - 1) != 0) return {};  // folders may be of several
  make_folders(folder);
  return std::optional<FileLock>(std::in_place, folder + "/timing-" + computer + "-" + on.machine().slot, longest_wait);
}

FoundPlan by_model(const SearchedMatrix& m, const Plan& base, const std::string& origin, const SearchOptions& o) {
  if (!base.schedule.of_device()) return {base, origin + " (not tuned: the model is of devices)"};
  if (o.layout != "auto")
    return {base, origin + " (not tuned: a layout was asked for, and the model chooses among layouts)"};
  const auto plans = candidates(Search::few, base, m.numbers, m.problem, m.on);
  const Prediction best = predicted_best(plans, m.pattern, m.numbers, m.problem, m.on, o.limits);
  const std::string by =
      best.device == m.on.machine().device ? "" : " (of " + best.device + ", the nearest that has a table)";
  const std::string gained =
      best.plan == base ? "nothing promises to be faster than the plan " : times_as_fast(best.gain);
  return {best.plan, "by model" + by + ": " + gained + of_origin(origin), {}, best.problem_with_file};
}

FoundPlan by_measuring(const SearchedMatrix& m, const Plan& base, const std::string& origin, const SearchOptions& o,
                       const Remembered& before, const void* values) {
  const std::vector<Plan> beside = before.plan ? std::vector<Plan>{*before.plan} : std::vector<Plan>{};
  const PlansToTry tried = plans_to_try(m, base, o, beside);
  FoundPlan found{base, origin, measured_in_turn(m, tried.plans, values, o)};
  const Measured* const best = best_of(found.measured, o.memory_weight);
  if (!best) {
    found.origin += " (nothing could be measured: " + found.measured.all.front().failure + ")";
    return found;
  }
  found.plan = best->plan;
  found.origin = text_of(found.measured, *best, origin) + why_without_library(m, base, o);
  if (o.memory_weight > 0) {  // wisdom keeps what is fastest
    char weight[64];
    std::snprintf(weight, sizeof(weight), "; chosen by time and memory, which weighs %g", o.memory_weight);
    found.origin += weight;
    return found;
  }
  const auto beyond_memory = std::ranges::count(tried.left_out, true, &LargePlan::by_memory);
  if (beyond_memory > 0) found.origin += "; " + std::to_string(beyond_memory) + " left out by the memory limit";
  const std::string lost = beyond_memory > 0 ? "plans without that limit may be faster"
                                             : keep(before.key, o, *best, gain(found.measured, *best));
  if (!lost.empty()) found.origin += " (not kept: " + lost + ")";
  if (beyond_memory == 0) found.problem_with_wisdom = lost;
  return found;
}

}  // namespace

std::span<const std::string_view> effort_words() { return words; }

PlansToTry plans_to_try(const SearchedMatrix& m, const Plan& base, const SearchOptions& o,
                        std::span<const Plan> beside) {
  const Search which = candidates_of(o.effort);
  PlansToTry r;
  r.plans = o.effort == Effort::rule ? std::vector{base}
            : o.layout == "auto"     ? candidates(which, base, m.numbers, m.problem, m.on, o.vectors, o.library)
                                     : schedules(which, base, m.problem, m.on);
  r.left_out = leave_out_large(r.plans, m.pattern, m.problem, m.on, o.limits, which);
  if (which == Search::near && base.schedule.of_device() && o.layout == "auto")
    std::ranges::move(order_by_model(r.plans, m.pattern, m.numbers, m.problem, m.on), std::back_inserter(r.left_out));
  std::size_t place = 1;
  for (const Plan& plan : beside) {
    if (std::find(r.plans.begin(), r.plans.begin() + place, plan) != r.plans.begin() + place) continue;
    std::erase(r.plans, plan);
    std::erase_if(r.left_out, [&](const LargePlan& l) { return l.plan == plan; });
    if (const auto why = beyond(o.limits, m.pattern, m.problem, plan, m.on))
      r.left_out.push_back({plan, *why});
    else
      r.plans.insert(r.plans.begin() + place++, plan);
  }
  return r;
}

Measurement measured_in_turn(const SearchedMatrix& m, const std::vector<Plan>& plans, const void* values,
                             const SearchOptions& o) {
  const auto turn = turn_on(m.on);
  const auto report = [&o, best = BestSoFar(plans.size())](const Measured& one) mutable {
    const bool is_new = best.add(one);
    o.report(best, is_new);
  };
  return measure(m.pattern, m.problem, plans, m.on, values, o.measuring,
                 o.report ? std::function<void(const Measured&)>(report) : nullptr);
}

const Measured* best_of(const Measurement& measurement, double memory_weight) {
  return memory_weight > 0 ? best_score(measurement, memory_weight) : choice(measurement);
}

std::string keep_in_wisdom(const SearchedMatrix& m, const Plan& base, const SearchOptions& o, const Measured& best,
                           double gain) {
  return o.wisdom.empty() ? "" : keep(key_of(m, base, o), o, best, gain);
}

std::optional<FasterLayout> faster_by_wisdom(const SearchedMatrix& m, const Plan& asked, const Plan& base,
                                             const SearchOptions& o) {
  constexpr double worth_telling = 1.05;
  SearchOptions any = o;
  any.layout = "auto";
  const Remembered best = remembered(m, base, any);
  if (!best.plan || best.plan->layout.preset == asked.layout.preset) return {};
  const Remembered own = remembered(m, asked, o);
  // An entry's gain is over the plan that was asked for.
  const bool both = own.plan && own.is_of_pattern && best.is_of_pattern;
  const double times = both ? own.entry.seconds * own.entry.gain / best.entry.seconds : 0;
  if (both && times < worth_telling) return {};
  return FasterLayout{layout_name(best.plan->layout), times};
}

FoundPlan search(const SearchedMatrix& m, const Plan& base, const std::string& origin, const SearchOptions& o,
                 const std::function<const void*()>& values) {
  if (o.effort == Effort::rule) return {base, origin};
  auto why = m.on.applicable(base, m.problem);
  if (!why) why = too_much_memory(m.pattern, m.problem, base, m.on, o.limits);
  if (why) return {base, origin + " (not tuned: " + *why + ")"};
  if (o.effort == Effort::model) return by_model(m, base, origin, o);
  const bool only_wisdom = o.effort == Effort::wisdom;
  if (only_wisdom && o.memory_weight > 0)
    return {base, origin + " (not tuned: wisdom keeps what is fastest, and memory is to count)"};
  const Remembered before = o.memory_weight > 0 ? Remembered{} : remembered(m, base, o);
  const std::string unread = before.problem.empty() ? "" : " (wisdom: " + before.problem + ")";
  if (before.plan && (only_wisdom || (before.is_of_pattern && is_enough(before.entry.effort, o.effort))))
    return {*before.plan,
            "by wisdom: for " + std::string(before.is_of_pattern ? "this pattern " : "patterns like this ") +
                times_as_fast(before.entry.gain) + of_origin(origin) + unread,
            {},
            {},
            before.problem};
  if (only_wisdom)
    return {base,
            origin + " (nothing in " + (o.wisdom.empty() ? "no wisdom file" : o.wisdom) + ")" + unread,
            {},
            {},
            before.problem};
  if (o.products_expected < least_products) {
    char text[96];
    std::snprintf(text, sizeof(text), " (not tuned: %g products are too few to pay for it)", o.products_expected);
    return {base, origin + text + unread};
  }
  FoundPlan found = by_measuring(m, base, origin, o, before, values());
  found.origin += unread;
  if (!before.problem.empty()) found.problem_with_wisdom = before.problem;
  return found;
}

}  // namespace compound
