#include "spmv/input_blocks.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "spmv/packing.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

namespace {

/// Blocks whose size was not asked for must take so much less.
constexpr double worth_of_found_blocks = 0.9;

/// Fewer are not worth a thread.
constexpr std::size_t columns_of_thread = std::size_t{1} << 20;

constexpr BlockShape one{1, 1};

/// Columns of blocks of one width. Divides by multiplying: for millions of columns divisions of integers would take
/// longer than reading them.
struct BlockColumns {
  BlockColumns(int of, PetscInt all) : width(of), blocks(all / of), inverse((1 + 1e-15) / of) {}
  const PetscInt width, blocks;
  const double inverse;  ///< a little more: multiples of the width are not rounded to the block before

  PetscInt block_of(PetscInt column) const { return static_cast<PetscInt>(static_cast<double>(column) * inverse); }
  /// Whether `n` columns are whole blocks of the matrix, each of consecutive ones from a multiple of the width on;
  /// `to`: the blocks.
  bool take(const PetscInt* column, PetscInt n, PetscInt* to) const {
    for (PetscInt k = 0; k < n; k += width) {
      const PetscInt block = block_of(column[k]);
      if (block < 0 || block >= blocks || block * width != column[k]) return false;
      for (PetscInt j = 1; j < width; ++j)
        if (column[k + j] != column[k] + j) return false;
      *to++ = block;
    }
    return true;
  }
};

BlockShape wanted_block(const Settings& s, bool off_diagonal, BlockShape own, const BlockArrays& scalars, Backend& on) {
  if (s.block_size.way == BlockSize::given) return s.block_size.shape;
  if (s.block_size.way == BlockSize::of_matrix && own != one) return own;
  Pattern copied;
  const PatternView pattern = pattern_of(scalars, copied);
  if (s.block_size.way == BlockSize::to_find) return block_to_find(s, off_diagonal, pattern, 1, on);
  const DetectedBlock found = found_block(s, off_diagonal, pattern, 1);
  return found.bytes < worth_of_found_blocks * found.bytes_as_given ? found.block : one;
}

}  // namespace

BlockShape own_block(Mat A) {
  constexpr PetscInt most = 32;  // of our own kernels
  const PetscInt rows = PetscAbs(A->rmap->bs), cols = PetscAbs(A->cmap->bs);
  return rows > most || cols > most ? one : BlockShape{static_cast<int>(rows), static_cast<int>(cols)};
}

bool are_full_blocks(const BlockArrays& scalars, BlockShape block, LargeVector<PetscInt>* start,
                     LargeVector<PetscInt>* column) {
  const auto area = static_cast<PetscInt>(scalars_in(block));
  start->assign(1, 0);
  column->clear();
  if (scalars.rows % block.rows != 0 || scalars.cols % block.cols != 0 || scalars.entries() % area != 0) return false;
  const auto rows = static_cast<std::size_t>(scalars.rows / block.rows);
  start->resize(rows + 1);
  column->resize(static_cast<std::size_t>(scalars.entries() / area));
  std::atomic<bool> are_full = true;
  const BlockColumns columns(block.cols, scalars.cols);
  const auto take_row = [&](std::size_t block_row) {
    const PetscInt row = static_cast<PetscInt>(block_row) * block.rows;
    const PetscInt first = scalars.start[row], n = scalars.start[row + 1] - first;
    if (n < 0 || first % area != 0 || n % block.cols != 0) return false;
    for (PetscInt i = 1; i < block.rows; ++i) {
      const PetscInt next = scalars.start[row + i];
      if (scalars.start[row + i + 1] - next != n ||
          !std::equal(scalars.column + first, scalars.column + first + n, scalars.column + next))
        return false;
    }
    (*start)[block_row + 1] = (first + n * block.rows) / area;
    return columns.take(scalars.column + first, n, column->data() + first / area);
  };
  const std::size_t threads = threads_for(static_cast<std::size_t>(scalars.entries()), columns_of_thread);
  for_ranges(rows, threads, [&](std::size_t begin, std::size_t end, auto) {
    for (std::size_t row = begin; row < end && are_full; ++row)
      if (!take_row(row)) are_full = false;
  });
  return are_full;
}

BlockArrays in_blocks(const BlockArrays& scalars, const InputBlocks& full) {
  BlockArrays b = scalars;
  b.rows /= full.wanted.rows;
  b.cols /= full.wanted.cols;
  b.block = full.wanted;
  b.order = ValueOrder::rows;
  b.start = full.start.data();
  b.column = full.column.data();
  b.are_checked = true;
  return b;
}

namespace {

/// Of single scalars of a matrix whose own block sizes are `own`. Throws.
void find_blocks(const Settings& s, bool off_diagonal, BlockShape own, const BlockArrays& scalars, Backend& on,
                 InputBlocks* g) {
  g->wanted = wanted_block(s, off_diagonal, own, scalars, on);
  g->are_full = g->wanted != one && are_full_blocks(scalars, g->wanted, &g->start, &g->column);
  if (g->are_full) return;
  for (auto* none : {&g->start, &g->column}) *none = {};
}

InputBlocks::Key key_of(Mat A, const SeqState& st, const BlockArrays& b) {
  const BlockShape of_whole = st.input.of_whole;
  return {A->nonzerostate, b.entries(),         b.start,
          b.column,        st.settings.version, of_whole.rows > 0 ? of_whole : own_block(A)};
}

}  // namespace

PetscErrorCode keep_blocks(Mat A, const PatternView& pattern, BlockShape block) {
  PetscFunctionBegin;
  SeqState* st;
  BlockArrays b;
  if (!is_seq_compound(A) || block == one || own_block(A) != block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  if (st->settings.block_size.way != BlockSize::of_matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(block_arrays(A, &b));
  PetscCall(guarded(comm_of(A), [&] {
    st->input = {.key = key_of(A, *st, b),
                 .wanted = block,
                 .are_full = true,
                 .start = {pattern.start.begin(), pattern.start.end()},
                 .column = {pattern.column.begin(), pattern.column.end()}};
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode input_blocks(Mat A, SeqState& st, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(block_arrays(A, b));
  if (st.base_type.keeps_blocks) PetscFunctionReturn(PETSC_SUCCESS);
  InputBlocks& g = st.input;
  const InputBlocks::Key key = key_of(A, st, *b);
  if (g.key != key) {
    g.key = key;
    bool there = false;
    if (st.settings.block_size.by != BlockEffort::bytes) PetscCall(expects_device_vectors(A, st.settings, &there));
    const auto space = there ? MemorySpace::device : MemorySpace::host;
    PetscCall(guarded(comm_of(A), [&] {
      find_blocks(st.settings, st.off_diagonal, key.own, *b, backend(row_of(space).backend), &g);
    }));
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
