// A plan that parses prints a line that parses to the same plan.
#include "plan/plan.hpp"

#include "base/error.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace compound;
  const std::string_view text = fuzz::text_of(data, size);
  Plan plan;
  try {
    plan = parse_plan(text, Plan{});
  } catch (const error&) {
    return 0;
  }
  const std::string line = to_string(plan);
  try {
    const Plan again = parse_plan(line, Plan{});
    fuzz::require(again == plan, "'" + line + "' is the plan that it was printed of, not '" + to_string(again) + "'");
  } catch (const error& e) {
    fuzz::require(false, "'" + line + "' is a plan: " + e.what());
  }
  return 0;
}
