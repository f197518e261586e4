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
  SIMD_FN void store_first(double* p, int n) const { _mm256_maskstore_pd(p, first_lanes(n), v); }
  SIMD_FN void add_product(vec a, vec b) { v = _mm256_fmadd_pd(a.v, b.v, v); }
  SIMD_FN void subtract_product(vec a, vec b) { v = _mm256_fnmadd_pd(a.v, b.v, v); }
  SIMD_FN void operator+=(vec a) { v = _mm256_add_pd(v, a.v); }
  SIMD_FN double sum() const {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
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

  using Mask = __m256i;
  static SIMD_FN Mask above(vec a, vec b) { return _mm256_castpd_si256(_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)); }
  static SIMD_FN vec chosen(Mask m, vec a, vec b) { return {_mm256_blendv_pd(b.v, a.v, _mm256_castsi256_pd(m))}; }
  static SIMD_FN vec square_root(vec a) { return {_mm256_sqrt_pd(_mm256_max_pd(a.v, _mm256_setzero_pd()))}; }

  /// Each pair of lanes turned round.
  static SIMD_FN vec swapped(vec a) { return {_mm256_permute_pd(a.v, 5)}; }

  /// step * index[lane], to gather with.
  static SIMD_FN __m256i offsets(const int* index, int step) {
    const __m256i wide = _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(index)));
    return _mm256_mul_epi32(wide, _mm256_set1_epi64x(step));
  }
  /// index[lane] in the first n lanes, reading no others.
  static SIMD_FN __m256i offsets_of_first(const int* index, int n) {
    return _mm256_cvtepi32_epi64(_mm_maskload_epi32(index, first_lanes_of_ints(n)));
  }
  /// p[offsets[lane]]; 0, without reading, in lanes whose bit in `lanes` is not set.
  static SIMD_FN vec gather(const double* p, __m256i offsets, unsigned lanes) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i set = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), bit), bit);
    return {_mm256_mask_i64gather_pd(_mm256_setzero_pd(), p, offsets, _mm256_castsi256_pd(set), 8)};
  }
};

}  // namespace
}  // namespace compound::host
