#include "copies/remembered.hpp"

#include "error.hpp"
#include "user_files.hpp"
#include "wisdom_file.hpp"

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

/// What a plan may have been found for: another layout would not be this user's to take.
std::string text_of(const Settings& s, const Problem& problem, const Plan& base) {
  std::string text = std::to_string(problem.block.rows) + "x" + std::to_string(problem.block.cols) +
                     (problem.scalar.field == Field::complex ? " complex " : " real ") +
                     std::string(name_of(problem.scalar.precision));
  text += ", entry " + std::string(base.entry) + ", values " + std::string(name_of(base.values));
  return text + ", layout " + (s.layout == "auto" ? s.layout : layout_name(base.layout));
}

/// The plan of a line, if the copy can take it.
std::optional<Plan> usable(const std::string& line, const Packing& p, const PatternView& pattern, const Plan& base) {
  const Settings& s = p.st.settings;
  const Problem& problem = p.copy.problem;
  try {
    const Plan plan = parse_plan(line, base);
    const bool as_asked = plan.entry == base.entry && plan.values == base.values && plan.codes == base.codes &&
                          plan.layout.vector_group == base.layout.vector_group &&
                          (s.layout == "auto" || plan.layout == base.layout);
    if (!as_asked || applicable(plan, problem)) return {};
    if (backend(row_of(p.place).backend).applicable(plan, problem)) return {};
    if (too_much_padding(pattern, problem, plan, s.most_padding())) return {};
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
  const Machine machine = backend(row_of(p.place).backend).machine();
  found.key.device = machine.device;
  found.key.versions = "petsc-compound " COMPOUND_VERSION + (machine.software.empty() ? "" : ", " + machine.software);
  found.key.problem = text_of(p.st.settings, p.copy.problem, base);
  found.key.pattern = fingerprint(pattern);
  found.key.pattern_class = pattern_class(numbers);
  Wisdom all;
  for (const std::string& path : {site_path(), found.path}) {
    const WisdomFile file = read_wisdom(path);
    if (!file.problem.empty()) found.problem = file.problem;
    all.merge(file.wisdom);
  }
  const auto entry = all.find(found.key);
  if (!entry) return found;
  found.plan = usable(entry->entry.plan, p, pattern, base);
  found.is_of_pattern = entry->match == WisdomMatch::pattern;
  found.entry = entry->entry;
  return found;
}

std::string remember(const Remembered& at, const Measured& best, double gain, const std::string& effort) {
  if (at.path.empty()) return "";
  return add_to_wisdom(at.path, {{at.key, to_string(best.plan), best.seconds, gain, effort}});
}

}  // namespace compound::plugin
