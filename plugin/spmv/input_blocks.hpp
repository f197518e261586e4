// The base type's values in the blocks that they come in: its own, or where it keeps single scalars (AIJ) those that
// its rows are made of.
#pragma once

#include "base/huge_pages.hpp"
#include "petsc/base_type.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

/// MatSetBlockSizes(), where it says something of use; else 1x1.
BlockShape own_block(Mat A);

/// The arrays of a seq matrix of ours, as packing takes them: where single scalars come in full blocks of the size that
/// is to be packed, in these blocks by the order of rows. block_arrays() else.
PetscErrorCode input_blocks(Mat A, SeqState& st, BlockArrays* arrays);
/// For what multiplies: no values are an error.
PetscErrorCode input_values(Mat A, SeqState& st, BlockArrays* arrays);

/// A seq matrix of ours that was made of these full blocks: they need not be looked for.
PetscErrorCode keep_blocks(Mat A, const PatternView& pattern, BlockShape block);

/// Single scalars in the full blocks that were found.
BlockArrays in_blocks(const BlockArrays& scalars, const InputBlocks& full);

/// Whether all scalar rows come in full blocks: then these, with columns in blocks.
bool are_full_blocks(const BlockArrays& scalars, BlockShape block, LargeVector<PetscInt>* start,
                     LargeVector<PetscInt>* column);

}  // namespace compound::plugin
