// Vectors of four doubles in AVX2 with FMA, for both instruction sets. Loads from floats convert.
#pragma once

#include <immintrin.h>

#include "vector_scalar.hpp"

namespace compound::host {
namespace {

/// All ones in the first n of the four lanes.
SIMD_FN __m256i first_lanes(int n) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)); }

SIMD_FN __m128i first_lanes_of_ints(int n) { return _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3)); }

template <>
struct vec<4> {
  __m256d v = _mm256_setzero_pd();

  static SIMD_FN vec load(const double* p) { return {_mm256_loadu_pd(p)}; }
  static SIMD_FN vec load(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
  /// The first n lanes, reading no others. Not by AVX-512's masked loads: GCC 12 drops their mask where a permutation
  /// uses set lanes only, and then reads beyond.
  static SIMD_FN vec load_first(const double* p, int n) {
    if (n == 2) return {_mm256_zextpd128_pd256(_mm_loadu_pd(p))};
    return {_mm256_maskload_pd(p, first_lanes(n))};
  }
  static SIMD_FN vec load_first(const float* p, int n) {
    return {_mm256_cvtps_pd(_mm_maskload_ps(p, first_lanes_of_ints(n)))};
  }
  static SIMD_FN vec all(double a) { return {_mm256_set1_pd(a)}; }
  SIMD_FN void store(double* p) const { _mm256_storeu_pd(p, v); }
  /// By parts: masked stores are slow on AMD's processors.
  SIMD_FN void store_first(double* p, int n) const {
    if (n >= 4) return store(p);
    __m128d rest = _mm256_castpd256_pd128(v);
    if (n >= 2) {
      _mm_storeu_pd(p, rest);
      rest = _mm256_extractf128_pd(v, 1);
      p += 2;
    }
    if (n % 2 == 1) _mm_store_sd(p, rest);
  }
  SIMD_FN void store_parts(double* p, int n) const { store_first(p, n); }
  SIMD_FN void add_product(vec a, vec b) { v = _mm256_fmadd_pd(a.v, b.v, v); }
  SIMD_FN void subtract_product(vec a, vec b) { v = _mm256_fnmadd_pd(a.v, b.v, v); }
  SIMD_FN void operator+=(vec a) { v = _mm256_add_pd(v, a.v); }
  SIMD_FN void operator-=(vec a) { v = _mm256_sub_pd(v, a.v); }
  static SIMD_FN vec negated(vec a) { return {_mm256_xor_pd(a.v, _mm256_set1_pd(-0.0))}; }
  SIMD_FN double sum() const {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }

  SIMD_FN vec folded() const { return *this; }
  /// Each the sum of one of them.
  static SIMD_FN vec sums(vec a, vec b, vec c, vec d) {
    const __m256d ab = _mm256_hadd_pd(a.v, b.v), cd = _mm256_hadd_pd(c.v, d.v);
    return {_mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x21), _mm256_blend_pd(ab, cd, 0xc))};
  }

  static SIMD_FN vec widened(vec<1> a) { return {_mm256_castpd128_pd256(_mm_set_sd(a.v))}; }
  static SIMD_FN vec widened(vec a) { return a; }
  /// Lanes lane, lane + 1, ... of a followed by b.
  template <int lane>
  static SIMD_FN vec from_lane(vec a, vec b) {
    constexpr int rotated = (0xe4e4 >> 2 * lane) & 0xff;
    return {_mm256_permute4x64_pd(_mm256_blend_pd(a.v, b.v, (1 << lane) - 1), rotated)};
  }

  /// Lane i of the result is lane pattern[i] - first of a.
  template <auto pattern, int first>
  static SIMD_FN vec permuted(vec a) {
    constexpr int order =
        (pattern[0] - first) | (pattern[1] - first) << 2 | (pattern[2] - first) << 4 | (pattern[3] - first) << 6;
    return {_mm256_permute4x64_pd(a.v, order)};
  }

  /// Rows and columns of four vectors exchanged.
  static SIMD_FN void transpose(vec& a, vec& b, vec& c, vec& d) {
    const __m256d ab = _mm256_unpacklo_pd(a.v, b.v), cd = _mm256_unpacklo_pd(c.v, d.v);
    const __m256d ab_odd = _mm256_unpackhi_pd(a.v, b.v), cd_odd = _mm256_unpackhi_pd(c.v, d.v);
    a.v = _mm256_permute2f128_pd(ab, cd, 0x20);
    b.v = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
    c.v = _mm256_permute2f128_pd(ab, cd, 0x31);
    d.v = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
  }

  using Mask = __m256i;
  static SIMD_FN Mask above(vec a, vec b) { return _mm256_castpd_si256(_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)); }
  static SIMD_FN vec chosen(Mask m, vec a, vec b) { return {_mm256_blendv_pd(b.v, a.v, _mm256_castsi256_pd(m))}; }
  static SIMD_FN vec square_root(vec a) { return {_mm256_sqrt_pd(_mm256_max_pd(a.v, _mm256_setzero_pd()))}; }

  /// Each pair of lanes turned round.
  static SIMD_FN vec swapped(vec a) { return {_mm256_permute_pd(a.v, 5)}; }

  static SIMD_FN vec odd_negated(vec a) { return {_mm256_xor_pd(a.v, _mm256_setr_pd(0.0, -0.0, 0.0, -0.0))}; }
  /// Two numbers each.
  static SIMD_FN vec halves(const double* a, const double* b) {
    return {_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b), 1)};
  }

  /// p[pattern[lane]] of two numbers, of which the lower half takes one by pattern[0] and [1], the upper by the others.
  template <auto pattern>
  static SIMD_FN vec of_pair(const double* p) {
    constexpr int order = pattern[0] | pattern[1] << 1 | pattern[2] << 2 | pattern[3] << 3;
    return {_mm256_permute_pd(_mm256_broadcast_pd(reinterpret_cast<const __m128d*>(p)), order)};
  }

  /// from[lane][k]
  static SIMD_FN vec picked(const double* const* from, int k) {
    return {_mm256_set_pd(from[3][k], from[2][k], from[1][k], from[0][k])};
  }
  /// p[index[lane]]
  static SIMD_FN vec picked(const double* p, const int* index) {
    return {_mm256_set_pd(p[index[3]], p[index[2]], p[index[1]], p[index[0]])};
  }
  template <class T>
  static SIMD_FN vec picked(const T* p, const unsigned char* index) {
    unsigned all;
    __builtin_memcpy(&all, index, sizeof(all));
    return {_mm256_set_pd(p[all >> 24], p[all >> 16 & 255], p[all >> 8 & 255], p[all & 255])};
  }
  /// p[lane]; 0, without reading, in lanes whose bit in `lanes` is not set.
  static SIMD_FN vec load_lanes(const double* p, unsigned lanes) { return {_mm256_maskload_pd(p, set_lanes(lanes))}; }
  /// 0 in lanes whose bit in `lanes` is not set.
  SIMD_FN vec kept(unsigned lanes) const { return {_mm256_and_pd(v, _mm256_castsi256_pd(set_lanes(lanes)))}; }

 private:
  static SIMD_FN __m256i set_lanes(unsigned lanes) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), bit), bit);
  }
};

}  // namespace
}  // namespace compound::host
