// Members of settings that options set: how their texts are parsed, which checks them, and how they are printed again.
// The plugin's options and those of the programs (plugin/tools) are tables of these.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "plan/library_products.hpp"

namespace compound {

template <class Settings>
struct OptionValue {
  std::function<void(Settings&, const std::string&)> parse;  ///< throws error
  std::function<std::string(const Settings&)> print = {};
};

/// `allowed`: with commas between them.
inline error unknown_word(const std::string& what, const std::string& found, const std::string& allowed) {
  constexpr std::string_view comma = ", ";
  std::vector<std::string_view> names;
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t end = rest.find(comma);
    names.push_back(rest.substr(0, end));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + comma.size());
  }
  return error(ErrorKind::argument, unknown_name(what, found, names));
}

template <class Settings, class T, class Parse, class Print>
OptionValue<Settings> option_value(T Settings::*member, const Parse& parse, const Print& print) {
  return {[=](Settings& s, const std::string& text) { s.*member = parse(text); },
          [=](const Settings& s) { return std::string(print(s.*member)); }};
}

template <class T>
using OptionWords = std::vector<std::pair<std::string_view, T>>;

template <class T>
std::string_view word_of(const OptionWords<T>& words, const T& value) {
  return std::ranges::find(words, value, [](const auto& w) { return w.second; })->first;
}

/// One of a few words.
template <class Settings, class T>
OptionValue<Settings> word_option(T Settings::*member, const char* what, const OptionWords<T>& words,
                                  void (*check)(const std::string&) = nullptr) {
  const auto parse = [=](const std::string& text) {
    std::string names;
    for (const auto& [name, meaning] : words) {
      if (text == name && check) check(text);
      if (text == name) return meaning;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw unknown_word(what, text, names);
  };
  return option_value(member, parse, [=](const T& v) { return word_of(words, v); });
}

/// A text, at which `check` throws if it is wrong; or a word, which is kept as no text.
template <class Settings>
OptionValue<Settings> text_option(std::string Settings::*member, const char* word = "",
                                  void (*check)(const std::string&) = nullptr) {
  const auto parse = [=](const std::string& v) {
    if (v != word && check) check(v);
    return v == word ? std::string() : v;
  };
  return option_value(member, parse, [=](const std::string& v) { return v.empty() ? word : v; });
}

/// Neither this nor number_of() hangs on the program's locale, as std::to_string and std::stod do.
inline std::string printed(double v, const char* word = "") {
  char text[400];  // enough for the largest and the smallest numbers
  return std::isinf(v) ? word : std::string(text, std::to_chars(text, std::end(text), v, std::chars_format::fixed).ptr);
}

inline std::optional<double> number_of(std::string_view text, double least, double most) {
  double v = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc{} || end != text.data() + text.size() || !(v >= least && v <= most)) return {};
  return v;
}

/// A number, `least` or more, or a word for no limit.
template <class Settings>
OptionValue<Settings> limit_option(double Settings::*member, const std::string& what, double least, const char* word) {
  const auto parse = [=](const std::string& text) {
    constexpr double most = std::numeric_limits<double>::infinity();
    if (text == word) return most;
    if (const auto v = number_of(text, least, most)) return *v;
    throw error(ErrorKind::argument,
                what + " '" + text + "' must be a number, " + printed(least) + " or more, or " + word);
  };
  return option_value(member, parse, [=](double v) { return printed(v, word); });
}

/// What measuring takes: "time", or "bytes:W" with the weight of memory, which is kept.
template <class Settings>
OptionValue<Settings> score_option(double Settings::*weight) {
  const auto parse = [](const std::string& text) -> double {
    constexpr std::string_view begin = "bytes:";
    if (text == "time") return 0;
    if (text.starts_with(begin))
      if (const auto found = number_of(std::string_view(text).substr(begin.size()), 0, 1)) return *found;
    throw error(ErrorKind::argument, "score of tuning '" + text +
                                         "' must be time, or bytes:W with a weight of memory from 0 (as time) to 1");
  };
  return option_value(weight, parse, [](double v) { return v == 0 ? "time" : "bytes:" + printed(v); });
}

/// A library that has products, or "none".
template <class Settings>
OptionValue<Settings> library_option(std::string Settings::*member) {
  return text_option(member, "none", [](const std::string& v) {
    if (!is_library(v)) throw unknown_word("library", v, "none, " + library_names());
  });
}

}  // namespace compound
