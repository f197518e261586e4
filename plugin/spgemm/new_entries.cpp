#include "spgemm/new_entries.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "petsc/base_types.hpp"
#include "petsc/huge_pages.hpp"
#include "spmv/input_blocks.hpp"

namespace compound::plugin {

namespace {

bool are_sorted(PetscInt rows, const PetscInt* start, const PetscInt* column) {
  for (PetscInt row = 0; row < rows; ++row)
    if (!std::is_sorted(column + start[row], column + start[row + 1])) return false;
  return true;
}

/// Of columns that ascend in each row.
PetscErrorCode set_ascending(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values) {
  PetscFunctionBegin;
  const PetscInt rows = C->rmap->n;
  PetscScalar* to;
  std::vector<PetscInt> counts;
  PetscCall(guarded(comm_of(C), [&] {
    counts.resize(static_cast<std::size_t>(rows));
    for (PetscInt row = 0; row < rows; ++row) counts[static_cast<std::size_t>(row)] = start[row + 1] - start[row];
  }));
  PetscCall(MatSeqAIJSetPreallocation(C, 0, counts.data()));
  PetscCall(MatSeqAIJSetColumnIndices(C, const_cast<PetscInt*>(column)));
  PetscCall(MatSeqAIJGetArrayWrite(C, &to));
  const PetscInt entries = rows > 0 ? start[rows] : 0;
  std::copy_n(values, entries, to);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &to));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Fewer scalars are not worth a thread.
constexpr std::size_t scalars_of_thread = std::size_t{1} << 20;

/// The columns of scalar rows, as AIJ has them.
void write_columns(const Pattern& p, BlockShape block, PetscInt* column) {
  const std::size_t rows = static_cast<std::size_t>(p.rows), area = scalars_in(block);
  for_ranges(rows, threads_for(p.column.size() * area, scalars_of_thread),
             [&](std::size_t begin, std::size_t end, auto) {
               for (std::size_t row = begin; row < end; ++row) {
                 PetscInt* const first = column + p.start[row] * area;
                 PetscInt* to = first;
                 for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
                   for (int j = 0; j < block.cols; ++j) *to++ = PetscInt{p.column[e]} * block.cols + j;
                 const auto length = to - first;
                 for (int i = 1; i < block.rows; ++i) to = std::copy_n(first, length, to);
               }
             });
}

std::vector<PetscInt> row_lengths(const Pattern& p, BlockShape block) {
  std::vector<PetscInt> lengths(std::size_t{1} * p.rows * block.rows);
  auto to = lengths.begin();
  for (idx row = 0; row < p.rows; ++row)
    to = std::fill_n(to, block.rows, static_cast<PetscInt>(p.start[row + 1] - p.start[row]) * block.cols);
  return lengths;
}

}  // namespace

PetscErrorCode set_entries(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values,
                           bool* in_order) {
  PetscFunctionBegin;
  *in_order = are_sorted(C->rmap->n, start, column);
  PetscCall(*in_order ? set_ascending(C, start, column, values)
                      : MatSeqAIJSetPreallocationCSR(C, start, column, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_of_pattern(Mat C, MatType type, const Pattern& pattern, BlockShape block) {
  PetscFunctionBegin;
  const HugePages of_new_arrays;
  std::vector<PetscInt> lengths;
  const PetscInt *start, *column;
  PetscInt n;
  PetscBool done;
  const PetscInt64 rows = PetscInt64{pattern.rows} * block.rows, cols = PetscInt64{pattern.cols} * block.cols,
                   entries = static_cast<PetscInt64>(pattern.column.size() * scalars_in(block));
  PetscCheck(std::max({rows, cols, entries}) <= std::numeric_limits<PetscInt>::max(), comm_of(C), PETSC_ERR_SUP,
             "The product of two sparse matrices has %lld scalars, beyond this PETSc's integers; use more processes or "
             "a PETSc with 64-bit indices",
             static_cast<long long>(entries));
  PetscCall(MatSetSizes(C, static_cast<PetscInt>(rows), static_cast<PetscInt>(cols), static_cast<PetscInt>(rows),
                        static_cast<PetscInt>(cols)));
  PetscCall(MatSetBlockSizes(C, block.rows, block.cols));
  PetscCall(MatSetType(C, type));
  PetscCall(guarded(comm_of(C), [&] { lengths = row_lengths(pattern, block); }));
  PetscCall(MatSeqAIJSetPreallocation(C, 0, lengths.data()));
  PetscCall(MatGetRowIJ(C, 0, PETSC_FALSE, PETSC_FALSE, &n, &start, &column, &done));
  PetscCheck(done, comm_of(C), PETSC_ERR_PLIB, "The product of two sparse matrices has no rows");
  PetscCall(guarded(comm_of(C), [&] { write_columns(pattern, block, const_cast<PetscInt*>(column)); }));
  PetscInt* const written = const_cast<PetscInt*>(column);  // where they belong: PETSc copies them onto themselves
  PetscCall(MatRestoreRowIJ(C, 0, PETSC_FALSE, PETSC_FALSE, &n, &start, &column, &done));
  PetscCall(MatSeqAIJSetColumnIndices(C, written));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscCall(keep_blocks(C, pattern.view(), block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
