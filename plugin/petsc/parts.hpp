// Where a matrix has blocks: its parts with their places in it, compared between matrices, and with
// what they were before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "petsc/base_types.hpp"

namespace compound::plugin {

/// One seq matrix: a whole matrix, or a part of an mpi one.
struct PartArrays {
  Mat mat = nullptr;
  BlockArrays blocks;
  PetscInt first_row = 0;                            ///< scalar row of its row 0
  PetscInt first_column = 0;                         ///< block column of its column 0, where `columns` is empty
  std::optional<std::span<const PetscInt>> columns;  ///< off-diagonal part: block column of each of its columns

  std::size_t scalars() const;
  /// Hash of where the blocks are.
  std::uint64_t pattern() const;
  /// Equal ones of one matrix: its pattern has not changed in between, which need not be looked at again.
  struct Key {
    PetscObjectState nonzero_state;
    PetscInt entries;
    const PetscInt *start, *column;
    bool operator==(const Key&) const = default;
  };
  Key key() const { return {mat->nonzerostate, blocks.entries(), blocks.start, blocks.column}; }
};

/// A matrix of a base type or of ours: itself, or both its parts.
PetscErrorCode parts_of(Mat A, std::vector<PartArrays>* parts);

/// Whether two such matrices of one size have their blocks in the same places on all processes. Collective.
PetscErrorCode have_same_pattern(Mat A, Mat B, bool* same);

/// Whether the off-diagonal part of B, an MPIAIJ, has the columns of A's blocks on each process: MPIBAIJ keeps columns
/// that have lost their entries, and its conversion leaves them out. Collective.
PetscErrorCode have_same_columns(Mat A, Mat B, bool* same);

/// Hash of where this process's blocks are.
PetscErrorCode hash_of_pattern(Mat A, std::uint64_t* hash);

}  // namespace compound::plugin
