#include "scalar_formats.hpp"

#include <limits>

namespace compound::bench {

RowPattern block_pattern(const BlockArrays& b) {
  RowPattern p;
  p.start.assign(b.start, b.start + b.rows + 1);
  p.column.assign(b.column, b.column + b.entries());
  return p;
}

RowPattern scalar_pattern(const BlockArrays& b, BlockShape block) {
  RowPattern p;
  p.start.reserve(static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(block.rows) + 1);
  p.column.resize(static_cast<std::size_t>(b.entries() * block.rows * block.cols));
  p.start.push_back(0);
  std::size_t at = 0;
  for (PetscInt r = 0; r < b.rows; ++r)
    for (int i = 0; i < block.rows; ++i) {
      for (PetscInt k = b.start[r]; k < b.start[r + 1]; ++k)
        for (int j = 0; j < block.cols; ++j) p.column[at++] = static_cast<std::int32_t>(b.column[k] * block.cols + j);
      p.start.push_back(static_cast<std::int32_t>(at));
    }
  return p;
}

CoordinatePattern coordinate_pattern(const RowPattern& rows) {
  CoordinatePattern p{{}, rows.column};
  p.row.reserve(rows.column.size());
  for (std::size_t r = 0; r + 1 < rows.start.size(); ++r)
    p.row.resize(static_cast<std::size_t>(rows.start[r + 1]), static_cast<std::int32_t>(r));
  return p;
}

SlicePattern slice_pattern(const RowPattern& rows, int height) {
  SlicePattern s;
  s.height = height;
  s.start.push_back(0);
  const auto all = static_cast<std::size_t>(rows.rows()), step = static_cast<std::size_t>(height);
  std::int64_t places = 0;
  for (std::size_t first = 0; first < all; first += step) {
    std::int32_t longest = 0;
    for (std::size_t r = first; r < std::min(first + step, all); ++r)
      longest = std::max(longest, rows.start[r + 1] - rows.start[r]);
    places += std::int64_t{longest} * height;
    if (places > std::numeric_limits<std::int32_t>::max()) return {height, {}, {}};
    s.start.push_back(static_cast<std::int32_t>(places));
  }
  s.column.assign(static_cast<std::size_t>(places), -1);
  each_in_slices(rows, s, [&](std::size_t from, std::size_t to) { s.column[to] = rows.column[from]; });
  return s;
}

}  // namespace compound::bench
