// Slices: `widest` neighbouring rows at a time, one a lane.
#pragma once

#include "products.hpp"
#include "task.hpp"
#include "unit_words.hpp"

namespace compound::host {
namespace {

/// Rows of one group of lanes: their lengths, 0 beyond the last position.
struct lane_rows {
  idx length[widest];
  idx shortest, longest;

  SIMD_FN lane_rows(const SimdSlices& layout, idx position) {
    const idx left = layout.positions - position;
    shortest = longest = layout.length[position];
    for (int lane = 0; lane < widest; ++lane) {
      length[lane] = lane < left ? layout.length[position + lane] : 0;
      shortest = length[lane] < shortest ? length[lane] : shortest;
      longest = length[lane] > longest ? length[lane] : longest;
    }
  }
  SIMD_FN unsigned longer_than(idx k) const {
    unsigned lanes = 0;
    for (int lane = 0; lane < widest; ++lane) lanes |= unsigned(length[lane] > k) << lane;
    return lanes;
  }
};

/// Word k of the entries of all lanes: of complex numbers a real or an imaginary part.
template <int parts_of_word, class V, class T>
SIMD_FN V word_of_lanes(const T* w, int k, slot_t stride) {
  if constexpr (parts_of_word == 1) {
    return V::load(w + k * stride);
  } else {
    constexpr unsigned char even[] = {0, 2, 4, 6, 8, 10, 12, 14};
    return V::picked(w + 2 * (k / 2) * stride + k % 2, even);
  }
}

/// One entry of each lane's row, the words of the first one from `w` on. Padding words are 0 and meet an x of 0.
template <class P, bool unit_words, int parts_of_word = 1, class T, class V>
SIMD_FN void add_entries(const T* w, slot_t stride, const V* x, V* sum) {
  V component[4], word;
  if constexpr (unit_words) decode_unit_words(w, stride, component);
  unroll<P::count>([&]<int p>() SIMD_LAMBDA {  // in the order of words: each is loaded once
    if constexpr (p == 0 || P::word_of(p) != P::word_of(p > 0 ? p - 1 : 0)) {
      if constexpr (unit_words)
        word = component[P::word_of(p)];
      else
        word = word_of_lanes<parts_of_word, V>(w, P::word_of(p), stride);
    }
    unroll<P::rows>([&]<int i>() SIMD_LAMBDA {
      if constexpr (P::sign(i, p) > 0) sum[i].add_product(word, x[P::in_of(p)]);
      if constexpr (P::sign(i, p) < 0) sum[i].subtract_product(word, x[P::in_of(p)]);
    });
  });
}

/// x of lanes' columns, each at of_lane[lane]: they are read in any case, and not a number must not come through.
template <int cols, class V>
SIMD_FN void pick_x(const double* const* of_lane, unsigned lanes, V* x) {
  unroll<cols>([&]<int j>() SIMD_LAMBDA {
    x[j] = V::picked(of_lane, j);
    if (lanes != all_lanes) x[j] = x[j].kept(lanes);
  });
}

/// V = vec<widest>, which need not have gathers.
template <class P, class T, bool unit_words, bool gathers, class V>
SIMD_FN void add_slot(const SimdTask& t, const SimdSlices& layout, slot_t slot, unsigned lanes, V* sum) {
  const idx* const column = layout.columns.column + slot;
  V x[P::cols];
  if constexpr (gathers) {  // lanes without an entry read nothing
    const auto at = V::offsets(column, P::cols);
    unroll<P::cols>([&]<int j>() SIMD_LAMBDA { x[j] = V::gather(t.x + j, at, lanes); });
  } else {  // they read x of column 0
    const double* of_lane[widest];
    for (int lane = 0; lane < widest; ++lane) of_lane[lane] = t.x + slot_t(column[lane]) * P::cols;
    pick_x<P::cols>(of_lane, lanes, x);
  }
  add_entries<P, unit_words>(static_cast<const T*>(t.values) + t.words.first(slot, unit_words ? 3 : P::words),
                             t.words.stride, x, sum);
}

/// `unit_words`: a quaternion's components are kept as those of one of length 1.
template <class P, class T, bool unit_words, bool gathers>
SIMD_FN void multiply_slice_rows_in(const SimdTask& t) {
  const SimdSlices layout(t.layout);
  for (idx position = 0; position < layout.positions; position += widest) {
    const lane_rows rows(layout, position);
    vec<widest> sum[P::rows];
    slot_t slot = layout.first(position);
    idx k = 0;
    for (; k < rows.shortest; ++k, slot += layout.height)
      add_slot<P, T, unit_words, gathers>(t, layout, slot, all_lanes, sum);
    for (; k < rows.longest; ++k, slot += layout.height)
      add_slot<P, T, unit_words, gathers>(t, layout, slot, rows.longer_than(k), sum);
    double out[P::rows][widest];
    for (int i = 0; i < P::rows; ++i) sum[i].store(out[i]);
    for (int lane = 0; lane < widest && position + lane < layout.positions; ++lane) {
      const slot_t row = slot_t(layout.row(position + lane)) * P::rows;
      for (int i = 0; i < P::rows; ++i) t.y[row + i] = (t.z ? t.z[row + i] : 0.0) + out[i][lane];
    }
  }
}

template <class P, class T, bool unit_words = false>
void multiply_slice_rows(const SimdTask& t) {
  if constexpr (may_gather)
    if (t.gathers) return multiply_slice_rows_in<P, T, unit_words, true>(t);
  multiply_slice_rows_in<P, T, unit_words, false>(t);
}

}  // namespace
}  // namespace compound::host
