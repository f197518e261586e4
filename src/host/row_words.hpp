// The plain kernels of words that lie by scalar rows (ValueOrder::rows), and their diagonal blocks.
#pragma once

#include <vector>

#include "backend/backend.hpp"

namespace compound::host {

/// Null where words lie otherwise.
void (*find_row_words(const Plan& plan, const Problem& problem))(const ProductTask&);

/// The diagonal blocks of such a matrix by themselves: block by block, in compressed rows.
class DiagonalBlocks {
 public:
  explicit DiagonalBlocks(const DiagonalTask& of);
  DiagonalBlocks(const DiagonalBlocks&) = delete;
  DiagonalBlocks& operator=(const DiagonalBlocks&) = delete;
  /// As the one that was given; lives no longer than this.
  DiagonalTask task() const;

 private:
  const DiagonalTask& of_;
  Plan plan_;
  std::vector<count32> start_;
  std::vector<idx> column_;
  std::vector<std::byte> words_;
  layout_args layout_;
};

}  // namespace compound::host
