// Unit quaternions' three words as four components, an entry a lane: the same as src/device/entry/unit_quaternion.hpp,
// with a square root for many entries at a time.
#pragma once

#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// `words`: number k of them is `stride` further on than number k - 1.
template <class T>
SIMD_FN void decode_unit_words(const T* words, long long stride, vec<widest>* component) {
  using V = vec<widest>;
  using Mask = V::Mask;
  V kept[3], left = V::all(1);
  Mask bit[3];
  for (int k = 0; k < 3; ++k) {
    const V w = V::load(words + k * stride);
    const Mask above = V::above(w, V::all(1)), below = V::above(V::all(-1), w);
    V less = w, more = w;
    less += V::all(-2);
    more += V::all(2);
    kept[k] = V::chosen(above, less, V::chosen(below, more, w));
    bit[k] = above | below;
    left.subtract_product(kept[k], kept[k]);
  }
  const V size = V::square_root(left);
  V minus;
  minus.subtract_product(size, V::all(1));
  const V found = V::chosen(bit[2], minus, size);
  // The number of the component that was dropped is in bits 0 and 1.
  component[0] = V::chosen(bit[0] | bit[1], kept[0], found);
  component[1] = V::chosen(bit[1], kept[1], V::chosen(bit[0], found, kept[0]));
  component[2] = V::chosen(bit[1], V::chosen(bit[0], kept[2], found), kept[1]);
  component[3] = V::chosen(bit[0] & bit[1], found, kept[2]);
}

}  // namespace
}  // namespace compound::host
