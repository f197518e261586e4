#include "options/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/files.hpp"

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

namespace {

/// A number, `least` or more, or `word` for no limit. Not by std::stod: what that takes hangs on the program's locale.
double number_or(const std::string& text, const char* word, double least, const char* what) {
  if (text == word) return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc{} && end == text.data() + text.size() && number >= least) return number;
  char bound[32];
  std::snprintf(bound, sizeof(bound), "%g", least);
  throw error(ErrorKind::argument,
              std::string(what) + " '" + text + "' must be a number, " + bound + " or more, or " + word);
}

}  // namespace

double padding_limit_of(const std::string& text) { return number_or(text, "none", 1, "padding limit"); }
double seconds_of(const std::string& text) { return number_or(text, "none", 0, "seconds of tuning"); }
double memory_limit_of(const std::string& text) {
  return 1e6 * number_or(text, "none", 0, "megabytes of a packed copy");
}
double products_of(const std::string& text) { return number_or(text, "unknown", 1, "number of products expected"); }

double memory_weight_of(const std::string& text) {
  constexpr std::string_view begin = "bytes:";
  if (text == "time") return 0;
  double weight = -1;
  const char* const end = text.data() + text.size();
  if (text.starts_with(begin) && text.size() > begin.size()) {
    const auto [at, code] = std::from_chars(text.data() + begin.size(), end, weight);
    if (code == std::errc{} && at == end && weight >= 0 && weight <= 1) return weight;
  }
  throw error(ErrorKind::argument,
              "score of tuning '" + text + "' must be time, or bytes:W with a weight of memory from 0 (as time) to 1");
}

SearchOptions Settings::search_options() const {
  constexpr double share = 0.1;  // of the products expected
  const std::string folder = wisdom == "auto" ? user_cache_folder() : "";
  SearchOptions o;
  o.effort = effort_of(tune);
  o.layout = layout;
  o.library = tune_libraries == "none" ? "" : tune_libraries;
  o.wisdom = wisdom == "none" ? "" : wisdom != "auto" ? wisdom : folder.empty() ? "" : folder + "/wisdom";
  o.limits = limits();
  o.products_expected = products_of(expected_products);
  o.memory_weight = memory_weight_of(tune_score);
  if (o.effort == Effort::exhaustive) o.measuring.products = std::numeric_limits<double>::infinity();
  o.measuring.products = std::min(o.measuring.products, share * o.products_expected);
  o.measuring.packing_products = share * o.products_expected;
  o.measuring.seconds = seconds_of(tune_seconds);
  return o;
}

PlanLimits Settings::limits() const {
  const bool borrows = sizeof(PetscInt) == sizeof(idx);
  return {most_padding(), memory_limit_of(memory_limit),
          borrows ? PatternLifetime::outlives : PatternLifetime::temporary};
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
