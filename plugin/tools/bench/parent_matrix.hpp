// The matrix of a case in PETSc's own BAIJ: what every candidate is made from.
#pragma once

#include <petscmat.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "block_rows.hpp"
#include "memory.hpp"
#include "petsc_handle.hpp"
#include "value_rule.hpp"

namespace compound::bench {

using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;
using Viewer = Handle<PetscViewer, PetscViewerDestroy>;

/// Block rows that this rank gets of so many, by PETSc's rule.
struct Share {
  std::int64_t first = 0, rows = 0;
};
Share share_of_rank(MPI_Comm comm, std::int64_t all_rows);

/// The arrays of one sequential BAIJ matrix: a whole one, or a part of a parallel one.
struct BlockArrays {
  PetscInt rows = 0, columns = 0;
  const PetscInt* start = nullptr;
  const PetscInt* column = nullptr;
  PetscScalar* values = nullptr;            ///< [entries][columns][rows]
  const PetscInt* global_column = nullptr;  ///< of an off-diagonal part: global block columns of its columns
  PetscInt first_column = 0;                ///< of a diagonal part: added to its columns

  std::int64_t entries() const { return rows > 0 ? start[rows] : 0; }
  std::int64_t global(PetscInt j) const { return global_column ? global_column[j] : first_column + std::int64_t{j}; }
};

/// Collective. A matrix of a type with the sizes and the block size of another one; of ours it multiplies on the device
/// of the run.
Matrix empty_like(Mat parent, const std::string& type);

/// One or two parts of a BAIJ matrix on this rank. The pointers live as long as the matrix.
std::vector<BlockArrays> block_arrays(Mat A);

/// A matrix of ours multiplies on the device of the run, and its vectors lie there, if the run has one.
void multiply_on_device(Mat A);

/// Collective. With no values of its own, `rule` gives them.
Matrix assemble(MPI_Comm comm, const BlockRows& rows, int block_size, const ValueRule* rule);
/// Of rows with values, on this rank alone; marked as symmetric where it is.
Matrix assemble_alone(const BlockRows& rows, int block_size, bool symmetric);

/// Whether it is marked so.
bool is_known_symmetric(Mat A);

/// Collective. A PETSc binary or Matrix Market file, told apart by their first bytes. block_size 0: as the file's .info
/// says, else 1. `complex_blocks`: complex numbers become 2x2 blocks of a real matrix, which has block size 2 unless
/// given; Matrix Market alone. `check` gets the size that the file's header announces, before more is read: its blocks
/// are taken to be full. Throws usage_error naming the file.
Matrix load(MPI_Comm comm, const std::string& file, int block_size, bool complex_blocks,
            const std::function<void(const CaseSize&)>& check);

/// Collective. The pattern of a Matrix Market file, whose places are to have such blocks; otherwise as load().
BlockRows load_pattern(MPI_Comm comm, const std::string& file, BlockShape block,
                       const std::function<void(const CaseSize&)>& check);

/// The block rows of a matrix on one rank.
BlockRows rows_of(const BlockArrays& arrays, BlockShape block);

/// PETSc's ordering of the graph of blocks: [block rows], the row that comes at each place; `seconds` that it took.
/// Throws usage_error where there are not as many block columns.
std::vector<PetscInt> ordering_of(const BlockRows& rows, const std::string& ordering, double& seconds);

/// renumbered() of a PETSc matrix; the given one is gone then.
Matrix renumbered(Matrix matrix, const std::string& ordering, int block_size, double& seconds);

}  // namespace compound::bench
