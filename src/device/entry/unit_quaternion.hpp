// Quaternion of length one, kept in three real words: approximate, so by name only.
//
// The component of the largest size is dropped and found again as sqrt(1 - the squares of the others): at least 1/2, it
// loses no digits. Which one it was and its sign are three bits, one in each word: a word is at most sqrt(1/2) in size,
// and one that carries a 1 is kept 2 further from 0. This costs one rounding, in any precision, and no byte beside the
// words. (A rotation, q and -q alike, would do without the sign; a matrix entry would not.)
#pragma once

#include "quaternion.hpp"

namespace compound {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
COMPOUND_FN float square_root(float a) { return sqrtf(a); }
COMPOUND_FN double square_root(double a) { return sqrt(a); }
#else
COMPOUND_FN float square_root(float a) { return __builtin_sqrtf(a); }
COMPOUND_FN double square_root(double a) { return __builtin_sqrt(a); }
#endif

template <class S>
struct unit_quaternion : fixed_shape<unit_quaternion<S>> {
  using scalar = S;
  using word = real_of<S>;
  using whole = quaternion<S>;
  static constexpr const char *name = "unit_quaternion", *template_name = "unit_quaternion";
  static constexpr const char* used_in = "connection Laplacians, rotation averaging";
  static constexpr HostForm host_form = HostForm::unit_words;
  static constexpr int block_rows = whole::block_rows, block_cols = block_rows, word_count = 3;
  /// A block fits if no part of a scalar is further off than this.
  static constexpr word tolerance = 8 * (sizeof(word) == 4 ? word(1.1920929e-7) : word(2.220446049250313e-16));

  /// Three words of up to 1/2 in size fit any length of one; larger numbers carry a bit.
  COMPOUND_FN static constexpr word word_of(word number) {
    return size_of(number) < word(0.5) ? number : number + (number < 0 ? word(-1.5) : word(1.5));
  }

  /// All four components.
  struct components {
    word of[4];
    COMPOUND_FN word operator()(int k, int) const { return of[k]; }
  };

  template <class Words>
  COMPOUND_FN static components decoded(const Words& w) {
    int code = 0;
    word kept[3], left = 1;
    for (int k = 0; k < 3; ++k) {
      word a = w(k, 0);
      const bool bit = size_of(a) > 1;
      if (bit) a -= a < 0 ? word(-2) : word(2);
      code |= int(bit) << k;
      kept[k] = a;
      left -= a * a;
    }
    const int largest = code & 3;
    const word found = square_root(left > 0 ? left : word(0));
    // Chosen by comparisons, not by index: registers have none.
    components q;
    for (int k = 0; k < 4; ++k) {
      const word before = kept[k < 3 ? k : 2], after = kept[k > 0 ? k - 1 : 0];
      q.of[k] = k == largest ? ((code & 4) ? -found : found) : k < largest ? before : after;
    }
    return q;
  }

  template <Op op, class Words>
  COMPOUND_FN static void madd(const Words& w, const S* x, S* out) {
    whole::template madd<op>(decoded(w), x, out);
  }

  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return whole::block(decoded(w), i, j);
  }

  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    components q;
    whole::from_block(b, [&](int k, int, word v) { q.of[k] = v; });
    int largest = 0;
    for (int k = 1; k < 4; ++k)
      if (size_of(q.of[k]) > size_of(q.of[largest])) largest = k;
    const int code = largest | (q.of[largest] < 0 ? 4 : 0);
    for (int k = 0; k < 3; ++k) {
      const word a = q.of[k < largest ? k : k + 1];
      put(k, 0, (code >> k) & 1 ? (a < 0 ? a - 2 : a + 2) : a);
    }
  }

 private:
  COMPOUND_FN static constexpr word size_of(word a) { return a < 0 ? -a : a; }
};

}  // namespace compound
