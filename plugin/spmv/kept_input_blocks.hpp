// What is kept of the blocks that single scalars come in.
#pragma once

#include "base/huge_pages.hpp"
#include "petsc/base_type.hpp"

namespace compound::plugin {

/// Of a matrix of single scalars, found once for each pattern and each change of settings.
struct InputBlocks {
  /// What it was found for; anything different means finding it again.
  struct Key {
    PetscObjectState nonzero_state = -1;
    PetscInt entries = -1;
    const PetscInt *start = nullptr, *column = nullptr;
    int settings_version = -1;
    BlockShape own{0, 0};
    bool operator==(const Key&) const = default;
  } key;

  BlockShape of_whole{0, 0};  ///< of a part: the whole matrix's block sizes, which PETSc does not keep for its columns
  BlockShape wanted{1, 1};    ///< to be packed: asked for, the matrix's own, or found
  bool are_full = false;      ///< the rows are such blocks without a gap: `start` and `column` are theirs
  LargeVector<PetscInt> start, column;

  PetscInt64 bytes() const { return static_cast<PetscInt64>((start.size() + column.size()) * sizeof(PetscInt)); }
};

}  // namespace compound::plugin
