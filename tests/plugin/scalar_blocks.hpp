// Matrices of single scalars in blocks, rectangular ones too, as types above AIJ take them.
#pragma once

#include "petsc_test.hpp"

namespace petsc_test {

struct Blocks {
  int rows, cols;
};
inline std::string text_of(Blocks b) {
  return b.rows == b.cols ? std::to_string(b.rows) : std::to_string(b.rows) + "x" + std::to_string(b.cols);
}

/// 12 x 10 blocks a process, with entries in a band and far off; `tells`: by MatSetBlockSizes(); `fill`: the share of
/// scalars of a block that are there; `options`: one with its value.
Matrix of_blocks(const std::string& type, Blocks b, bool tells, double fill = 1, const std::string& options = "");
inline Matrix of_blocks(Blocks b, bool tells, double fill = 1) { return of_blocks(MATAIJCOMPOUND, b, tells, fill); }
inline Matrix plain(Blocks b, double fill = 1) { return of_blocks(MATAIJ, b, true, fill); }

}  // namespace petsc_test
