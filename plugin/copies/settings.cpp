#include "copies/settings.hpp"

#include <charconv>

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

double padding_limit_of(const std::string& text) {
  if (text == "none") return unlimited_padding;
  double limit = 0;
  // Not std::stod: what that takes hangs on the program's locale.
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (code != std::errc{} || end != text.data() + text.size() || !(limit >= 1))
    throw error(ErrorKind::argument, "padding limit '" + text + "' must be a number, 1 or more, or none");
  return limit;
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
