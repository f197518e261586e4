// Lists and numbers in option values, and text of results.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compound::bench {

inline std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// The trimmed parts between separators; an empty text has none.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (trimmed(text).empty()) return parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

/// Empty unless the whole text is a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// As printf() has it.
template <class... Values>
std::string text(const char* format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format, values...);
  std::string buffer(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  buffer.pop_back();
  return buffer;
}

}  // namespace compound::bench
