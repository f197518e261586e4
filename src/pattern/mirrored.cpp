#include "pattern/mirrored.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"

namespace compound {

namespace {

/// f(row, column, entry) for each given entry.
template <class F>
void for_each(const PatternView& upper, const F& f) {
  for (idx row = 0; row < upper.rows; ++row)
    for (count32 e = upper.start[row]; e < upper.start[row + 1]; ++e) f(row, upper.column[e], e);
}

/// [rows] entries of each row of the whole.
std::vector<count32> lengths_of(const PatternView& upper) {
  std::vector<count32> lengths(upper.rows, 0);
  for_each(upper, [&](idx row, idx column, count32) {
    ++lengths[row];
    if (column != row) ++lengths[column];
  });
  return lengths;
}

}  // namespace

std::string place_text(idx row, idx column) {
  return std::string("(").append(std::to_string(row)).append(", ").append(std::to_string(column)).append(")");
}

void check_upper(const PatternView& p) {
  if (p.rows != p.cols)
    throw error(ErrorKind::argument, "an upper triangle is that of a square matrix, not of one of " +
                                         std::to_string(p.rows) + " block rows and " + std::to_string(p.cols) +
                                         " block columns; use a type that stores both triangles");
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
      const bool is_first = e == p.start[row];
      if (p.column[e] >= row && (is_first || p.column[e] > p.column[e - 1])) continue;
      throw error(ErrorKind::argument,
                  "the columns of an upper triangle ascend from the diagonal on, and block " +
                      place_text(row, p.column[e]) + " comes " +
                      (is_first ? "first in its row" : "after " + place_text(row, p.column[e - 1])));
    }
}

MirroredCounts count_mirrored(const PatternView& upper) {
  check_upper(upper);
  MirroredCounts counts;
  for (const count32 length : lengths_of(upper)) {
    counts.entries += length;
    counts.empty_rows += length == 0;
  }
  return counts;
}

Mirrored mirrored(const PatternView& upper) {
  check_upper(upper);
  Mirrored m{{upper.rows, upper.cols, {0}, {}}, {}};
  std::uint64_t entries = 0;
  for (const count32 length : lengths_of(upper)) {
    entries += length;
    m.pattern.start.push_back(static_cast<count32>(entries));
  }
  if (entries > std::numeric_limits<count32>::max())
    throw error(ErrorKind::too_large, "both triangles of a symmetric matrix have " + std::to_string(entries) +
                                          " blocks; at most 2^32 - 1 are counted: use more processes");
  m.pattern.column.resize(entries);
  m.from.resize(entries);
  std::vector<count32> next(m.pattern.start.begin(), m.pattern.start.end() - 1);
  // A row's entries below the diagonal come from the rows before it, in their order.
  for_each(upper, [&](idx row, idx column, count32 e) {
    const auto put = [&](idx to_row, idx to_column) {
      const count32 at = next[to_row]++;
      m.pattern.column[at] = to_column;
      m.from[at] = e;
    };
    put(row, column);
    if (column != row) put(column, row);
  });
  return m;
}

}  // namespace compound
