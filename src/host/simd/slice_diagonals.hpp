// Slices by their diagonals: a lane is a row. The columns of a diagonal follow each other as its rows do, so scalars of
// x are loaded as they lie.
#pragma once

#include "streams.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Rows that are taken together: those of a word of presence bits.
inline constexpr int rows_of_tile = 32, vectors_of_tile = rows_of_tile / widest;

/// Most rows and columns of a block.
inline constexpr int largest_block = 32;

/// The words of a tile, one each row, as they are;
template <class T>
struct own_words {
  using stored = T;
  explicit SIMD_FN own_words(const SimdTask&) {}

  SIMD_FN vec<widest> at(const T* first, int row) const { return vec<widest>::load(first + row); }
  SIMD_FN vec<widest> all(const T*) const { return {}; }
  SIMD_FN static bool are_equal(const T*) { return false; }
};

/// or as codes into a table.
template <class T>
struct words_of_table {
  using stored = unsigned char;
  const T* table;
  explicit SIMD_FN words_of_table(const SimdTask& t) : table(static_cast<const T*>(t.table)) {}

  SIMD_FN vec<widest> at(const stored* first, int row) const { return vec<widest>::picked(table, first + row); }
  SIMD_FN vec<widest> all(const stored* first) const { return vec<widest>::all(table[*first]); }
  /// As they are nearly everywhere on uniform meshes.
  SIMD_FN static bool are_equal(const stored* first) {
    unsigned long long eight[rows_of_tile / 8], differing = 0;
    __builtin_memcpy(eight, first, rows_of_tile);
    for (const auto codes : eight) differing |= codes ^ (*first * 0x0101010101010101ull);
    return differing == 0;
  }
};

/// Which rows of a tile, a bit each.
struct rows_in_tile {
  unsigned bits;
  SIMD_FN bool all() const { return bits == ~0u; }
  template <int v>
  SIMD_FN unsigned lanes() const {
    return bits >> v * widest & all_lanes;
  }
};

/// sum += words * x. Padding's words are 0 and meet an x of 0; beyond the last row they may be anything, as its sums.
template <class Words, class X>
SIMD_FN void add_tile(const Words& words, const typename Words::stored* first, const X& x, vec<widest>* sum) {
  constexpr int bytes = rows_of_tile * sizeof(typename Words::stored);
  prefetch<bytes>(first);
  if (Words::are_equal(first))
    unroll<vectors_of_tile>([&, word = words.all(first)]<int v>()
                                SIMD_LAMBDA { sum[v].add_product(word, x.template at<v>()); });
  else
    unroll<vectors_of_tile>([&]<int v>()
                                SIMD_LAMBDA { sum[v].add_product(words.at(first, v * widest), x.template at<v>()); });
}

/// x of a tile's rows where entries are scalars: of all rows,
struct scalars_of_x {
  const double* first;
  template <int v>
  SIMD_FN vec<widest> at() const {
    return vec<widest>::load(first + v * widest);
  }
};

/// or 0, without reading, where a row has no entry.
struct scalars_of_x_present {
  const double* first;
  rows_in_tile present;
  template <int v>
  SIMD_FN vec<widest> at() const {
    return vec<widest>::load_lanes(first + v * widest, present.lanes<v>());
  }
};

/// The same of one column of blocks: `cols` scalars from row to row.
struct column_of_x {
  vec<widest> in[vectors_of_tile];

  SIMD_FN column_of_x(const double* first, slot_t cols, rows_in_tile present) {
    unroll<vectors_of_tile>([&]<int v>() SIMD_LAMBDA {
      const unsigned lanes = present.lanes<v>();
      if (lanes == 0) {
        in[v] = {};
        return;
      }
      const double* of_lane[widest];
      const double* const any = first + (v * widest + __builtin_ctz(lanes)) * cols;
      for (int lane = 0; lane < widest; ++lane) of_lane[lane] = first + (v * widest + lane) * cols;
      if (lanes != all_lanes)
        for (int lane = 0; lane < widest; ++lane) of_lane[lane] = lanes >> lane & 1 ? of_lane[lane] : any;
      in[v] = vec<widest>::picked(of_lane, 0);
      if (lanes != all_lanes) in[v] = in[v].kept(lanes);
    });
  }
  template <int v>
  SIMD_FN vec<widest> at() const {
    return in[v];
  }
};

/// y of a tile's rows, from the sums [block rows][rows].
SIMD_FN void store_tile(const vec<widest> (*sum)[vectors_of_tile], int block_rows, slot_t rows, const double* z,
                        double* y) {
  for (int i = 0; i < block_rows; ++i) {
    double out[rows_of_tile];
    unroll<vectors_of_tile>([&]<int v>() SIMD_LAMBDA { sum[i][v].store(out + v * widest); });
    for (slot_t row = 0; row < rows; ++row) y[row * block_rows + i] = (z ? z[row * block_rows + i] : 0.0) + out[row];
  }
}

/// Dense blocks of any size by column, or `scalars`: their sums stay in registers.
template <class Words, bool scalars>
void multiply_slice_diagonals(const SimdTask& t) {
  const SimdDiagonals layout(t.layout);
  const Words words(t);
  const auto* const values = static_cast<const typename Words::stored*>(t.values);
  const int block_rows = scalars ? 1 : t.rows, block_cols = scalars ? 1 : t.cols;
  const slot_t height = layout.height, positions = layout.positions;
  vec<widest> sum[scalars ? 1 : largest_block][vectors_of_tile];
  for (slot_t position = 0; position < positions; position += rows_of_tile) {
    const slot_t rows = positions - position < rows_of_tile ? positions - position : slot_t{rows_of_tile};
    for (int i = 0; i < block_rows; ++i)
      for (auto& s : sum[i]) s = {};
    slot_t slot = layout.first(position);
    const slot_t slice = position / height;
    for (count32 k = layout.start[slice], end = layout.start[slice + 1]; k < end; ++k, slot += height) {
      const count32* const presence = layout.presence + slot / rows_of_tile;
      prefetch<1>(presence);
      const rows_in_tile present{*presence};
      const double* const x = t.x + (position + layout.offset[k]) * block_cols;
      if constexpr (scalars) {
        if (present.all())
          add_tile(words, values + slot, scalars_of_x{x}, sum[0]);
        else
          add_tile(words, values + slot, scalars_of_x_present{x, present}, sum[0]);
      } else {
        const auto* word = values + t.words.first(slot, block_rows * block_cols);
        for (int j = 0; j < block_cols; ++j) {
          const column_of_x in(x + j, block_cols, present);
          for (int i = 0; i < block_rows; ++i, word += t.words.stride) add_tile(words, word, in, sum[i]);
        }
      }
    }
    store_tile(sum, block_rows, rows, t.z ? t.z + position * block_rows : nullptr, t.y + position * block_rows);
  }
}

}  // namespace
}  // namespace compound::host
