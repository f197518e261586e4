// The parent's values in the blocks that they come in: its own, or where it keeps single scalars (AIJ) those that its
// rows are made of.
#pragma once

#include <vector>

#include "edge/family.hpp"

namespace compound::plugin {

/// Of a matrix of single scalars, found once for each pattern and each change of settings.
struct GivenBlocks {
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
  std::vector<PetscInt> start, column;
};

struct SeqState;

/// MatSetBlockSizes(), where it says something of use; else 1x1.
BlockShape own_block(Mat A);

/// The arrays of a seq matrix of ours, as packing takes them: where single scalars come in full blocks of the size that
/// is to be packed, in these blocks by the order of rows. block_arrays() else.
PetscErrorCode given_blocks(Mat A, SeqState& st, BlockArrays* arrays);
/// For what multiplies: no values are an error.
PetscErrorCode given_values(Mat A, SeqState& st, BlockArrays* arrays);

/// Whether all scalar rows come in full blocks: then these, with columns in blocks.
bool are_full_blocks(const BlockArrays& scalars, BlockShape block, std::vector<PetscInt>* start,
                     std::vector<PetscInt>* column);

}  // namespace compound::plugin
