// Products of sparse matrices of full blocks, row by row (Gustavson 1978, "Two fast algorithms for sparse matrices"): a
// group of threads makes a block row of the result, whose pattern is known. Q^T B goes by the rows of Q^T.
#pragma once

#include "group_sort.hpp"
#include "scalar.hpp"

namespace compound {

/// Compressed rows of full blocks, values in the order of rows (ValueOrder::rows).
struct block_rows_args {
  const count32* start = nullptr;
  const idx* column = nullptr;
  const void* values = nullptr;
};

/// C = A B, or C = Q^T B, where `a` is the pattern of Q^T and the values of Q.
struct sparse_product_args {
  block_rows_args a, b;               ///< no block row of B has a column twice: two threads would add to one sum
  const count32* entry_of = nullptr;  ///< [entries of Q^T] those of Q; Q^T B alone
  const count32* start_of = nullptr;  ///< of the rows of Q; Q^T B alone
  idx rows = 0;                       ///< block rows of C
  const count32* c_start = nullptr;
  const idx* c_column = nullptr;  ///< ascending in each row: all that the product has
  void* c = nullptr;              ///< values in the order of rows
};

/// Of n columns that ascend, the place of one that is there.
COMPOUND_FN int place_of_column(const idx* column, int n, idx wanted) {
  const idx* first = column;
  while (n > 1) {
    const int half = n / 2;
    first += first[half] <= wanted ? half : 0;
    n -= half;
  }
  return int(first - column);
}

/// A block of A, or of Q as Q^T has it: scalar (i, k) at values[i * row_step + k * inner_step].
template <class S>
struct left_block {
  const S* values;
  slot_t row_step, inner_step;

  template <class Form>
  static COMPOUND_FN left_block of(const sparse_product_args& a, idx row, slot_t entry) {
    constexpr int rows = Form::rows, inner = Form::inner;
    const S* const values = static_cast<const S*>(a.a.values);
    if constexpr (Form::transposed) {
      const idx q_row = a.a.column[entry];
      const slot_t first = a.start_of[q_row], count = slot_t(a.start_of[q_row + 1]) - first;
      return {values + first * inner * rows + (slot_t(a.entry_of[entry]) - first) * rows, 1, count * rows};
    } else {
      const slot_t first = a.a.start[row], count = slot_t(a.a.start[row + 1]) - first;
      return {values + first * rows * inner + (entry - first) * inner, count * inner, 1};
    }
  }
};

/// Goes through scalars [0, of) of blocks of `area`, every `step`-th from `lane` on: f(block, scalar of it). No
/// divisions but small ones, by numbers known when the kernel is compiled: a block row may have more scalars than 32
/// bits count.
template <int area, int step, class F>
COMPOUND_FN void for_scalars_of_blocks(slot_t blocks, int lane, const F& f) {
  int within = lane % area;
  for (slot_t block = lane / area; block < blocks; block += step / area) {
    f(block, within);
    within += step % area;
    if (within >= area) {
      within -= area;
      ++block;
    }
  }
}

#if defined(__CUDA_ARCH__)

/// Form: scalar; C's blocks are of rows x width, A's of rows x inner; `transposed`: Q^T B; a group is of `lanes`, a
/// warp, or, where a block of threads has one, all of it; a row of at most `tile` scalars is summed up in shared
/// memory.
///
/// Each sum is in the order of the entries of A, and no two lanes add to one at a time: always the same bits.
template <class Form>
__device__ void multiply_block_rows(const sparse_product_args& a) {
  using S = typename Form::scalar;
  constexpr int rows = Form::rows, inner = Form::inner, width = Form::width, area = rows * width;
  constexpr int lanes = Form::lanes, groups = Form::groups;
  static_assert(lanes == 32 || groups == 1, "barriers are of warps, or of a block of threads");
  alignas(16) __shared__ unsigned char memory[groups][(Form::tile > 0 ? Form::tile : 2) * sizeof(S)];
  __shared__ int places[groups][lanes];
  const int group = int(threadIdx.x) / lanes, lane = int(threadIdx.x) % lanes;
  const slot_t at = slot_t(blockIdx.x) * groups + group;
  if (at >= a.rows) return;  // all lanes of the group
  const idx row = idx(at);
  const slot_t first = a.c_start[row];
  const int count = int(slot_t(a.c_start[row + 1]) - first);
  const idx* const column = a.c_column + first;
  S* const c = static_cast<S*>(a.c) + first * area;
  const bool fits = slot_t(count) * area <= Form::tile;
  S* const sums = fits ? reinterpret_cast<S*>(memory[group]) : c;
  const slot_t scalars = slot_t(count) * area, stride = slot_t(count) * width;
  for (slot_t s = lane; s < scalars; s += lanes) sums[s] = S{};
  sync_group<lanes>();
  for (slot_t entry = a.a.start[row]; entry < a.a.start[row + 1]; ++entry) {
    const auto left = left_block<S>::template of<Form>(a, row, entry);
    const idx b_row = a.a.column[entry];
    const slot_t b_first = a.b.start[b_row], b_count = slot_t(a.b.start[b_row + 1]) - b_first;
    const S* const b = static_cast<const S*>(a.b.values) + b_first * inner * width;
    for (slot_t begin = 0; begin < b_count; begin += lanes) {
      const slot_t here = b_count - begin < lanes ? b_count - begin : lanes;
      if (lane < here) places[group][lane] = place_of_column(column, count, a.b.column[b_first + begin + lane]);
      sync_group<lanes>();
      for_scalars_of_blocks<area, lanes>(here, lane, [&](slot_t block, int within) {
        const int i = within / width, j = within - i * width;
        S& sum = sums[i * stride + slot_t(places[group][block]) * width + j];
        S value = sum;
        for (int k = 0; k < inner; ++k)
          value += left.values[i * left.row_step + k * left.inner_step] * b[(k * b_count + begin + block) * width + j];
        sum = value;
      });
      sync_group<lanes>();  // the next blocks go to other lanes
    }
  }
  if (!fits) return;
  for (slot_t s = lane; s < scalars; s += lanes) c[s] = sums[s];
}

#endif

}  // namespace compound
