// What a product of two or three sparse matrices is given, and how vector code offers it: plain data, as task.hpp.
#pragma once

#include "../../device/target.hpp"

namespace compound::host {

/// Compressed rows of full blocks, values in the order of rows (ValueOrder::rows).
struct SparseRows {
  idx rows = 0;
  const count32* start = nullptr;
  const idx* column = nullptr;
  int block_rows = 0, block_cols = 0;
  const void* values = nullptr;
};

/// The sum of this many products at most: of the columns of a process and those of others.
inline constexpr int most_terms = 2;

/// C = sum of A B, or C = Q^T times it where `q` is given, of as many scalar rows as A. All A are of one size of blocks
/// and one count of rows, all B of one size of blocks and one count of columns.
struct SparseTask {
  SparseRows q, a[most_terms], b[most_terms];
  int terms = 1;
  SparseRows c;           ///< columns of a row ascend and are those of the product; no values
  void* to = nullptr;     ///< values of C, of zeros
  idx* place = nullptr;   ///< [block columns of B], of -1, which it leaves so
  idx* found = nullptr;   ///< [longest row of C]
  void* tiles = nullptr;  ///< [longest row of C][rows of a block of A][padded_width(columns of a block of B)]
};

/// Rows of tiles begin at multiples of the widest vector.
COMPOUND_FN constexpr int padded_width(int width) { return (width + 7) / 8 * 8; }

/// Of blocks of `inner` rows and columns of A and `width` columns of B; 0: of any.
struct SparseKernel {
  int inner, width;
  double (*run)(const SparseTask&);  ///< returns the multiplications of scalars
};

}  // namespace compound::host
