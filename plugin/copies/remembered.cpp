#include "copies/remembered.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "plan/library_products.hpp"
#include "planner/plan_key.hpp"
#include "planner/wisdom_file.hpp"

namespace compound::plugin {

namespace {

std::string path_of(const std::string& wisdom) {
  if (wisdom == "none") return "";
  if (wisdom != "auto") return wisdom;
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : folder + "/wisdom";
}

/// For all users of a machine, made by who looks after it.
std::string site_path() {
  const std::string named = from_environment("COMPOUND_SITE_WISDOM");
  return named.empty() ? "/etc/petsc-compound/wisdom" : named;
}

/// The plan of a line, if the copy can take it.
std::optional<Plan> usable(const std::string& line, const Packing& p, const PatternView& pattern, const Plan& base) {
  const Settings& s = p.st.settings;
  const Problem& problem = p.copy.problem;
  try {
    const Plan plan = parse_plan(line, base);
    const bool as_asked = plan.entry == base.entry && plan.values == base.values && plan.codes == base.codes &&
                          plan.layout.vector_group == base.layout.vector_group &&
                          (s.layout == "auto" || (plan.layout == base.layout && plan.later == base.later)) &&
                          (plan.schedule.library.empty() || library_of(plan) == s.tried_library());
    const Backend& serving = backend(row_of(p.place).backend);
    if (!as_asked || why_not(plan, problem, serving)) return {};
    if (beyond(s.limits(), pattern, problem, plan, serving)) return {};
    return plan;
  } catch (const error&) {
    return {};
  }
}

}  // namespace

Remembered remembered(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                      const Plan& base) {
  Remembered found;
  found.path = path_of(p.st.settings.wisdom);
  if (found.path.empty()) return found;
  found.key = plan_key(pattern, numbers, p.copy.problem, base, p.st.settings.layout, backend(row_of(p.place).backend),
                       p.st.settings.tried_library());
  // The user's own is newer; an entry of this very pattern comes before all of its class.
  std::optional<WisdomFound> best;
  for (const std::string& path : {found.path, site_path()}) {
    WisdomLookUp one = look_up_wisdom(path, found.key);
    if (!one.problem.empty()) found.problem = one.problem;
    if (one.found && (!best || one.found->match < best->match)) best = std::move(one.found);
  }
  if (!best) return found;
  found.plan = usable(best->entry.plan, p, pattern, base);
  found.is_of_pattern = best->match == WisdomMatch::pattern;
  found.entry = std::move(best->entry);
  return found;
}

std::string remember(const Remembered& at, const Measured& best, double gain, const std::string& effort) {
  if (at.path.empty()) return "";
  return add_to_wisdom(at.path, {{at.key, to_string(best.plan), best.seconds, gain, effort}});
}

}  // namespace compound::plugin
