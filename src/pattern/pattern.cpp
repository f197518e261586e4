#include "pattern/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace compound {

namespace {

[[noreturn]] void broken(const std::string& what) { throw error(ErrorKind::argument, "broken block pattern: " + what); }

/// One step of a multiply-and-shift hash (constant: 2^64 / golden ratio).
std::uint64_t mixed(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

/// Steps over an array in lanes that do not wait for each other's multiplications, two numbers a step: one chain would
/// take five times as long as reading the array. A step is one-to-one in either argument, so that no change of a single
/// number is lost.
template <class Integer>
std::uint64_t mixed_all(std::uint64_t h, std::span<const Integer> numbers) {
  constexpr std::size_t lanes = 8;
  const auto wide = [&](std::size_t i) { return std::uint64_t{static_cast<std::uint32_t>(numbers[i])}; };
  std::uint64_t lane[lanes];
  for (std::size_t l = 0; l < lanes; ++l) lane[l] = mixed(h, l);
  std::size_t i = 0;
  for (; i + 2 * lanes <= numbers.size(); i += 2 * lanes)
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = mixed(lane[l], wide(i + 2 * l) | wide(i + 2 * l + 1) << 32);
  for (; i < numbers.size(); ++i) h = mixed(h, wide(i));
  for (const std::uint64_t each : lane) h = mixed(h, each);
  return h;
}

void check_size(std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0) broken("negative size " + std::to_string(rows) + " x " + std::to_string(cols));
}

template <class Integer>
void check_starts(std::int64_t rows, const Integer* start) {
  if (start[0] != 0) broken("the first row starts at " + std::to_string(start[0]) + ", not at 0");
  for (std::int64_t r = 0; r < rows; ++r)
    if (start[r + 1] < start[r]) broken("row " + std::to_string(r) + " ends before it starts");
}

/// Entries that are worth a thread.
constexpr std::size_t entries_of_thread = std::size_t{1} << 20;

template <class Start, class Column>
void check_columns_of(std::int64_t from, std::int64_t to, std::int64_t cols, const Start* start, const Column* column) {
  for (std::int64_t r = from; r < to; ++r)
    for (Start e = start[r]; e < start[r + 1]; ++e)
      if (column[e] < 0 || column[e] >= cols)
        broken("row " + std::to_string(r) + " has column " + std::to_string(column[e]) +
               (cols == 0 ? ", there are no columns" : ", allowed are 0 to " + std::to_string(cols - 1)));
}

template <class Start, class Column>
void check_columns(std::int64_t rows, std::int64_t cols, const Start* start, const Column* column) {
  const std::size_t threads = threads_for(static_cast<std::size_t>(start[rows]), entries_of_thread);
  for_ranges(static_cast<std::size_t>(rows), threads, [&](std::size_t from, std::size_t to, std::size_t) {
    check_columns_of(static_cast<std::int64_t>(from), static_cast<std::int64_t>(to), cols, start, column);
  });
}

}  // namespace

bool has_even_rows(const PatternView& p) {
  for (idx row = 1; row < p.rows; ++row)
    if (p.length(row) != p.length(0)) return false;
  return true;
}

void check(const PatternView& p) {
  check_size(p.rows, p.cols);
  if (p.start.size() != static_cast<std::size_t>(p.rows) + 1)
    broken(std::to_string(p.start.size()) + " row starts for " + std::to_string(p.rows) +
           " rows; one more than rows needed");
  check_starts(p.rows, p.start.data());
  if (p.column.size() != p.start.back())
    broken(std::to_string(p.column.size()) + " columns for " + std::to_string(p.start.back()) + " entries");
  check_columns(p.rows, p.cols, p.start.data(), p.column.data());
}

template <class Integer>
Pattern pattern_from(std::int64_t rows, std::int64_t cols, const Integer* start, const Integer* column) {
  constexpr std::int64_t most = std::numeric_limits<idx>::max() - 1;
  check_size(rows, cols);
  if (rows > most || cols > most)
    throw error(ErrorKind::too_large,
                "a local matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                    " blocks is beyond 32-bit block indices; use more processes or larger blocks");
  check_starts(rows, start);
  if (static_cast<std::uint64_t>(start[rows]) > std::numeric_limits<count32>::max())
    throw error(ErrorKind::too_large,
                std::to_string(start[rows]) + " blocks on one process are beyond 32 bits; use more processes");
  check_columns(rows, cols, start, column);  // before narrowing, which could bring a wrong index into range
  Pattern p{static_cast<idx>(rows), static_cast<idx>(cols), {}, {}};
  p.start.assign(start, start + rows + 1);
  p.column.assign(column, column + start[rows]);
  return p;
}

template Pattern pattern_from(std::int64_t, std::int64_t, const std::int32_t*, const std::int32_t*);
template Pattern pattern_from(std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*);

namespace {

/// Entries of `row` that are far from those of the row above at the same place in its order.
count32 far_from_above(const PatternView& p, idx row) {
  constexpr idx near = 64;
  count32 far = 0;
  const idx shared = std::min(p.length(row), p.length(row - 1));
  for (idx k = 0; k < shared; ++k) far += std::abs(p.column[p.start[row] + k] - p.column[p.start[row - 1] + k]) > near;
  return far;
}

/// Of uneven rows.
void take_usual_row(const PatternView& p, PatternStatistics& s) {
  std::vector<idx> lengths(p.rows);
  for (idx r = 0; r < p.rows; ++r) lengths[r] = p.length(r);
  const auto usual = lengths.begin() + static_cast<std::ptrdiff_t>(0.99 * (p.rows - 1));
  std::nth_element(lengths.begin(), usual, lengths.end());
  s.usual_row = *usual;
  for (auto length = usual; length != lengths.end(); ++length)
    if (*length > s.usual_row) s.long_entries += static_cast<count32>(*length);
}

}  // namespace

namespace {

/// Sums and extremes over some rows.
struct RowSums {
  idx empty = 0, shortest = std::numeric_limits<idx>::max(), longest = 0, bandwidth = 0;
  double squares = 0;
  std::int64_t distance = 0, far = 0;

  void add_rows(const PatternView& p, idx from, idx to) {
    for (idx r = from; r < to; ++r) {
      const idx n = p.length(r);
      empty += n == 0;
      shortest = std::min(shortest, n);
      longest = std::max(longest, n);
      squares += static_cast<double>(n) * n;
      for (count32 e = p.start[r]; e < p.start[r + 1]; ++e) {
        const idx d = std::abs(r - p.column[e]);
        bandwidth = std::max(bandwidth, d);
        distance += d;
      }
      if (r > 0) far += far_from_above(p, r);
    }
  }
  void add(const RowSums& other) {
    empty += other.empty;
    shortest = std::min(shortest, other.shortest);
    longest = std::max(longest, other.longest);
    bandwidth = std::max(bandwidth, other.bandwidth);
    squares += other.squares;
    distance += other.distance;
    far += other.far;
  }
};

}  // namespace

PatternStatistics statistics(const PatternView& p) {
  PatternStatistics s{.rows = p.rows, .cols = p.cols, .entries = p.entries()};
  if (p.rows == 0) return s;
  std::vector<RowSums> of_threads(threads_for(p.entries(), entries_of_thread));
  for_ranges(static_cast<std::size_t>(p.rows), of_threads.size(),
             [&](std::size_t from, std::size_t to, std::size_t number) {
               RowSums mine;  // of no cache line that others write
               mine.add_rows(p, static_cast<idx>(from), static_cast<idx>(to));
               of_threads[number] = mine;
             });
  RowSums all;
  for (const RowSums& of_thread : of_threads) all.add(of_thread);
  s.empty_rows = all.empty;
  s.shortest_row = all.shortest;
  s.longest_row = all.longest;
  s.bandwidth = all.bandwidth;
  s.mean_row = static_cast<double>(s.entries) / p.rows;
  s.usual_row = s.longest_row;
  if (s.is_uneven()) take_usual_row(p, s);
  s.row_deviation = std::sqrt(std::max(0.0, all.squares / p.rows - s.mean_row * s.mean_row));
  if (s.entries == 0) return s;
  s.mean_distance = static_cast<double>(all.distance) / s.entries;
  s.scattered = static_cast<double>(all.far) / s.entries;
  return s;
}

std::uint64_t fingerprint(const PatternView& p) {
  const std::uint64_t sizes = mixed(mixed(0, static_cast<std::uint64_t>(p.rows)), static_cast<std::uint64_t>(p.cols));
  return mixed_all(mixed_all(sizes, p.start), p.column);
}

Transposed transposed(const PatternView& p) {
  Transposed t{{p.cols, p.rows, std::vector<count32>(static_cast<std::size_t>(p.cols) + 1), {}}, {}};
  t.pattern.column.resize(p.entries());
  t.entry_of.resize(p.entries());
  for (const idx c : p.column) ++t.pattern.start[c + 1];
  for (idx c = 0; c < p.cols; ++c) t.pattern.start[c + 1] += t.pattern.start[c];
  auto next = t.pattern.start;
  for (idx r = 0; r < p.rows; ++r)
    for (count32 e = p.start[r]; e < p.start[r + 1]; ++e) {
      const count32 at = next[p.column[e]]++;
      t.pattern.column[at] = r;
      t.entry_of[at] = e;
    }
  return t;
}

}  // namespace compound
