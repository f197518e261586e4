#include "planner/wisdom.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/hash.hpp"

namespace compound {

namespace {

constexpr int schema = 1;
constexpr std::string_view schema_word = "plan";
constexpr std::size_t longest_text = 300, longest_line = 4096;
constexpr double most = 1e6;
constexpr int lowest_class = -10, highest_class = 40;

/// What a line has, in its order: the one list for writing and for reading.
template <class Entry, class Visit>
void for_each_field(Entry& entry, const Visit& visit) {
  visit("device", entry.key.device);
  visit("versions", entry.key.versions);
  visit("problem", entry.key.problem);
  visit("pattern", entry.key.pattern);
  visit("class", entry.key.pattern_class);
  visit("plan", entry.plan);
  visit("seconds", entry.seconds);
  visit("gain", entry.gain);
  visit("effort", entry.effort);
}

std::string printed(const std::string& text) { return text; }

std::string printed(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// Not printf's: a program's locale may want a comma.
std::string printed(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

std::string printed(const PatternClass& pattern_class) { return to_string(pattern_class); }

/// Whether all of the text is this number.
template <class Number, class... Format>
bool is_number(std::string_view text, Number& value, Format... format) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  return code == std::errc() && end == text.data() + text.size();
}

bool read(std::string_view text, std::string& value) {
  value = text;
  const auto allowed = [](char c) { return c >= ' ' && c <= '~' && c != '"'; };
  return !text.empty() && text.size() <= longest_text && std::all_of(text.begin(), text.end(), allowed);
}

bool read(std::string_view text, std::uint64_t& value) { return is_number(text, value, 16); }

bool read(std::string_view text, double& value) { return is_number(text, value) && value > 0 && value <= most; }

bool read(std::string_view text, PatternClass& value) {
  const std::pair<char, int*> parts[] = {
      {'r', &value.rows}, {'m', &value.mean}, {'s', &value.spread}, {'x', &value.scatter}};
  for (const auto& [letter, number] : parts) {
    const std::string_view part = text.substr(0, text.find(' '));
    if (!part.starts_with(letter) || !is_number(part.substr(1), *number)) return false;
    if (*number < lowest_class || *number > highest_class) return false;
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return text.empty();
}

std::string check_of(std::string_view beginning) { return " check=\"" + hash_of(beginning) + "\""; }

/// Lines of every schema end so.
bool is_whole(std::string_view line) {
  static const std::size_t size_of_check = check_of("").size();
  if (line.size() < size_of_check || line.size() > longest_line) return false;
  const std::string_view beginning = line.substr(0, line.size() - size_of_check);
  return line.substr(beginning.size()) == check_of(beginning);
}

/// The N of "planN ...", 0 where the line does not begin so.
int schema_of(std::string_view line) {
  int number = 0;
  const std::size_t end = line.find(' ');
  if (!line.starts_with(schema_word) || end == std::string_view::npos) return 0;
  return is_number(line.substr(schema_word.size(), end - schema_word.size()), number) && number > 0 ? number : 0;
}

std::string beginning() { return std::string(schema_word) + std::to_string(schema); }

std::string line_of(const WisdomEntry& entry) {
  std::string line = beginning();
  for_each_field(entry, [&](const char* name, const auto& value) {
    line.append(" ").append(name).append("=\"").append(printed(value)).append("\"");
  });
  return line + check_of(line);
}

/// Takes ` name="value"` off the front.
template <class Value>
bool take(std::string_view& line, std::string_view name, Value& value) {
  const std::string beginning = " " + std::string(name) + "=\"";
  if (!line.starts_with(beginning)) return false;
  line.remove_prefix(beginning.size());
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos || !read(line.substr(0, end), value)) return false;
  line.remove_prefix(end + 1);
  return true;
}

std::optional<WisdomEntry> entry_of(std::string_view line) {
  WisdomEntry entry;
  std::string_view rest = line.substr(std::min(line.find(' '), line.size()));
  bool readable = true;
  for_each_field(entry, [&](const char* name, auto& value) { readable = readable && take(rest, name, value); });
  // What says the same in another way (a number with more digits, more fields at the end) was not written by us.
  if (!readable || line_of(entry) != line) return {};
  return entry;
}

/// Takes it off the front.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

int nearest_power(double value) {
  return value <= 0 ? lowest_class : std::max(lowest_class, static_cast<int>(std::lround(std::log2(value))));
}

/// A line of this key up to a field.
std::string beginning_of_line(const WisdomKey& key, std::string_view end) {
  std::string line = beginning();
  bool ended = false;
  const WisdomEntry entry{.key = key, .plan = {}, .effort = {}};
  for_each_field(entry, [&](std::string_view name, const auto& value) {
    ended |= name == end;
    if (!ended) line.append(" ").append(name).append("=\"").append(printed(value)).append("\"");
  });
  return line;
}

/// The newest of these lines that is an entry.
std::optional<WisdomEntry> newest_of(const std::vector<std::string_view>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (auto entry = entry_of(*line)) return entry;
  return {};
}

bool of_one_class(const WisdomKey& a, const WisdomKey& b) {
  return a.pattern_class == b.pattern_class && a.device == b.device && a.versions == b.versions &&
         a.problem == b.problem;
}

}  // namespace

PatternClass pattern_class(const PatternStatistics& s) {
  return {nearest_power(s.rows), nearest_power(s.mean_row),
          nearest_power(s.mean_row > 0 ? s.row_deviation / s.mean_row : 0), nearest_power(s.scattered)};
}

std::string to_string(const PatternClass& c) {
  return "r" + std::to_string(c.rows) + " m" + std::to_string(c.mean) + " s" + std::to_string(c.spread) + " x" +
         std::to_string(c.scatter);
}

std::optional<WisdomFound> Wisdom::find(const WisdomKey& key) const {
  if (const auto own = entries_.find(key); own != entries_.end())
    return WisdomFound{own->second.entry, WisdomMatch::pattern};
  const Kept* newest = nullptr;
  for (const auto& [other, kept] : entries_)
    if (of_one_class(other, key) && (!newest || kept.age > newest->age)) newest = &kept;
  if (!newest) return {};
  return WisdomFound{newest->entry, WisdomMatch::pattern_class};
}

std::string Wisdom::add(const WisdomEntry& entry) {
  std::string wrong;
  for_each_field(entry, [&]<class Value>(const char* name, const Value& value) {
    Value again;
    if (wrong.empty() && !read(printed(value), again)) wrong = name;
  });
  if (!wrong.empty())
    return "wisdom cannot keep this " + wrong + ": texts are 1 to " + std::to_string(longest_text) +
           " printable characters without \", times and gains above 0 and at most 1e6";
  entries_[entry.key] = {entry, ++now_};
  return {};
}

void Wisdom::merge(const Wisdom& newer) { add_lines(newer.lines()); }

void Wisdom::add_lines(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const int number = schema_of(line);
    if (number == 0 || !is_whole(line)) continue;
    if (number > schema)
      newer_schemas_[std::string(line)] = ++now_;
    else if (const auto entry = entry_of(line))
      entries_[entry->key] = {*entry, ++now_};
  }
}

bool is_wisdom(std::string_view text) {
  if (text.empty()) return true;
  while (!text.empty())
    if (schema_of(next_line(text)) > 0) return true;
  return false;
}

std::optional<WisdomFound> find_in_lines(std::string_view lines, const WisdomKey& key) {
  const std::string of_problem = beginning_of_line(key, "pattern"), of_pattern = beginning_of_line(key, "class"),
                    of_class = beginning_of_line(key, "plan");
  const std::string_view class_field = std::string_view(of_class).substr(of_pattern.size());
  std::vector<std::string_view> own, alike;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    // All patterns are printed in as many characters.
    if (!line.starts_with(of_problem) || line.size() < of_pattern.size()) continue;
    if (!line.substr(of_pattern.size()).starts_with(class_field)) continue;
    (line.starts_with(of_pattern) ? own : alike).push_back(line);
  }
  if (auto entry = newest_of(own)) return WisdomFound{*entry, WisdomMatch::pattern};
  if (auto entry = newest_of(alike)) return WisdomFound{*entry, WisdomMatch::pattern_class};
  return {};
}

std::string Wisdom::lines() const {
  std::vector<std::pair<Age, std::string>> by_age;
  for (const auto& [key, kept] : entries_) by_age.emplace_back(kept.age, line_of(kept.entry));
  for (const auto& [line, age] : newer_schemas_) by_age.emplace_back(age, line);
  std::sort(by_age.begin(), by_age.end());
  std::string text;
  for (const auto& [age, line] : by_age) text += line + "\n";
  return text;
}

std::vector<WisdomEntry> Wisdom::entries() const {
  std::vector<Kept> by_age;
  for (const auto& [key, kept] : entries_) by_age.push_back(kept);
  std::sort(by_age.begin(), by_age.end(), [](const Kept& a, const Kept& b) { return a.age < b.age; });
  std::vector<WisdomEntry> result;
  for (Kept& kept : by_age) result.push_back(std::move(kept.entry));
  return result;
}

}  // namespace compound
