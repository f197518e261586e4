// The zoo: small patterns, each with one thing that could go wrong.
#pragma once

#include <string_view>
#include <vector>

#include "pattern/pattern.hpp"

namespace compound::test {

/// Pattern of the columns of each row.
Pattern pattern_of(idx cols, const std::vector<std::vector<idx>>& rows);

/// Rows of so many entries, in columns 0, 1, ...
Pattern pattern_of_lengths(const std::vector<idx>& lengths);

/// 0 to `longest` entries in each row, at any columns in any order.
Pattern random_pattern(idx rows, idx cols, idx longest, std::uint64_t seed);

/// `rows` x `rows` with exactly `entries` entries, spread as evenly as can be: for counting bytes.
Pattern even_pattern(idx rows, count32 entries);

struct ZooPattern {
  std::string_view name;
  Pattern pattern;
};
const std::vector<ZooPattern>& zoo();

}  // namespace compound::test
