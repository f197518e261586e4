// Reader of Matrix Market coordinate files (https://math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace compound::bench {

struct Coordinate {
  std::int64_t row, column;  ///< from 0
  std::complex<double> value;
};

/// All entries, with those that symmetry implies; entries given twice are kept twice and add up.
struct CoordinateMatrix {
  std::int64_t rows = 0, columns = 0;
  bool complex = false;
  std::vector<Coordinate> entries;
};

/// Each complex number a + ib as the real block [[a, -b], [b, a]]: twice as many rows and columns. Throws
/// std::runtime_error where the values are real.
CoordinateMatrix real_blocks(const CoordinateMatrix& matrix, const std::string& name);

/// What a file's header announces.
struct CoordinateSize {
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;  ///< with those that symmetry implies, at least
};

/// `head` is the beginning of a file of so many characters, with the line of sizes. Throws as below.
CoordinateSize matrix_market_size(std::string_view head, std::int64_t characters, const std::string& name);

/// `text` is the whole file. Throws std::runtime_error "name:line: what is wrong, and what is allowed".
CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& name);

}  // namespace compound::bench
