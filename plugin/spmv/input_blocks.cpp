#include "spmv/input_blocks.hpp"

#include <algorithm>

#include "spmv/packing.hpp"

namespace compound::plugin {

namespace {

/// Blocks whose size was not asked for must take so much less.
constexpr double worth_of_found_blocks = 0.9;

constexpr BlockShape one{1, 1};

/// Whether `n` columns are whole blocks of `width`, each of consecutive ones from a multiple of it on.
bool are_whole(const PetscInt* column, PetscInt n, PetscInt width) {
  for (PetscInt k = 0; k < n; k += width) {
    if (column[k] % width != 0) return false;
    for (PetscInt j = 1; j < width; ++j)
      if (column[k + j] != column[k] + j) return false;
  }
  return true;
}

BlockShape found_block_of(const Settings& s, bool off_diagonal, const BlockArrays& scalars) {
  Pattern copied;
  const DetectedBlock found = found_block(s, off_diagonal, pattern_of(scalars, copied), 1);
  const bool asked_for = s.block_size.way == BlockSize::to_find;
  return asked_for || found.bytes < worth_of_found_blocks * found.bytes_as_given ? found.block : one;
}

BlockShape wanted_block(const Settings& s, bool off_diagonal, BlockShape own, const BlockArrays& scalars) {
  if (s.block_size.way == BlockSize::given) return s.block_size.shape;
  if (s.block_size.way == BlockSize::of_matrix && own != one) return own;
  return found_block_of(s, off_diagonal, scalars);
}

}  // namespace

BlockShape own_block(Mat A) {
  constexpr PetscInt most = 32;  // of our own kernels
  const PetscInt rows = PetscAbs(A->rmap->bs), cols = PetscAbs(A->cmap->bs);
  return rows > most || cols > most ? one : BlockShape{static_cast<int>(rows), static_cast<int>(cols)};
}

bool are_full_blocks(const BlockArrays& scalars, BlockShape block, std::vector<PetscInt>* start,
                     std::vector<PetscInt>* column) {
  start->assign(1, 0);
  column->clear();
  start->reserve(static_cast<std::size_t>(scalars.rows / block.rows) + 1);
  if (scalars.rows % block.rows != 0 || scalars.cols % block.cols != 0) return false;
  column->reserve(static_cast<std::size_t>(scalars.entries() / scalars_in(block)));
  for (PetscInt row = 0; row < scalars.rows; row += block.rows) {
    const PetscInt first = scalars.start[row], n = scalars.start[row + 1] - first;
    if (n % block.cols != 0 || !are_whole(scalars.column + first, n, block.cols)) return false;
    for (PetscInt i = 1; i < block.rows; ++i) {
      const PetscInt next = scalars.start[row + i];
      if (scalars.start[row + i + 1] - next != n ||
          !std::equal(scalars.column + first, scalars.column + first + n, scalars.column + next))
        return false;
    }
    for (PetscInt k = 0; k < n; k += block.cols) column->push_back(scalars.column[first + k] / block.cols);
    start->push_back(static_cast<PetscInt>(column->size()));
  }
  return true;
}

void find_blocks(const Settings& s, bool off_diagonal, BlockShape own, const BlockArrays& scalars, InputBlocks* g) {
  g->wanted = wanted_block(s, off_diagonal, own, scalars);
  g->are_full = g->wanted != one && are_full_blocks(scalars, g->wanted, &g->start, &g->column);
  if (g->are_full) return;
  for (auto* none : {&g->start, &g->column}) *none = std::vector<PetscInt>();
}

BlockArrays in_blocks(const BlockArrays& scalars, const InputBlocks& full) {
  BlockArrays b = scalars;
  b.rows /= full.wanted.rows;
  b.cols /= full.wanted.cols;
  b.block = full.wanted;
  b.order = ValueOrder::rows;
  b.start = full.start.data();
  b.column = full.column.data();
  return b;
}

PetscErrorCode input_blocks(Mat A, SeqState& st, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(block_arrays(A, b));
  if (st.base_type.keeps_blocks) PetscFunctionReturn(PETSC_SUCCESS);
  InputBlocks& g = st.input;
  const InputBlocks::Key key{A->nonzerostate, b->entries(),        b->start,
                             b->column,       st.settings.version, g.of_whole.rows > 0 ? g.of_whole : own_block(A)};
  if (g.key != key) {
    g.key = key;
    PetscCall(guarded(comm_of(A), [&] { find_blocks(st.settings, st.off_diagonal, key.own, *b, &g); }));
  }
  if (g.are_full) *b = in_blocks(*b, g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode input_values(Mat A, SeqState& st, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(arrays_with_values(A, b));
  PetscCall(input_blocks(A, st, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
