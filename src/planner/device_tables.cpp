#include "planner/device_tables.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/lock.hpp"

namespace compound {

namespace {

constexpr std::string_view built_in =
#include "planner/device_tables.inc"
    ;
constexpr std::string_view schema = "device1";
constexpr std::size_t most_bytes = 1 << 20;
constexpr std::chrono::seconds longest_wait{10};  // measuring took longer

constexpr DeviceField fields_of_properties[] = {{"multiprocessors", &DeviceTable::multiprocessors},
                                                {"cache", &DeviceTable::cache},
                                                {"bandwidth", &DeviceTable::bandwidth},
                                                {"kept_all", &DeviceTable::kept_all},
                                                {"kept_none", &DeviceTable::kept_none},
                                                {"streamed_all", &DeviceTable::streamed_all},
                                                {"streamed_none", &DeviceTable::streamed_none},
                                                {"alone", &DeviceTable::alone_s, true}};

std::vector<DeviceField> fields() {
  std::vector<DeviceField> all(std::begin(fields_of_properties), std::end(fields_of_properties));
  all.insert(all.end(), std::begin(seconds_fields), std::end(seconds_fields));
  return all;
}

/// Nine digits, or as many more as give the same number again.
std::string number_text(double value) {
  char text[32];
  for (int digits = 9; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

/// A line as it is read: what it says of itself where it is wrong.
class Line {
 public:
  Line(std::string_view text, const std::string& source, int number)
      : rest_(text), where_(source + ", line " + std::to_string(number) + ": ") {}

  DeviceTable table() {
    if (const std::string_view first = word(); first != schema)
      wrong("begins with '" + std::string(first) + "'; tables begin with " + std::string(schema));
    DeviceTable t;
    t.name = name();
    std::vector<DeviceField> missing = fields();
    while (!rest_.empty()) take(word(), t, missing);
    if (!missing.empty()) wrong("has no " + std::string(missing.front().name) + "=; all numbers are needed");
    if (t.kept_all >= t.kept_none || t.streamed_all >= t.streamed_none)
      wrong("kept_all= and streamed_all= must be less than kept_none= and streamed_none=");
    return t;
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw error(ErrorKind::argument, where_ + what + "; compound-tune -calibrate writes such lines");
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
  std::string_view word() {
    skip_spaces();
    const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(found.size());
    skip_spaces();
    return found;
  }
  std::string name() {
    constexpr std::string_view begin = "name=\"";
    const std::size_t end = rest_.starts_with(begin) ? rest_.find('"', begin.size()) : std::string_view::npos;
    if (end == std::string_view::npos || end == begin.size()) wrong("has no name=\"...\" after " + std::string(schema));
    const std::string found(rest_.substr(begin.size(), end - begin.size()));
    rest_.remove_prefix(end + 1);
    skip_spaces();
    return found;
  }
  void take(std::string_view word, DeviceTable& t, std::vector<DeviceField>& missing) const {
    const std::size_t equals = word.find('=');
    const auto field = std::ranges::find(missing, word.substr(0, equals), &DeviceField::name);
    if (equals == std::string_view::npos || field == missing.end())
      wrong("has '" + std::string(word) + "', which is no number of a device, or there twice");
    const std::string_view text = word.substr(equals + 1);
    double& value = t.*field->value;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool in_range = std::isfinite(value) && (field->may_be_zero ? value >= 0 : value > 0) && value <= 1e18;
    if (failed != std::errc() || end != text.data() + text.size() || !in_range)
      wrong("has '" + std::string(word) + "'; expected a number " +
            (field->may_be_zero ? "that is not negative" : "above 0"));
    missing.erase(field);
  }

  std::string_view rest_;
  std::string where_;
};

std::string text_of(const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return error(ErrorKind::argument, "file of devices '" + path + "': " + why);
  };
  // Pipes keep no one waiting.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw wrong(std::strerror(errno));
  const auto content = read_at_most(file, most_bytes + 1);
  if (!content) throw wrong(std::strerror(errno));
  if (content->size() > most_bytes) throw wrong("is larger than 1 MB; it has a line for each device");
  return *content;
}

/// How many times more one has than the other, as a power of two.
double doublings(double a, double b) { return a > 0 && b > 0 ? std::abs(std::log2(a / b)) : 0; }

}  // namespace

DeviceTraits DeviceTable::traits() const {
  return {static_cast<int>(multiprocessors), static_cast<std::size_t>(cache), bandwidth};
}

std::string to_string(const DeviceTable& table) {
  std::string line = std::string(schema) + " name=\"" + table.name + "\"";
  for (const DeviceField& field : fields())
    line.append(" ").append(field.name).append("=").append(number_text(table.*field.value));
  return line;
}

std::vector<DeviceTable> parse_device_tables(std::string_view text, const std::string& source) {
  std::vector<DeviceTable> all;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') all.push_back(Line(line, source, number).table());
  }
  return all;
}

namespace {

std::vector<DeviceTable> built_in_tables() { return parse_device_tables(built_in, "built-in tables"); }

const DevicePolicy* policy_named(std::string_view device) {
  const std::span<const DevicePolicy> all = device_policies();
  const auto found = std::ranges::find(all, device, &DevicePolicy::device);
  return found == all.end() ? nullptr : &*found;
}

std::string source_of(const std::string& file) { return std::string("file of devices '").append(file).append("'"); }

std::vector<DeviceTable> parsed(const std::string& file) { return parse_device_tables(text_of(file), source_of(file)); }

}  // namespace

DeviceTables device_tables() {
  DeviceTables tables{built_in_tables(), {}};
  const std::string file = from_environment("COMPOUND_DEVICES");
  if (file.empty()) return tables;
  try {
    const std::vector<DeviceTable> more = parsed(file);
    tables.all.insert(tables.all.end(), more.begin(), more.end());
  } catch (const error& e) {
    tables.problem = e.what();
  }
  return tables;
}

const DeviceTable& table_for(const std::vector<DeviceTable>& all, std::string_view name, const DeviceTraits& device) {
  const auto named = std::ranges::find(all.rbegin(), all.rend(), name, &DeviceTable::name);
  if (named != all.rend()) return *named;
  return *std::ranges::min_element(all, {}, [&](const DeviceTable& t) {
    return doublings(t.multiprocessors, device.multiprocessors) +
           doublings(t.cache, double(device.second_cache_bytes)) + doublings(t.bandwidth, device.bandwidth);
  });
}

const DevicePolicy& policy_for(const DeviceTraits& device) {
  static const std::vector<DeviceTable> with_policy = [] {
    std::vector<DeviceTable> all = built_in_tables();
    std::erase_if(all, [](const DeviceTable& t) { return !policy_named(t.name); });
    return all;
  }();
  return *policy_named(table_for(with_policy, {}, device).name);
}

namespace {

/// A file of tables, for as long as it is locked.
class LockedTables {
 public:
  explicit LockedTables(const std::string& file)
      : source_(source_of(file)), at_(path_of(file)), lock_(at_ + ".lock", longest_wait) {
    ends_well(lock_.problem());
    std::error_code failed;
    if (std::filesystem::exists(at_, failed) || failed) before_ = text_of(at_);
    parse_device_tables(before_, source_);  // a file with a damaged line stays as it is
  }

  const std::string& source() const { return source_; }
  const std::string& before() const { return before_; }
  void write(const std::string& content) const { ends_well(replace_file(at_, content, 0666)); }

 private:
  void ends_well(const std::string& problem) const {
    if (!problem.empty()) throw error(ErrorKind::argument, source_ + ": " + problem);
  }
  /// Of the file itself, where it is named by a link.
  std::string path_of(const std::string& file) const {
    std::error_code failed;
    const std::string at = std::filesystem::weakly_canonical(file, failed);
    ends_well(failed ? failed.message() : "");
    return at;
  }

  std::string source_, at_, before_;
  FileLock lock_;
};

}  // namespace

void check_file_of_devices(const std::string& file) { const LockedTables may_be_written(file); }

void add_device_table(const std::string& file, const DeviceTable& table) {
  const LockedTables tables(file);
  const std::string& before = tables.before();
  std::string content;
  for (std::string_view left = before; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const auto found = parse_device_tables(line, tables.source());
    if (found.empty() || found.front().name != table.name) content.append(line).append("\n");
  }
  content.append(to_string(table)).append("\n");
  tables.write(content);
}

}  // namespace compound
