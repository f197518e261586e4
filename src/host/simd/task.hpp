// What a SIMD traversal is given, and the table by which the host backend finds one: plain data, so that the
// translation units compiled for one instruction set share no code with the rest.
#pragma once

#include "../../device/layout/compressed_rows.hpp"
#include "../../device/layout/diagonal_slices.hpp"
#include "../../device/layout/listed_rows.hpp"
#include "../../device/layout/slices.hpp"
#include "../../device/layout/words.hpp"
#include "sparse_task.hpp"

namespace compound::host {

/// y = A x, or z + A x where z is not null (z may be y). Vectors are arrays of blocks in PETSc's order.
struct SimdTask {
  layout_args layout;
  word_map<dynamic> words;  ///< of the matrix
  int rows = 0, cols = 0;   ///< of a block, in scalars
  bool fetch_x = false;     ///< ask for x ahead of its use (compressed rows of blocks)
  bool conjugate = false;   ///< A^T times x: of the conjugate of A; of a stored half, that it is a Hermitian one's
  bool gathers = true;      ///< x of several columns by gathers, where the set has fast ones; else one by one
  const void* values = nullptr;
  const void* table = nullptr;  ///< words that `values` are codes of, for kernels of coded words
  const double* x = nullptr;
  const double* z = nullptr;
  double* y = nullptr;
  /// Of several vectors: how many, real numbers in each x, and from one to the next; room for x interleaved, for
  /// multiples of the real numbers in a SIMD vector.
  int vectors = 1;
  slot_t numbers = 0;
  slot_t x_apart = 0, z_apart = 0, y_apart = 0;
  double* interleaved = nullptr;
};

/// Traversals are of forms, and of columns of 32 bits: others go by the plain kernel. `rows`: dense blocks by column;
/// `row_words`: of dense blocks, by scalar rows; `slices`: of a multiple of 8 rows, words in groups of a multiple of 8;
/// `diagonals`: the same of 32, rows in their order.
using SimdRows = compressed_rows<RowOrder::any, columns32<>>;
using SimdSlices = slices<dynamic, Occupancy::lengths, RowOrder::any, columns32<>>;
using SimdDiagonals = diagonal_slices<dynamic, RowOrder::kept>;

struct SimdKernel {
  const char* entry;  ///< its name in entry_kinds.cpp
  bool complex_scalars;
  bool single;     ///< stored words are floats
  bool coded;      ///< words are codes of one byte into a table of such
  bool any_shape;  ///< up to `rows` x `cols`
  int rows, cols;  ///< of a block
  HostTraversal form;
  void (*run)(const SimdTask&);
  void (*scatter)(const SimdTask&) = nullptr;  ///< y = y + A^T x; null: by the plain kernel
  void (*half)(const SimdTask&) = nullptr;     ///< y = y + A x of the stored half (`half=`); null: by the plain kernel
  void (*several)(const SimdTask&) = nullptr;  ///< as `run`, of several vectors; null: one by one
  int together = 1;                            ///< vectors that `several` interleaves
};

struct SimdKernels {
  const SimdKernel* first = nullptr;
  int count = 0;

  const SimdKernel* begin() const { return first; }
  const SimdKernel* end() const { return first + count; }
};

struct SimdTable {
  SimdKernels of_doubles, of_floats;     ///< by the precision of stored words
  const SparseKernel* sparse = nullptr;  ///< of doubles; the last of any block
};

SimdKernels avx2_of_doubles();
SimdKernels avx2_of_floats();
const SparseKernel* avx2_sparse();
SimdKernels avx512_of_doubles();
SimdKernels avx512_of_floats();
const SparseKernel* avx512_sparse();

}  // namespace compound::host
