#include "base/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace compound {

namespace {

bool is_same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// How many letters must be left out, added, changed or exchanged with the next one to make b of a.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + !is_same(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

/// "exhaust" of exhaustive.
bool abbreviates(std::string_view word, std::string_view name) {
  constexpr std::size_t least = 3;
  return word.size() >= least && word.size() < name.size() &&
         std::ranges::equal(word, name.substr(0, word.size()), is_same);
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t d = distance(word, name);
    // Of a name of one letter nothing would be left.
    if (d < least && d < std::max(word.size(), name.size())) {
      least = d;
      best = name;
    }
  }
  if (!best.empty()) return best;
  const auto whole = std::ranges::find_if(names, [&](std::string_view name) { return abbreviates(word, name); });
  return whole == names.end() ? std::string_view() : *whole;
}

std::string choose(std::string_view word, std::span<const std::string_view> names, std::string_view list) {
  const std::string_view meant = nearest(word, names);
  std::string text = meant.empty() ? "; choose " : ": did you mean " + std::string(meant) + "? Choose ";
  if (!list.empty()) return text + std::string(list);
  for (const std::string_view name : names) text += (name == names.front() ? "" : ", ") + std::string(name);
  return text;
}

std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string_view> names,
                         std::string_view list) {
  return "unknown " + std::string(what) + " '" + std::string(word) + "'" + choose(word, names, list);
}

}  // namespace compound
