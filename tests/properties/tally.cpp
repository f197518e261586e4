#include "tally.hpp"

#include <sstream>

#include "plan/keywords.hpp"
#include "plan/partition.hpp"

namespace compound::test {

void Tally::add(const Case& c) {
  const PlanText lines = split_off_diagonal(c.plan);
  const Plan plan = parse_plan(lines.diagonal, {});
  for (const Plan& part : parts(plan)) {
    const LayoutSpec& l = part.layout;
    count("layouts", std::string(l.preset));
    count("words", l.word_group == group_rows
                       ? "rows"
                       : word_group_text(l.word_group) + (l.word_order == WordOrder::row ? ":row" : ":column") +
                             (l.padded ? ":padded" : ""));
    count("columns", std::string(l.columns));
    count("flags", l.occupancy == Occupancy::presence ? "presence" : "lengths");
    if (l.row_list) count("flags", "rowlist");
    if (!part.schedule.simd) count("flags", "plain");
    if (part.schedule.fetch_x) count("flags", "xahead");
    count("traversals", std::string(name_of(part.schedule.traversal)));
    count("vectors", word_group_text(l.vector_group));
  }
  count("parts of plans", std::to_string(1 + plan.later.size()) + (lines.off_diagonal ? " off:" : ""));
  count("codes", std::string(plan.codes));
  count("half", std::string(name_of(plan.half)));
  count("entries", std::string(plan.entry) + (plan.entry == c.kind ? "" : " of " + c.kind));
  count("scalars", std::string(c.scalar.field == Field::complex ? "complex " : "real ") +
                       std::string(name_of(c.scalar.precision)) + " stored as " + std::string(name_of(plan.values)));
  count("patterns", c.of_petsc() ? "of PETSc" : c.pattern_text.substr(0, c.pattern_text.find(':')));
  for_each_product(c, [&](Op op, Form form) { count("products", product_name(op, form)); });
  count("values", c.values == Values::regular ? "regular" : "random");
  count("on", c.of_petsc()          ? c.type + " on " + std::to_string(c.ranks()) + (c.ranks() > 1 ? " ranks" : " rank")
              : c.backend == "host" ? c.simd + (c.fenced ? " within fences" : "")
                                    : c.backend + (c.transposed == TransposedValues::shared ? " shared" : " copy"));
  if (!c.of_petsc()) count("order of values", c.order == ValueOrder::rows ? "rows" : "blocks");
}

std::string Tally::text() const {
  std::string all;
  for (const auto& [factor, values] : counts_) {
    std::string line;
    for (const auto& [value, times] : values) line += (line.empty() ? "" : ", ") + value + " " + std::to_string(times);
    all += "  " + factor + ": " + line + "\n";
  }
  return all;
}

std::string Tally::packed() const {
  std::ostringstream out;
  for (const auto& [factor, values] : counts_)
    for (const auto& [value, times] : values) out << factor << "\t" << value << "\t" << times << "\n";
  return out.str();
}

void Tally::add(const std::string& packed) {
  std::istringstream in(packed);
  std::string factor, value, times;
  while (std::getline(in, factor, '\t') && std::getline(in, value, '\t') && std::getline(in, times))
    count(factor, value, std::stol(times));
}

}  // namespace compound::test
