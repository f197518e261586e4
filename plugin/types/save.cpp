#include "types/save.hpp"

#include <cstdio>
#include <set>

#include "copies/given_blocks.hpp"
#include "edge/petsc_guard.hpp"
#include "types/figures.hpp"
#include "types/mpi_state.hpp"
#include "types/type.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode save_all(Mat A, const std::string& file) {
  PetscFunctionBegin;
  PetscViewer viewer;
  PetscCall(PetscViewerBinaryOpen(comm_of(A), file.c_str(), FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// That is packed, where one is on any process, else the matrix's own. Collective.
PetscErrorCode saved_block(Mat A, BlockShape* block) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(diagonal_state(A, &st));
  const PackedCopy* const copy = st ? copy_in_use(*st) : nullptr;
  int largest[] = {copy ? copy->problem.block.rows : 0, copy ? copy->problem.block.cols : 0};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_INT, MPI_MAX, comm_of(A)));
  *block = largest[0] > 0 ? BlockShape{largest[0], largest[1]} : own_block(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// This process's part of the lines: row and column of each block that has an entry, counted from 1. Blocks that lie in
/// rows of two processes are told by both.
PetscErrorCode block_places(Mat A, BlockShape block, std::string* lines, PetscInt64* count) {
  PetscFunctionBegin;
  PetscInt begin, end;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt first = begin; first < end;) {
    const PetscInt block_row = first / block.rows;
    std::set<PetscInt> columns;
    for (; first < end && first / block.rows == block_row; ++first) {
      PetscInt entries;
      const PetscInt* column;
      PetscCall(MatGetRow(A, first, &entries, &column, nullptr));
      for (PetscInt i = 0; i < entries; ++i) columns.insert(column[i] / block.cols);
      PetscCall(MatRestoreRow(A, first, &entries, &column, nullptr));
    }
    *count += static_cast<PetscInt64>(columns.size());
    for (const PetscInt c : columns) *lines += std::to_string(block_row + 1) + " " + std::to_string(c + 1) + "\n";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrix Market's, and how compound-tune takes the file.
std::string head_of(BlockShape block, PetscInt rows, PetscInt cols, PetscInt64 entries) {
  const auto blocks = [](PetscInt n, int size) { return std::to_string((n + size - 1) / size); };
  const std::string size = text_of(block);
  return "%%MatrixMarket matrix coordinate pattern general\n% places of blocks of " + size +
         ": compound-tune -pattern FILE -block_size " + size + "\n" + blocks(rows, block.rows) + " " +
         blocks(cols, block.cols) + " " + std::to_string(entries) + "\n";
}

PetscErrorCode save_pattern(Mat A, const std::string& file) {
  PetscFunctionBegin;
  BlockShape block;
  std::string lines;
  PetscInt64 count = 0;
  PetscInt rows, cols;
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(comm_of(A), &rank));
  PetscCall(saved_block(A, &block));
  PetscCall(block_places(A, block, &lines, &count));
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPIU_INT64, MPI_SUM, comm_of(A)));
  if (rank == 0) lines = head_of(block, rows, cols, count) + lines;
  int failed = 0;
  PetscCall(PetscSequentialPhaseBegin(comm_of(A), 1));
  std::FILE* const out = std::fopen(file.c_str(), rank == 0 ? "w" : "a");
  failed = !out || std::fwrite(lines.data(), 1, lines.size(), out) != lines.size();
  if (out && std::fclose(out) != 0) failed = 1;
  PetscCall(PetscSequentialPhaseEnd(comm_of(A), 1));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_of(A)));
  PetscCheck(!failed, comm_of(A), PETSC_ERR_FILE_WRITE,
             "-mat_compound_save: %s cannot be written; give a file in a folder that all processes may write to",
             file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode save_once(Mat A, Settings& settings) {
  PetscFunctionBegin;
  if (settings.save.empty() || settings.saved) PetscFunctionReturn(PETSC_SUCCESS);
  settings.saved = true;
  PetscCall(settings.save.ends_with(".mtx") ? save_pattern(A, settings.save) : save_all(A, settings.save));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
