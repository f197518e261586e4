// Structure of a matrix from coordinates of contributions: on a device.
#pragma once

#include <optional>
#include <vector>

#include "backend/backend.hpp"

namespace compound {

/// Contributions to blocks of side x side scalars. All arrays are in the backend's memory.
struct ContributionsTask {
  slot_t count = 0;
  int index_bytes = 4;                   ///< of a row or a column: 4 or 8
  const void* row = nullptr;             ///< [count] block row; where it or the column is negative, it is ignored
  const void* column = nullptr;          ///< [count] block column
  const slot_t* scalar = nullptr;        ///< [count] first scalar among the values; null: number * side * side
  const unsigned char* shape = nullptr;  ///< [count] which offsets, as SumTask has them; or null
  int side = 1;
  idx rows = 0, cols = 0;  ///< of the matrix, in blocks
  bool by_rows = false;    ///< sums go to values in the order of rows; else blocks follow each other
};

/// The lists of a SumTask in the backend's memory, of all blocks: in the order of rows and columns.
struct ContributionLists {
  Buffer<slot_t> first;  ///< empty: each block has one contribution
  Buffer<slot_t> index;
  Buffer<unsigned char> shape;
  Buffer<slot_t> place;  ///< with `stride`, where sums go by rows
  Buffer<int> stride;
  // On the host:
  std::vector<count32> start;  ///< [rows + 1] blocks before each row
  std::vector<idx> column;     ///< [blocks], ascending in each row
};

class ContributionWork {
 public:
  /// Contributions to one block are added in the order of their numbers. Nothing where one is beyond the matrix, or a
  /// row has more of them than is sorted here. Throws std::bad_alloc, and what a backend throws.
  virtual std::optional<ContributionLists> list_contributions(const ContributionsTask& task) = 0;

 protected:
  ~ContributionWork() = default;
};

}  // namespace compound
