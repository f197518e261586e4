#include "block_rows.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace compound::bench {

namespace {

PetscInt checked(std::int64_t value) {
  if (value > std::numeric_limits<PetscInt>::max())
    throw std::invalid_argument(
        "a rank would have more entries or block columns than PETSc's 32-bit indices count; use more ranks, a smaller "
        "case, or a PETSc with 64-bit indices");
  return static_cast<PetscInt>(value);
}

}  // namespace

BlockRows generated_rows(const Generated& matrix, std::int64_t first, std::int64_t rows) {
  BlockRows b;
  b.first = first;
  b.all_rows = b.all_columns = matrix.rows();
  checked(b.all_columns);
  b.start.reserve(static_cast<std::size_t>(rows) + 1);
  b.column.reserve(static_cast<std::size_t>(rows) *
                   static_cast<std::size_t>(matrix.grid.entries() / std::max<std::int64_t>(matrix.rows(), 1)));
  std::vector<std::int64_t> columns;
  for (std::int64_t row = first; row < first + rows; ++row) {
    matrix.columns(row, columns);
    b.column.insert(b.column.end(), columns.begin(), columns.end());
    b.start.push_back(checked(static_cast<std::int64_t>(b.column.size())));
  }
  return b;
}

namespace {

PetscScalar scalar_of(std::complex<double> value) {
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(value.real(), value.imag());
#else
  return value.real();
#endif
}

void check_blocks(const CoordinateMatrix& m, int block_size) {
  if (m.complex && !(sizeof(PetscScalar) == 2 * sizeof(PetscReal)))
    throw std::invalid_argument(
        "the file's values are complex, this PETSc's scalars are real; add -complex blocks, or use a program "
        "built for a complex PETSc");
  if (m.rows % block_size != 0 || m.columns % block_size != 0)
    throw std::invalid_argument("-block_size " + std::to_string(block_size) + " does not divide the file's " +
                                std::to_string(m.rows) + " x " + std::to_string(m.columns) +
                                " rows and columns; choose a common divisor");
}

}  // namespace

BlockRows coordinate_rows(const CoordinateMatrix& m, int block_size, std::int64_t first, std::int64_t rows) {
  check_blocks(m, block_size);
  const auto row_of = [&](const Coordinate& c) { return c.row / block_size; };
  const auto column_of = [&](const Coordinate& c) { return c.column / block_size; };
  std::vector<Coordinate> mine;
  for (const Coordinate& c : m.entries)
    if (row_of(c) >= first && row_of(c) < first + rows) mine.push_back(c);
  std::stable_sort(mine.begin(), mine.end(), [&](const Coordinate& a, const Coordinate& b) {
    return row_of(a) != row_of(b) ? row_of(a) < row_of(b) : column_of(a) < column_of(b);
  });
  BlockRows b;
  b.first = first;
  b.all_rows = checked(m.rows / block_size);
  b.all_columns = checked(m.columns / block_size);
  b.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  const std::size_t words = static_cast<std::size_t>(block_size) * static_cast<std::size_t>(block_size);
  const Coordinate* previous = nullptr;
  for (const Coordinate& c : mine) {
    if (!previous || row_of(*previous) != row_of(c) || column_of(*previous) != column_of(c)) {
      b.column.push_back(static_cast<PetscInt>(column_of(c)));
      b.values.resize(b.values.size() + words, PetscScalar(0.0));
      b.start[static_cast<std::size_t>(row_of(c) - first) + 1] = checked(static_cast<std::int64_t>(b.column.size()));
    }
    const auto in_block = static_cast<std::size_t>(c.column % block_size * block_size + c.row % block_size);
    b.values[b.values.size() - words + in_block] += scalar_of(c.value);
    previous = &c;
  }
  for (std::size_t r = 1; r < b.start.size(); ++r) b.start[r] = std::max(b.start[r], b.start[r - 1]);
  return b;
}

RowLengths row_lengths(const BlockRows& rows, std::int64_t first, std::int64_t end) {
  RowLengths lengths;
  for (std::size_t r = 1; r < rows.start.size(); ++r) {
    const std::span columns(rows.column.data() + rows.start[r - 1], rows.column.data() + rows.start[r]);
    const auto here = std::ranges::count_if(columns, [&](PetscInt j) { return j >= first && j < end; });
    lengths.diagonal.push_back(static_cast<PetscInt>(here));
    lengths.off_diagonal.push_back(static_cast<PetscInt>(columns.size()) - lengths.diagonal.back());
  }
  return lengths;
}

BlockRows renumbered(const BlockRows& from, std::span<const PetscInt> order, BlockShape block) {
  const auto area = static_cast<std::size_t>(block.rows) * static_cast<std::size_t>(block.cols);
  std::vector<PetscInt> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<PetscInt>(i);
  BlockRows to;
  to.all_rows = from.all_rows;
  to.all_columns = from.all_columns;
  to.column.reserve(from.column.size());
  to.values.reserve(from.values.size());
  std::vector<std::size_t> entries;
  const auto column_of = [&](std::size_t entry) { return place[static_cast<std::size_t>(from.column[entry])]; };
  for (const PetscInt row : order) {
    const auto r = static_cast<std::size_t>(row);
    entries.resize(static_cast<std::size_t>(from.start[r + 1] - from.start[r]));
    std::iota(entries.begin(), entries.end(), static_cast<std::size_t>(from.start[r]));
    std::ranges::sort(entries, {}, column_of);
    for (const std::size_t e : entries) {
      to.column.push_back(column_of(e));
      const auto block_at = from.values.begin() + static_cast<std::ptrdiff_t>(e * area);
      to.values.insert(to.values.end(), block_at, block_at + static_cast<std::ptrdiff_t>(area));
    }
    to.start.push_back(static_cast<PetscInt>(to.column.size()));
  }
  return to;
}

namespace {

std::int64_t blocks_of(std::int64_t scalars, int side) { return (scalars + side - 1) / side; }

std::size_t area_of(BlockShape b) { return static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(b.cols); }

/// f(scalar row, scalar column, value) of the block rows that have some of the scalar rows [begin, end).
template <class F>
void each_scalar(const BlockRows& b, BlockShape shape, std::int64_t begin, std::int64_t end, const F& f) {
  for (std::int64_t row = begin / shape.rows; row < blocks_of(end, shape.rows); ++row)
    for (PetscInt k = b.start[static_cast<std::size_t>(row)]; k < b.start[static_cast<std::size_t>(row) + 1]; ++k)
      for (std::int64_t i = std::max(row * shape.rows, begin); i < std::min((row + 1) * shape.rows, end); ++i)
        for (int j = 0; j < shape.cols; ++j)
          f(i, std::int64_t{b.column[static_cast<std::size_t>(k)]} * shape.cols + j,
            b.values[static_cast<std::size_t>(k) * area_of(shape) +
                     static_cast<std::size_t>(j * shape.rows + i % shape.rows)]);
}

}  // namespace

BlockRows regrouped(const BlockRows& from, BlockShape given, BlockShape to) {
  const std::int64_t rows = from.all_rows * given.rows;
  BlockRows b;
  b.all_rows = blocks_of(rows, to.rows);
  b.all_columns = checked(blocks_of(from.all_columns * given.cols, to.cols));
  constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> place(static_cast<std::size_t>(b.all_columns), nowhere);  // of the columns of this row
  for (std::int64_t row = 0; row < b.all_rows; ++row) {
    const std::int64_t begin = row * to.rows, end = std::min(rows, begin + to.rows);
    const auto first = b.column.size();
    each_scalar(from, given, begin, end, [&](std::int64_t, std::int64_t column, PetscScalar) {
      std::size_t& at = place[static_cast<std::size_t>(column / to.cols)];
      if (at == nowhere) at = 0, b.column.push_back(static_cast<PetscInt>(column / to.cols));
    });
    std::sort(b.column.begin() + static_cast<std::ptrdiff_t>(first), b.column.end());
    for (std::size_t k = first; k < b.column.size(); ++k) place[static_cast<std::size_t>(b.column[k])] = k;
    b.values.resize(b.column.size() * area_of(to), PetscScalar(0.0));
    each_scalar(from, given, begin, end, [&](std::int64_t i, std::int64_t j, PetscScalar value) {
      b.values[place[static_cast<std::size_t>(j / to.cols)] * area_of(to) +
               static_cast<std::size_t>(j % to.cols * to.rows + i % to.rows)] = value;
    });
    for (std::size_t k = first; k < b.column.size(); ++k) place[static_cast<std::size_t>(b.column[k])] = nowhere;
    b.start.push_back(checked(static_cast<std::int64_t>(b.column.size())));
  }
  return b;
}

}  // namespace compound::bench
