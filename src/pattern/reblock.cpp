#include "pattern/reblock.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"
#include "device/scalar.hpp"

namespace compound {

namespace {

/// The last group ends at `end`.
void close_groups(Grouping& g, idx end, idx scalars) {
  g.start.push_back(end);
  g.group_of.resize(static_cast<std::size_t>(scalars), g.groups());
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

/// Where the next row starts.
count32 start_after(std::size_t entries) {
  if (entries > std::numeric_limits<count32>::max())
    throw error(ErrorKind::too_large,
                "re-blocked, the matrix has more than 2^32 - 1 blocks on one process; use more processes");
  return static_cast<count32>(entries);
}

/// Adds what one given block row contributes to the group's columns: each group that it touches, once.
void add_columns(const Reblocked& r, const PatternView& given, idx row, idx mark, std::vector<idx>& marked,
                 std::vector<idx>& columns) {
  for (count32 e = given.start[row]; e < given.start[row + 1]; ++e) {
    const idx first = given.column[e] * r.from;
    const idx last = std::min(r.cols.group_of[first + r.from - 1], r.cols.groups() - 1);
    for (idx g = r.cols.group_of[first]; g <= last; ++g) {
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
    p.start.push_back(start_after(p.column.size()));
  }
  p.column.shrink_to_fit();  // it stays as long as the packed matrix
  return p;
}

/// The scalars in rows [first_row, end_row) from a column on.
Edge edge_of(const PatternView& given, idx from, idx first_row, idx end_row, idx first_col) {
  Edge edge{{end_row - first_row, given.cols * from - first_col, {0}, {}}, {}};
  for (idx scalar = first_row; scalar < end_row; ++scalar) {
    const idx row = scalar / from, i = scalar % from;
    for (count32 e = given.start[row]; e < given.start[row + 1]; ++e)
      for (idx j = 0; j < from; ++j) {
        const idx col = given.column[e] * from + j;
        if (col < first_col) continue;
        edge.pattern.column.push_back(col - first_col);
        edge.from.push_back((slot_t{e} * from + j) * from + i);
      }
    edge.pattern.start.push_back(start_after(edge.pattern.column.size()));
  }
  return edge;
}

Reblocked in_groups(const PatternView& given, idx from, Grouping rows, Grouping cols) {
  Reblocked r{from, std::move(rows), std::move(cols), {}, {}, {}};
  r.pattern = pattern_of_groups(r, given);
  const idx in_rows = r.rows.scalars(), in_cols = r.cols.scalars();
  if (in_cols < r.cols.all_scalars()) r.beside = edge_of(given, from, 0, in_rows, in_cols);
  if (in_rows < r.rows.all_scalars()) r.below = edge_of(given, from, in_rows, r.rows.all_scalars(), 0);
  return r;
}

/// Columns go by the rows' nodes where the two are the same unknowns, else by which have the same rows.
Reblocked in_nodes(const PatternView& given, idx from, BlockShape to) {
  Grouping rows = node_groups(given, from, to.rows);
  if (given.rows != given.cols)
    return in_groups(given, from, std::move(rows), node_groups(transposed(given).pattern.view(), from, to.cols));
  Grouping cols = to.rows == to.cols ? rows : node_groups(given, from, to.cols);
  return in_groups(given, from, std::move(rows), std::move(cols));
}

/// Vectors must be brought to nodes of uneven size and back: they must save so much.
constexpr double worth_of_nodes = 0.9;

}  // namespace

bool can_be_reblocked(int from, BlockShape to) {
  const auto side = [&](int n) { return n >= 1 && (n % from == 0 || from % n == 0); };
  return side(to.rows) && side(to.cols);
}

Grouping even_groups(idx scalars, idx block) {
  Grouping g{block, {}, {}};
  const idx end = scalars / block * block;
  for (idx s = 0; s < end; s += block) g.start.push_back(s);
  close_groups(g, end, scalars);
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
  close_groups(g, p.rows * from, p.rows * from);
  return g;
}

Reblocked reblocked(const PatternView& pattern, int from, BlockShape to) {
  if (!can_be_reblocked(from, to))
    throw error(ErrorKind::argument, "blocks of " + text_of(to) + " do not fit a matrix with blocks of " +
                                         std::to_string(from) + ": choose a multiple or a divisor of " +
                                         std::to_string(from));
  const idx rows = scalars_of(pattern.rows, from), cols = scalars_of(pattern.cols, from);
  Reblocked even = in_groups(pattern, from, even_groups(rows, to.rows), even_groups(cols, to.cols));
  if (to.rows % from != 0 || to.cols % from != 0 || to == BlockShape{from, from}) return even;
  Reblocked nodes = in_nodes(pattern, from, to);
  return nodes.stored() < worth_of_nodes * even.stored() ? nodes : even;
}

template <class S>
void fill_blocks(const Reblocked& r, const PatternView& given, const S* from, S* blocks) {
  const PatternView p = r.pattern.view();
  const slot_t height = r.rows.block, words = height * r.cols.block;
  std::vector<count32> entry_at(static_cast<std::size_t>(p.cols));
  std::fill_n(blocks, p.entries() * words, S{});
  for (idx row = 0; row < given.rows; ++row)
    for (idx i = 0; i < r.from; ++i) {
      const idx scalar = row * r.from + i, g = r.rows.group_of[scalar];
      if (g == r.rows.groups()) return;
      if (scalar == r.rows.start[g])
        for (count32 e = p.start[g]; e < p.start[g + 1]; ++e) entry_at[p.column[e]] = e;
      S* const line = blocks + (scalar - r.rows.start[g]);
      for (count32 e = given.start[row]; e < given.start[row + 1]; ++e)
        for (idx j = 0; j < r.from; ++j) {
          const idx col = given.column[e] * r.from + j, h = r.cols.group_of[col];
          if (h == r.cols.groups()) continue;
          line[entry_at[h] * words + slot_t{col - r.cols.start[h]} * height] +=
              from[(slot_t{e} * r.from + j) * r.from + i];
        }
    }
}

template void fill_blocks(const Reblocked&, const PatternView&, const double*, double*);
template void fill_blocks(const Reblocked&, const PatternView&, const complex_number<double>*, complex_number<double>*);

}  // namespace compound
