// Reads plan lines and prints those that are none, or that say something else when they are printed; status 1 if any.
#include <iostream>
#include <string>

#include "base/error.hpp"
#include "plan/plan.hpp"

int main() {
  int status = 0;
  for (std::string line; std::getline(std::cin, line);) try {
      const compound::Plan plan = compound::parse_plan(line, {});
      if (compound::parse_plan(to_string(plan), {}) == plan) continue;
      std::cout << line << ": printed as another plan, " << to_string(plan) << "\n";
      status = 1;
    } catch (const compound::error& e) {
      std::cout << e.what() << "\n";
      status = 1;
    }
  return status;
}
