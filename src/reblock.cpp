#include "reblock.hpp"

#include <limits>
#include <string>

#include "device/scalar.hpp"
#include "error.hpp"

namespace compound {

namespace {

void close_groups(Grouping& g, idx scalars) {
  g.start.push_back(scalars);
  g.group_of.resize(static_cast<std::size_t>(scalars));
  for (idx k = 0; k < g.groups(); ++k)
    std::fill(g.group_of.begin() + g.start[k], g.group_of.begin() + g.start[k + 1], k);
}

bool same_columns(const PatternView& p, idx a, idx b) {
  return std::equal(p.column.begin() + p.start[a], p.column.begin() + p.start[a + 1], p.column.begin() + p.start[b],
                    p.column.begin() + p.start[b + 1]);
}

idx scalars_of(idx blocks, int size) {
  const std::int64_t n = std::int64_t{blocks} * size;
  if (n >= std::numeric_limits<idx>::max())
    throw error(ErrorKind::too_large, std::to_string(n) +
                                          " rows or columns on one process are too many to be re-blocked; use more "
                                          "processes");
  return static_cast<idx>(n);
}

/// Adds what one given block row contributes to the group's columns: each group that it touches, once.
void add_columns(const Reblocked& r, const PatternView& given, idx row, idx mark, std::vector<idx>& marked,
                 std::vector<idx>& columns) {
  for (count32 e = given.start[row]; e < given.start[row + 1]; ++e) {
    const idx first = given.column[e] * r.from;
    for (idx g = r.cols.group_of[first]; g <= r.cols.group_of[first + r.from - 1]; ++g) {
      if (marked[g] == mark) continue;
      marked[g] = mark;
      columns.push_back(g);
    }
  }
}

Pattern pattern_of_groups(const Reblocked& r, const PatternView& given) {
  Pattern p{r.rows.groups(), r.cols.groups(), {0}, {}};
  std::vector<idx> marked(static_cast<std::size_t>(p.cols), -1);
  for (idx g = 0; g < p.rows; ++g) {
    const auto begin = static_cast<std::ptrdiff_t>(p.column.size());
    for (idx row = r.rows.start[g] / r.from; row * r.from < r.rows.start[g + 1]; ++row)
      add_columns(r, given, row, g, marked, p.column);
    std::sort(p.column.begin() + begin, p.column.end());
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  p.column.shrink_to_fit();  // it stays as long as the packed matrix
  return p;
}

Reblocked in_groups(const PatternView& given, int from, int to, Grouping rows) {
  const bool square = given.rows == given.cols;
  Grouping cols = square ? rows : even_groups(scalars_of(given.cols, from), to);
  Reblocked r{from, to, std::move(rows), std::move(cols), {}};
  r.pattern = pattern_of_groups(r, given);
  return r;
}

}  // namespace

Grouping even_groups(idx scalars, idx block) {
  Grouping g{block, {}, {}};
  for (idx s = 0; s < scalars; s += block) g.start.push_back(s);
  close_groups(g, scalars);
  return g;
}

Grouping node_groups(const PatternView& p, idx from, idx to) {
  Grouping g{to, {}, {}};
  idx first = 0;
  for (idx row = 0; row < p.rows; ++row) {
    if (row > first && (row - first) * from < to && same_columns(p, row - 1, row)) continue;
    g.start.push_back(row * from);
    first = row;
  }
  close_groups(g, p.rows * from);
  return g;
}

Reblocked reblocked(const PatternView& pattern, int from, int to) {
  if (to < 1 || (to % from != 0 && from % to != 0))
    throw error(ErrorKind::argument, "blocks of " + std::to_string(to) + " do not fit a matrix with blocks of " +
                                         std::to_string(from) + ": choose a multiple or a divisor of " +
                                         std::to_string(from));
  const idx rows = scalars_of(pattern.rows, from);
  scalars_of(pattern.cols, from);
  Reblocked even = in_groups(pattern, from, to, even_groups(rows, to));
  if (to <= from) return even;
  Reblocked nodes = in_groups(pattern, from, to, node_groups(pattern, from, to));
  return nodes.pattern.column.size() < even.pattern.column.size() ? nodes : even;
}

int dense_block_size(const PatternView& pattern, double fill) {
  if (pattern.entries() == 0) return 1;
  for (int size = 8; size > 1; --size)
    if (reblocked(pattern, 1, size).fill(pattern.entries()) >= fill) return size;
  return 1;
}

template <class S>
void fill_blocks(const Reblocked& r, const PatternView& given, const S* from, S* blocks) {
  const PatternView p = r.pattern.view();
  const slot_t words = slot_t{r.to} * r.to;
  std::vector<count32> entry_at(static_cast<std::size_t>(p.cols));
  std::fill_n(blocks, p.entries() * words, S{});
  for (idx row = 0; row < given.rows; ++row)
    for (idx i = 0; i < r.from; ++i) {
      const idx scalar = row * r.from + i, g = r.rows.group_of[scalar];
      if (scalar == r.rows.start[g])
        for (count32 e = p.start[g]; e < p.start[g + 1]; ++e) entry_at[p.column[e]] = e;
      S* const line = blocks + (scalar - r.rows.start[g]);
      for (count32 e = given.start[row]; e < given.start[row + 1]; ++e)
        for (idx j = 0; j < r.from; ++j) {
          const idx col = given.column[e] * r.from + j, h = r.cols.group_of[col];
          line[entry_at[h] * words + slot_t{col - r.cols.start[h]} * r.to] +=
              from[(slot_t{e} * r.from + j) * r.from + i];
        }
    }
}

template void fill_blocks(const Reblocked&, const PatternView&, const double*, double*);
template void fill_blocks(const Reblocked&, const PatternView&, const complex_number<double>*, complex_number<double>*);

}  // namespace compound
