#include "copies/settings.hpp"

namespace compound::plugin {

BlockShape block_of(const std::string& text) {
  constexpr idx most = 32;  // of our own kernels
  const std::size_t by = text.find('x');
  const auto side = [&](const std::string& number) {
    return parse_number(number, 1, most, "a packed block size other than auto and find, N or ROWSxCOLUMNS,");
  };
  const idx rows = side(text.substr(0, by));
  return {rows, by == std::string::npos ? rows : side(text.substr(by + 1))};
}

BlockShape Settings::packed_block(int given) const {
  return block_size == "auto" || finds_block() ? BlockShape{given, given} : block_of(block_size);
}

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
