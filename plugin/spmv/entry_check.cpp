#include "spmv/entry_check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "petsc/agree.hpp"
#include "petsc/parts.hpp"

namespace compound::plugin {

namespace {

/// Where in the matrix, what was found, what to do.
std::string message(const Misfit& m, const PartArrays& part) {
  const PetscInt bs = part.blocks.block.rows, of_part = m.column / bs;
  const PetscInt row = part.first_row + m.row;
  const PetscInt column =
      part.columns ? (*part.columns)[static_cast<std::size_t>(of_part)] : part.first_column + of_part;
  const std::string where =
      m.block == BlockShape{static_cast<int>(bs), static_cast<int>(bs)}
          ? "block at block row " + std::to_string(row / bs) + " and block column " + std::to_string(column)
          : "packed " + std::to_string(m.block.rows) + " x " + std::to_string(m.block.cols) +
                " block that begins at row " + std::to_string(row) + " and column " +
                std::to_string(column * bs + m.column % bs);
  return "The " + where + " does not fit the block format that was asked for, " + m.entry + ": it " + m.found +
         "; leave the block format to -mat_compound_entry auto, or ask for dense";
}

}  // namespace

PetscErrorCode check_copies(Mat A, std::initializer_list<PartInSpace> placed) {
  PetscFunctionBegin;
  std::string found;
  std::vector<PartArrays> parts;
  PetscCall(together(comm_of(A), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(parts_of(A, &parts));
    for (const PartInSpace& p : placed) {
      SeqState* st;
      PetscCall(seq_state(p.mat, &st));
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const PartArrays& a) { return a.mat == p.mat; });
      const PackedCopy& copy = st->copy(p.space);
      if (!found.empty()) continue;
      if (copy.misfit()) found = message(*copy.misfit(), *part);
      if (!copy.refused().empty()) found = copy.refused();
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(agree_on(A, PETSC_ERR_ARG_WRONG, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
