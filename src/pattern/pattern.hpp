// Pattern: where the entries are, as block compressed rows. The only form in which patterns are exchanged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/target.hpp"

namespace compound {

/// Block compressed rows over arrays of another owner.
///
/// start [rows + 1] from 0, column [start[rows]] in [0, cols), in any order within a row; an entry given twice counts
/// twice.
struct PatternView {
  idx rows = 0;
  idx cols = 0;
  std::span<const count32> start;
  std::span<const idx> column;

  count32 entries() const { return start.empty() ? 0 : start.back(); }
  idx length(idx row) const { return static_cast<idx>(start[row + 1] - start[row]); }
};

/// Whether all rows have the same number of entries: layouts then keep their order.
bool has_even_rows(const PatternView& pattern);

/// Throws `argument` naming the first row (and column) that breaks the rules above.
void check(const PatternView& pattern);

/// A pattern that owns its arrays.
struct Pattern {
  idx rows = 0;
  idx cols = 0;
  std::vector<count32> start;
  std::vector<idx> column;

  PatternView view() const { return {rows, cols, start, column}; }
};

/// Checked narrowing from wider (PETSc: 32- or 64-bit) block row starts and columns. Throws `too_large` where an index
/// or a count does not fit, with the remedy; `argument` as check().
template <class Integer>
Pattern pattern_from(std::int64_t rows, std::int64_t cols, const Integer* start, const Integer* column);

struct PatternStatistics {
  idx rows = 0, cols = 0;
  count32 entries = 0;
  idx empty_rows = 0;
  idx shortest_row = 0, longest_row = 0;
  idx usual_row = 0;         ///< no more entries has any row but 1 % of them; longest_row where rows are not uneven
  count32 long_entries = 0;  ///< of the rows of more entries than usual_row
  double mean_row = 0;
  double row_deviation = 0;  ///< standard deviation of the rows' lengths
  idx bandwidth = 0;         ///< largest |row - column|
  double mean_distance = 0;  ///< mean |row - column|
  double scattered = 0;      ///< share of entries more than 64 columns from the entry above them in their row's order
  bool operator==(const PatternStatistics&) const = default;

  /// Whether a row is much longer than the others.
  bool is_uneven() const { return longest_row > 8 * mean_row + 32; }
};

PatternStatistics statistics(const PatternView& pattern);

/// 64-bit hash of sizes, starts and columns: equal patterns give equal fingerprints on every machine.
std::uint64_t fingerprint(const PatternView& pattern);

/// The pattern of A^T. `entry_of[t]`: the entry of A that entry t of the result stands for.
struct Transposed {
  Pattern pattern;
  std::vector<count32> entry_of;
};
Transposed transposed(const PatternView& pattern);

}  // namespace compound
