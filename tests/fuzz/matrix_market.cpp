// Matrix Market files: an error, or entries that are in the matrix.
#include "bench/matrix_market.hpp"

#include <stdexcept>

#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace compound;
  try {
    const bench::CoordinateMatrix matrix = bench::parse_matrix_market(fuzz::text_of(data, size), "a file");
    for (const bench::Coordinate& c : matrix.entries)
      fuzz::require(0 <= c.row && c.row < matrix.rows && 0 <= c.column && c.column < matrix.columns,
                    "entry (" + std::to_string(c.row) + ", " + std::to_string(c.column) + ") is in the matrix");
    if (matrix.complex) bench::real_blocks(matrix, "a file");
  } catch (const std::runtime_error&) {
  }
  return 0;
}
