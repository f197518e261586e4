// Rows of tables of kernels and the blocks they serve.
#pragma once

#include "entry/kinds.hpp"

namespace compound::host {

/// Of a row of the plain or of a SIMD table: exactly its shape, or up to it.
template <class Row>
bool has_shape(const Row& row, const BlockShape& b) {
  return row.any_shape ? b.rows <= row.rows && b.cols <= row.cols : b.rows == row.rows && b.cols == row.cols;
}

}  // namespace compound::host
