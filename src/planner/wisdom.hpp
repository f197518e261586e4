// Wisdom: which plan measuring found to be the fastest, for whom, as values and as lines of text.
//
// A line is `plan1 name="value" ... check="hash"`: the schema, the fields in a fixed order, the hash of all before it.
// Whatever cannot be read so is no entry; nothing in a line names code or files.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pattern/pattern.hpp"

namespace compound {

/// Patterns that are much alike: the nearest power of two of some statistics, from 2^-10 up. Logarithms are rounded, so
/// that sizes which are powers of two, give or take a few rows, are alike.
struct PatternClass {
  int rows = 0;
  int mean = 0;     ///< length of a row
  int spread = 0;   ///< deviation of lengths over their mean
  int scatter = 0;  ///< PatternStatistics::scattered
  auto operator<=>(const PatternClass&) const = default;
};

PatternClass pattern_class(const PatternStatistics& statistics);

/// "r17 m4 s-2 x0", in the order above.
std::string to_string(const PatternClass& pattern_class);

struct WisdomKey {
  std::string device;         ///< "NVIDIA H200"; of the host the processor and its instruction set
  std::string versions;       ///< of whatever makes times incomparable
  std::string problem;        ///< block, scalar, kind of entry, precision of values
  std::uint64_t pattern = 0;  ///< fingerprint()
  PatternClass pattern_class;
  auto operator<=>(const WisdomKey&) const = default;
};

/// Texts are printable ASCII without `"`, at most 300 characters; the plan and the device are not empty. Seconds and
/// gain are above 0, at most 1e6.
struct WisdomEntry {
  WisdomKey key;
  std::string plan;    ///< parse_plan() decides what it means
  double seconds = 0;  ///< of one product
  double gain = 0;     ///< seconds of the rule's plan over these
  std::string effort;  ///< how it was found
  bool operator==(const WisdomEntry&) const = default;
};

enum class WisdomMatch { pattern, pattern_class };

struct WisdomFound {
  WisdomEntry entry;
  WisdomMatch match;
  bool operator==(const WisdomFound&) const = default;
};

/// What a Wisdom of these lines, as add_lines() takes them, would find(). Lines that cannot be it are not read: a
/// look-up among thousands takes some microseconds.
std::optional<WisdomFound> find_in_lines(std::string_view lines, const WisdomKey& key);

/// Whether this is a text of wisdom, damaged or not: any line begins with a schema, or there is nothing in it.
bool is_wisdom(std::string_view text);

class Wisdom {
 public:
  /// The entry of this very pattern, else the newest of its class; device, versions and problem are always equal.
  std::optional<WisdomFound> find(const WisdomKey& key) const;

  /// In place of an entry of the same key. Empty, or why the entry cannot be kept, in words.
  std::string add(const WisdomEntry& entry);

  /// Adds all of `newer`.
  void merge(const Wisdom& newer);

  /// Adds the entries of these lines. Lines of a newer schema are kept as they are, damaged ones are left out.
  void add_lines(std::string_view text);

  /// What add_lines() reads, the oldest first.
  std::string lines() const;

  std::size_t size() const { return entries_.size(); }
  std::size_t newer_schemas() const { return newer_schemas_.size(); }  ///< lines
  std::vector<WisdomEntry> entries() const;                            ///< the oldest first

 private:
  using Age = std::uint64_t;  ///< the higher the newer
  struct Kept {
    WisdomEntry entry;
    Age age;
  };
  std::map<WisdomKey, Kept> entries_;
  std::map<std::string, Age> newer_schemas_;
  Age now_ = 0;
};

}  // namespace compound
