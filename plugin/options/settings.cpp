#include "options/settings.hpp"

#include <algorithm>

#include "base/files.hpp"

namespace compound::plugin {

SearchOptions Settings::search_options() const {
  constexpr double share = 0.1;  // of the products expected
  const std::string folder = user_cache_folder();
  SearchOptions o;
  o.effort = tune;
  if (!layout.empty()) o.layout = layout;
  o.library = library;
  o.wisdom = wisdom ? *wisdom : folder.empty() ? "" : folder + "/wisdom";
  o.limits = limits();
  o.products_expected = expected_products;
  o.memory_weight = memory_weight;
  if (o.effort == Effort::exhaustive) o.measuring.products = std::numeric_limits<double>::infinity();
  o.measuring.products = std::min(o.measuring.products, share * o.products_expected);
  o.measuring.packing_products = share * o.products_expected;
  o.measuring.seconds = tune_seconds;
  return o;
}

PlanLimits Settings::limits() const {
  const bool borrows = sizeof(PetscInt) == sizeof(idx);
  return {most_padding, 1e6 * megabytes, borrows ? PatternLifetime::outlives : PatternLifetime::temporary};
}

std::string_view Settings::plan_of_part(bool off_diagonal) const {
  const PlanText parts = split_off_diagonal(plan);
  return off_diagonal ? parts.off_diagonal.value_or("") : parts.diagonal;
}

Plan Settings::plan_of_layout(const PatternStatistics& numbers, const Problem& problem, std::string_view on,
                              std::string_view kind) const {
  return layout.empty() ? default_plan(numbers, problem, on, kind, precision)
                        : plan_for_layout(layout, numbers, problem, on, kind, precision);
}

}  // namespace compound::plugin
