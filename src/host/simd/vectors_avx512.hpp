// What the traversals are built from in AVX-512 (F, DQ, VL): vectors of eight doubles beside those of four.
#pragma once

#include "vector_of_four.hpp"

namespace compound::host {
namespace {

inline constexpr int widest = 8;
inline constexpr bool may_gather = true;
inline constexpr unsigned all_lanes = (1u << widest) - 1;
inline constexpr int accumulators = 16;  ///< of 32 registers

template <>
struct vec<8> {
  __m512d v = _mm512_setzero_pd();

  static SIMD_FN vec load(const double* p) { return {_mm512_loadu_pd(p)}; }
  static SIMD_FN vec load(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
  static SIMD_FN vec load_first(const double* p, int n) { return {_mm512_maskz_loadu_pd(first(n), p)}; }
  static SIMD_FN vec load_first(const float* p, int n) { return {_mm512_cvtps_pd(_mm256_maskz_loadu_ps(first(n), p))}; }
  /// In the first four lanes; the others are anything. Half a vector crosses fewer cache lines than a masked whole one.
  static SIMD_FN vec load_four(const double* p) { return {_mm512_castpd256_pd512(_mm256_loadu_pd(p))}; }
  static SIMD_FN vec load_four(const float* p) { return {_mm512_castpd256_pd512(_mm256_cvtps_pd(_mm_loadu_ps(p)))}; }
  static SIMD_FN vec all(double a) { return {_mm512_set1_pd(a)}; }
  SIMD_FN void store(double* p) const { _mm512_storeu_pd(p, v); }
  SIMD_FN void store_first(double* p, int n) const { _mm512_mask_storeu_pd(p, first(n), v); }
  /// The same in two stores and more, for what is read again soon.
  SIMD_FN void store_parts(double* p, int n) const {
    const vec<4> low{_mm512_castpd512_pd256(v)};
    if (n <= 4) return low.store_first(p, n);
    low.store(p);
    vec<4>{_mm512_extractf64x4_pd(v, 1)}.store_first(p + 4, n - 4);
  }
  SIMD_FN void add_product(vec a, vec b) { v = _mm512_fmadd_pd(a.v, b.v, v); }
  SIMD_FN void subtract_product(vec a, vec b) { v = _mm512_fnmadd_pd(a.v, b.v, v); }
  SIMD_FN void operator+=(vec a) { v = _mm512_add_pd(v, a.v); }
  SIMD_FN void operator-=(vec a) { v = _mm512_sub_pd(v, a.v); }
  static SIMD_FN vec negated(vec a) { return {_mm512_xor_pd(a.v, _mm512_set1_pd(-0.0))}; }
  SIMD_FN double sum() const { return _mm512_reduce_add_pd(v); }

  /// Four lanes with the same sum.
  SIMD_FN vec<4> folded() const { return {_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1))}; }

  template <int N>
  static SIMD_FN vec widened(vec<N> a) {
    if constexpr (N == 4)
      return {_mm512_castpd256_pd512(a.v)};
    else
      return {_mm512_castpd128_pd512(_mm_set_sd(a.v))};
  }
  /// Lanes lane, lane + 1, ... of a followed by b.
  template <int lane>
  static SIMD_FN vec from_lane(vec a, vec b) {
    return {_mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(b.v), _mm512_castpd_si512(a.v), lane))};
  }

  /// Lane i of the result is lane pattern[i] - first of a.
  template <auto pattern, int first>
  static SIMD_FN vec permuted(vec a) {
    const __m512i order =
        _mm512_setr_epi64(pattern[0] - first, pattern[1] - first, pattern[2] - first, pattern[3] - first,
                          pattern[4] - first, pattern[5] - first, pattern[6] - first, pattern[7] - first);
    return {_mm512_permutexvar_pd(order, a.v)};
  }

  using Mask = __mmask8;
  static SIMD_FN Mask above(vec a, vec b) { return _mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ); }
  static SIMD_FN vec chosen(Mask m, vec a, vec b) { return {_mm512_mask_blend_pd(m, b.v, a.v)}; }
  static SIMD_FN vec square_root(vec a) { return {_mm512_sqrt_pd(_mm512_max_pd(a.v, _mm512_setzero_pd()))}; }

  /// Each pair of lanes turned round.
  static SIMD_FN vec swapped(vec a) { return {_mm512_permute_pd(a.v, 0x55)}; }

  static SIMD_FN vec odd_negated(vec a) {
    return {_mm512_xor_pd(a.v, _mm512_setr_pd(0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0))};
  }

  /// from[lane][k]
  static SIMD_FN vec picked(const double* const* from, int k) {
    return {
        _mm512_set_pd(from[7][k], from[6][k], from[5][k], from[4][k], from[3][k], from[2][k], from[1][k], from[0][k])};
  }
  /// p[index[lane]]
  template <class T>
  static SIMD_FN vec picked(const T* p, const unsigned char* index) {
    unsigned long long all;
    __builtin_memcpy(&all, index, sizeof(all));
    return {_mm512_set_pd(p[all >> 56], p[all >> 48 & 255], p[all >> 40 & 255], p[all >> 32 & 255], p[all >> 24 & 255],
                          p[all >> 16 & 255], p[all >> 8 & 255], p[all & 255])};
  }
  /// p[lane]; 0, without reading, in lanes whose bit in `lanes` is not set.
  static SIMD_FN vec load_lanes(const double* p, unsigned lanes) {
    return {_mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), p)};
  }
  /// 0 in lanes whose bit in `lanes` is not set.
  SIMD_FN vec kept(unsigned lanes) const { return {_mm512_maskz_mov_pd(static_cast<__mmask8>(lanes), v)}; }

  /// step * index[lane], to gather with.
  static SIMD_FN __m512i offsets(const int* index, int step) {
    const __m512i wide = _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)));
    return _mm512_mul_epi32(wide, _mm512_set1_epi64(step));
  }
  /// p[offsets[lane]]; 0, without reading, in lanes whose bit in `lanes` is not set.
  static SIMD_FN vec gather(const double* p, __m512i offsets, unsigned lanes) {
    return {_mm512_mask_i64gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>(lanes), offsets, p, 8)};
  }

 private:
  static SIMD_FN __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1); }
};

}  // namespace
}  // namespace compound::host
