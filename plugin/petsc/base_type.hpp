// What a base type of PETSc must tell for types of ours to stand above it. One row of data for each: baij.cpp has
// the first.
#pragma once

#include <span>

#include "base/shape.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// A sequential base type's own arrays: block rows, columns, and values in blocks.
struct BlockArrays {
  PetscInt rows = 0, cols = 0;  ///< in blocks
  BlockShape block = {1, 1};
  ValueOrder order = ValueOrder::blocks;
  const PetscInt* start = nullptr;
  const PetscInt* column = nullptr;
  const PetscScalar* values = nullptr;
  bool are_checked = false;  ///< starts ascend, and all columns are below `cols`

  PetscInt entries() const { return rows > 0 ? start[rows] : 0; }
  PetscInt64 scalars_of_entry() const { return PetscInt64{block.rows} * block.cols; }
  PetscInt64 bytes() const {
    const PetscInt64 words = values ? scalars_of_entry() : 0;
    return entries() * words * PetscInt64(sizeof(PetscScalar)) + (entries() + rows + 1) * PetscInt64(sizeof(PetscInt));
  }
};

/// A type of PETSc and ours above it.
struct TypePair {
  MatType base, ours;
  /// MatConvert_<base>_<these>_C: types inherit operations, but not converters.
  std::span<const char* const> converters;
  /// The same of types that are subclasses of the base type themselves: they take the place of what we hang on a
  /// matrix.
  std::span<const char* const> siblings = {};
};

struct BaseType {
  MatType root;  ///< ours, resolved by PETSc to seq or mpi
  TypePair seq, mpi;
  /// Whether it keeps blocks of its own size, square. Else it keeps single scalars, and what blocks they are in is
  /// found (spmv/input_blocks.hpp).
  bool keeps_blocks;
  /// Whether it keeps the diagonal and what is above it alone, of a matrix that is symmetric, or Hermitian if it says
  /// so (is_hermitian(), baij.hpp). Of several processes the off-diagonal parts are of another base type, and stand for
  /// what is below the diagonal, too.
  bool keeps_upper = false;

  /// Of a seq matrix, without copy and without raising the object's state. `values` is null in a matrix without them
  /// (MAT_STRUCTURE_ONLY).
  PetscErrorCode (*arrays)(Mat seq, BlockArrays* arrays);
  /// The values of a seq matrix to write to; giving them back raises the state.
  PetscErrorCode (*get_array)(Mat seq, PetscScalar** values);
  PetscErrorCode (*restore_array)(Mat seq, PetscScalar** values);
  /// Diagonal and off-diagonal part of an mpi matrix, and the global block column of each column of the latter.
  PetscErrorCode (*parts)(Mat mpi, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns);
  /// Blocks in each row of a seq matrix (`off_diagonal` is not read), or of the two parts of an mpi one.
  PetscErrorCode (*set_lengths)(Mat A, PetscInt block_size, const PetscInt* diagonal, const PetscInt* off_diagonal);
  /// The block columns of a seq matrix whose lengths are set, row by row.
  PetscErrorCode (*set_columns)(Mat seq, PetscInt* column);

  /// Of the square blocks of `arrays`, of any matrix of the base_type.
  PetscInt block_size(Mat A) const { return keeps_blocks ? PetscAbs(A->rmap->bs) : 1; }

  const TypePair& types(bool is_mpi) const { return is_mpi ? mpi : seq; }
};

}  // namespace compound::plugin
