// Preconditioners that multiply by square blocks on the diagonal: those that loops and cycles on a device apply
// themselves.
#pragma once

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "petsccompound.h"

namespace compound::plugin {

struct DiagonalBlocksRow {
  const char* type;
  bool of_blocks;  ///< its blocks are the matrix's, else single scalars
  bool is_there;   ///< else it does nothing
};
inline constexpr DiagonalBlocksRow diagonal_blocks[] = {
    {PCNONE, false, false}, {PCJACOBI, false, true}, {PCPBJACOBI, true, true}, {PCPBJACOBICOMPOUND, true, true}};

/// Null where it is not one of them.
inline const DiagonalBlocksRow* diagonal_blocks_of(PC pc) {
  const char* const type = reinterpret_cast<PetscObject>(pc)->type_name;
  const auto* const found =
      std::ranges::find_if(diagonal_blocks, [&](const auto& row) { return type && std::strcmp(type, row.type) == 0; });
  return found == std::end(diagonal_blocks) ? nullptr : found;
}

/// Columns of a block of one of them; 0: it does nothing.
inline PetscErrorCode columns_of_blocks(PC pc, PetscInt* columns) {
  PetscFunctionBegin;
  const DiagonalBlocksRow& row = *diagonal_blocks_of(pc);
  *columns = row.is_there ? 1 : 0;
  if (row.of_blocks) PetscCall(MatGetBlockSize(pc->pmat, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
