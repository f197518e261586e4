#include "storage/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "layout/family.hpp"
#include "pattern/mirrored.hpp"
#include "plan/entry_shifts.hpp"
#include "plan/keywords.hpp"

namespace compound {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw error(ErrorKind::argument, why + "; leave half= out of the plan, or mend the matrix");
}

[[noreturn]] void refuse_alone(idx row, idx column) {
  refuse("half= is for symmetric matrices, and the pattern is not: it has block " + place_text(row, column) +
         " and not " + place_text(column, row));
}

}  // namespace

std::vector<count32> mirrored_entries(const PatternView& p) {
  if (p.rows != p.cols)
    refuse("half= is for square matrices, not for one of " + std::to_string(p.rows) + " block rows and " +
           std::to_string(p.cols) + " block columns");
  std::vector<count32> mirrored;
  mirrored.reserve(p.entries() / 2 + p.rows);
  // Rows ask for the entries before the diagonal of another row in their order.
  std::vector<count32> next(p.start.begin(), p.start.end() - (p.start.empty() ? 0 : 1));
  for (idx row = 0; row < p.rows; ++row) {
    const count32 begin = p.start[row], end = p.start[row + 1];
    for (count32 e = begin; e < end; ++e) {
      const idx column = p.column[e];
      if (e > begin && column <= p.column[e - 1])
        refuse("half= needs rows whose columns ascend, and those of block row " + std::to_string(row) + " do not");
      if (column < row) {
        if (e >= next[row]) refuse_alone(row, column);
      } else if (column == row) {
        mirrored.push_back(e);
      } else {
        count32& there = next[column];
        if (there == p.start[column + 1] || p.column[there] != row) refuse_alone(row, column);
        mirrored.push_back(there++);
      }
    }
  }
  return mirrored;
}

namespace {

/// f(row, column, stored entry) of positions [from, to), and maybe of some after them.
template <class F>
void for_rows(const LayoutFamily& family, const layout_args& layout, idx from, idx to, const F& f) {
  RowLists lists;
  for (idx position = from; position < to;) {
    position = family.list_rows(layout, position, lists);
    for (idx r = 0; r < lists.rows; ++r)
      for (slot_t n = lists.first[r]; n < lists.first[r + 1]; ++n) f(lists.row[r], lists.column[n], lists.slot[n]);
  }
}

}  // namespace

std::vector<count32> diagonal_entries(const LayoutFamily& family, const layout_args& stored,
                                      const std::vector<count32>& mirrored, idx rows) {
  std::vector<count32> diagonal(static_cast<std::size_t>(rows), no_diagonal);
  for_rows(family, stored, 0, stored.positions, [&](idx row, idx column, slot_t entry) {
    if (row == column) diagonal[row] = mirrored[entry];
  });
  return diagonal;
}

namespace {

/// Blocks of one type of scalar as real numbers.
template <class Real, int parts>
struct Blocks {
  const Real* all;
  int side;

  const Real* at(slot_t entry, int i, int j) const { return all + ((entry * side + j) * side + i) * parts; }
  /// Of nearly all blocks: as fast as they come from memory.
  bool are_equal(slot_t entry, slot_t mirrored, int sign_of_imaginary) const {
    const Real *const a = at(entry, 0, 0), *const b = at(mirrored, 0, 0);
    const auto sign = Real(sign_of_imaginary);
    bool equal = true;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const int here = (j * side + i) * parts, there = (i * side + j) * parts;
        equal &= a[here] == b[there];
        if constexpr (parts == 2) equal &= a[here + 1] == sign * b[there + 1];
      }
    return equal;
  }
  double magnitude(const Real* a) const {
    if constexpr (parts == 2) return std::hypot(double(a[0]), double(a[1]));
    return std::abs(double(*a));
  }
  double largest(slot_t entry) const {
    double most = 0;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) most = std::fmax(most, magnitude(at(entry, i, j)));
    return most;
  }
  /// |a - op(b)|; 0 where they are equal, which infinite ones may be, or both no numbers.
  double difference(const Real* a, const Real* b, int sign_of_imaginary) const {
    double apart[2] = {0, 0};
    for (int part = 0; part < parts; ++part) {
      const double u = double(a[part]), v = part == 1 ? sign_of_imaginary * double(b[part]) : double(b[part]);
      if (u != v && !(std::isnan(u) && std::isnan(v))) apart[part] = u - v;
    }
    return parts == 1 ? std::abs(apart[0]) : std::hypot(apart[0], apart[1]);
  }
};

template <class Real, int parts>
class Check {
 public:
  Check(const Plan& plan, const Problem& problem, const layout_args& layout, const std::vector<count32>& mirrored,
        idx rows, const void* blocks)
      : plan_(plan),
        layout_(layout),
        family_(family_of(plan.layout)),
        mirrored_(mirrored),
        rows_(rows),
        blocks_{static_cast<const Real*>(blocks), problem.block.rows} {}

  /// By several threads; of what they find the first is thrown.
  void all(const EntryRuns& runs) {
    constexpr std::size_t bytes_of_thread = std::size_t{4} << 20;
    const std::size_t bytes = mirrored_.size() * blocks_.side * blocks_.side * parts * sizeof(Real);
    const auto positions = static_cast<std::size_t>(layout_.positions);
    const std::size_t threads = std::min(std::max<std::size_t>(positions, 1), threads_for(bytes, bytes_of_thread));
    for_ranges(positions, threads, [&](std::size_t from, std::size_t to, std::size_t) {
      EntryShifts shift(runs);
      for_rows(family_, layout_, static_cast<idx>(from), static_cast<idx>(to), [&](idx row, idx column, slot_t entry) {
        pair(row, column, entry + shift(entry), slot_t{mirrored_[entry]});
      });
    });
  }

 private:
  void pair(idx row, idx column, slot_t here, slot_t there) {
    const int sign = plan_.half == Half::hermitian ? -1 : 1;
    if (blocks_.are_equal(here, there, sign)) return;
    for (int j = 0; j < blocks_.side; ++j)
      for (int i = 0; i < blocks_.side; ++i) {
        const Real *const a = blocks_.at(here, i, j), *const other = blocks_.at(there, j, i);
        const double differs = blocks_.difference(a, other, sign);
        if (differs == 0) continue;
        const double larger = std::fmax(blocks_.magnitude(a), blocks_.magnitude(other));
        const double mean = std::sqrt(largest_of_diagonal(row)) * std::sqrt(largest_of_diagonal(column));
        const bool is_rounding = differs <= rounding_of_sums<Real> * std::fmax(larger, mean) && std::isfinite(differs);
        if (!is_rounding) refuse_pair(row, column, i, j, differs);
      }
  }

  [[noreturn]] void refuse_pair(idx row, idx column, int i, int j, double differs) const {
    char much[32];
    std::snprintf(much, sizeof(much), "%.3g", differs);
    refuse("half=" + std::string(name_of(plan_.half)) + " is for matrices that are, and blocks " +
           place_text(row, column) + " and " + place_text(column, row) + " differ by " + much + " in their scalars " +
           place_text(i, j) + " and " + place_text(j, i));
  }

  /// Looked up where scalars differ, which they seldom do.
  double largest_of_diagonal(idx row) {
    std::call_once(has_diagonal_, [&] { diagonal_ = diagonal_entries(family_, layout_, mirrored_, rows_); });
    return diagonal_[row] == no_diagonal ? 0 : blocks_.largest(slot_t{diagonal_[row]});
  }

  const Plan& plan_;
  const layout_args& layout_;
  const LayoutFamily& family_;
  const std::vector<count32>& mirrored_;
  const idx rows_;
  Blocks<Real, parts> blocks_;
  std::once_flag has_diagonal_;
  std::vector<count32> diagonal_;  ///< diagonal_entries()
};

template <class Real, int parts>
void check_as(const Plan& plan, const Problem& problem, const layout_args& layout, const EntryRuns& runs,
              const std::vector<count32>& mirrored, idx rows, const void* blocks) {
  Check<Real, parts>(plan, problem, layout, mirrored, rows, blocks).all(runs);
}

}  // namespace

void check_symmetry(const Plan& plan, const Problem& problem, const layout_args& layout, const EntryRuns& runs,
                    const std::vector<count32>& mirrored, idx rows, const void* blocks) {
  const bool single = problem.scalar.precision == Precision::single, complex = problem.scalar.field == Field::complex;
  const auto check = single ? (complex ? check_as<float, 2> : check_as<float, 1>)
                            : (complex ? check_as<double, 2> : check_as<double, 1>);
  check(plan, problem, layout, runs, mirrored, rows, blocks);
}

}  // namespace compound
