// Slices by their diagonals, of kinds that are a list of products: a lane is a row, as in slices by length.
#pragma once

#include "slice_rows.hpp"
#include "streams.hpp"

namespace compound::host {
namespace {

template <class P, class T, bool unit_words, int parts_of_word>
void multiply_diagonal_products(const SimdTask& t) {
  using V = vec<widest>;
  constexpr int words = (unit_words ? 3 : P::words) / parts_of_word;
  const SimdDiagonals layout(t.layout);
  const T* const values = static_cast<const T*>(t.values);
  const slot_t height = layout.height, positions = layout.positions;
  for (slot_t position = 0; position < positions; position += widest) {
    V sum[P::rows];
    slot_t slot = layout.first(position);
    const slot_t slice = position / height;
    for (count32 k = layout.start[slice], end = layout.start[slice + 1]; k < end; ++k, slot += height) {
      const unsigned lanes = layout.presence[slot / 32] >> slot % 32 & all_lanes;
      if (lanes == 0) continue;
      const double* const first = t.x + (position + layout.offset[k]) * P::cols;
      const double* of_lane[widest];
      for (int lane = 0; lane < widest; ++lane) of_lane[lane] = first + lane * P::cols;
      if (lanes != all_lanes)
        for (int lane = 0; lane < widest; ++lane)
          if (!(lanes >> lane & 1)) of_lane[lane] = first + __builtin_ctz(lanes) * P::cols;
      V x[P::cols];
      pick_x<P::cols>(of_lane, lanes, x);
      const T* const w = values + parts_of_word * t.words.first(slot, words);
      prefetch<int(sizeof(T)) * widest>(w);
      add_entries<P, unit_words, parts_of_word>(w, t.words.stride, x, sum);
    }
    double out[P::rows][widest];
    for (int i = 0; i < P::rows; ++i) sum[i].store(out[i]);
    for (int lane = 0; lane < widest && position + lane < positions; ++lane) {
      const slot_t row = (position + lane) * P::rows;
      for (int i = 0; i < P::rows; ++i) t.y[row + i] = (t.z ? t.z[row + i] : 0.0) + out[i][lane];
    }
  }
}

}  // namespace
}  // namespace compound::host
