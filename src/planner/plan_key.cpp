#include "planner/plan_key.hpp"

namespace compound {

namespace {

std::string text_of(const Problem& problem, const Plan& base, std::string_view layout, std::string_view library) {
  std::string text = std::to_string(problem.block.rows) + "x" + std::to_string(problem.block.cols) +
                     (problem.scalar.field == Field::complex ? " complex " : " real ") +
                     std::string(name_of(problem.scalar.precision));
  if (problem.order == ValueOrder::rows) text += ", by rows";
  text += ", entry " + std::string(base.entry) + ", values " + std::string(name_of(base.values));
  text += ", layout " + (layout == "auto" ? std::string(layout) : layout_name(base.layout));
  if (library.empty()) return text;
  return text + ", also by " + std::string(library) + (problem.repeatable ? "" : ", bits may differ");
}

}  // namespace

WisdomKey plan_key(const PatternView& pattern, const PatternStatistics& numbers, const Problem& problem,
                   const Plan& base, std::string_view layout, const Backend& backend, std::string_view library) {
  const Machine machine = backend.machine();
  WisdomKey key;
  key.device = machine.device;
  key.versions = "petsc-compound " COMPOUND_VERSION + (machine.software.empty() ? "" : ", " + machine.software);
  key.problem = text_of(problem, base, layout, library);
  key.pattern = fingerprint(pattern);
  key.pattern_class = pattern_class(numbers);
  return key;
}

}  // namespace compound
