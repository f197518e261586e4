#include "copies/settings.hpp"

namespace compound::plugin {

int Settings::packed_block_size(int given) const { return block_size == "auto" ? given : std::stoi(block_size); }

std::string_view Settings::plan_of_part(bool off_diagonal) const {
  const PlanText parts = split_off_diagonal(plan);
  return off_diagonal ? parts.off_diagonal.value_or("") : parts.diagonal;
}

bool Settings::finds_entry(bool off_diagonal) const { return entry == "auto" && plan_of_part(off_diagonal).empty(); }

bool Settings::names_entry() const {
  if (entry != "auto" && entry != "dense") return true;
  return plan.find("entry=") != std::string::npos;
}

}  // namespace compound::plugin
