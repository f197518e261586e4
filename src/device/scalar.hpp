// Scalars: float, double and their complex numbers, with the memory layout of C's _Complex and std::complex.
#pragma once

#include "target.hpp"

namespace compound {

template <class T>
struct complex_number {
  T re = 0, im = 0;
  constexpr complex_number() = default;
  COMPOUND_FN constexpr complex_number(T r, T i = 0) : re(r), im(i) {}
  template <class U>
  COMPOUND_FN constexpr explicit complex_number(complex_number<U> c) : re(T(c.re)), im(T(c.im)) {}

  COMPOUND_FN constexpr complex_number& operator+=(complex_number b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  COMPOUND_FN constexpr complex_number& operator-=(complex_number b) {
    re -= b.re;
    im -= b.im;
    return *this;
  }
  COMPOUND_FN friend constexpr complex_number operator*(complex_number a, complex_number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  COMPOUND_FN friend constexpr complex_number operator*(T a, complex_number b) { return {a * b.re, a * b.im}; }
  COMPOUND_FN friend constexpr bool operator==(complex_number a, complex_number b) {
    return a.re == b.re && a.im == b.im;
  }
};

template <class S>
struct scalar_traits {
  using real = S;
  static constexpr bool is_complex = false;
};
template <class T>
struct scalar_traits<complex_number<T>> {
  using real = T;
  static constexpr bool is_complex = true;
};

template <class S>
using real_of = typename scalar_traits<S>::real;
template <class S>
inline constexpr bool is_complex = scalar_traits<S>::is_complex;

template <class S>
COMPOUND_FN constexpr S conjugate(S a) {
  if constexpr (is_complex<S>)
    return {a.re, -a.im};
  else
    return a;
}

/// Of real numbers, whose product may be too small to have a sign.
template <class R>
COMPOUND_FN constexpr bool have_opposite_signs(R a, R b) {
  return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/// sum += a b. On a device in roundings that are written down: a compiler may fuse a product of complex numbers in
/// several ways, and would in kernels for one vector and for several, whose bits are to be the same.
template <class S>
COMPOUND_FN constexpr void add_product(S& sum, const S& a, const S& b) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  if constexpr (is_complex<S>) {
    sum.re = fma(a.re, b.re, sum.re);
    sum.re = fma(-a.im, b.im, sum.re);
    sum.im = fma(a.re, b.im, sum.im);
    sum.im = fma(a.im, b.re, sum.im);
    return;
  }
#endif
  sum += a * b;
}

/// A coefficient 0, 1, -1, i or -i: how a word enters one place of its block.
struct unit {
  int re = 0, im = 0;
  COMPOUND_FN constexpr bool zero() const { return re == 0 && im == 0; }
  COMPOUND_FN constexpr unit conjugated() const { return {re, -im}; }
};

/// sum += u * a for a coefficient known at compile time (no multiplication by 0, 1 or -1: 0 * NaN must not appear).
template <int re, int im, class S>
COMPOUND_FN constexpr void add_unit(S& sum, S a) {
  if constexpr (im == 0) {
    if constexpr (re > 0) sum += a;
    if constexpr (re < 0) sum -= a;
  } else {
    static_assert(re == 0 && is_complex<S>, "i needs a complex scalar");
    if constexpr (im > 0) sum += S{-a.im, a.re};
    if constexpr (im < 0) sum += S{a.im, -a.re};
  }
}

#if defined(__CUDA_ARCH__)
template <class T>
COMPOUND_FN T shuffle_xor(T v, int step) {
  return __shfl_xor_sync(0xffffffffu, v, step);
}
template <class T>
COMPOUND_FN complex_number<T> shuffle_xor(complex_number<T> v, int step) {
  return {shuffle_xor(v.re, step), shuffle_xor(v.im, step)};
}
template <int lanes, class T>
COMPOUND_FN T shuffle_down(T v, int step) {
  return __shfl_down_sync(0xffffffffu, v, step, lanes);
}
template <int lanes, class T>
COMPOUND_FN complex_number<T> shuffle_down(complex_number<T> v, int step) {
  return {shuffle_down<lanes>(v.re, step), shuffle_down<lanes>(v.im, step)};
}
template <class T>
COMPOUND_FN T shuffle_up(T v, int step) {
  return __shfl_up_sync(0xffffffffu, v, step);
}
template <class T>
COMPOUND_FN complex_number<T> shuffle_up(complex_number<T> v, int step) {
  return {shuffle_up(v.re, step), shuffle_up(v.im, step)};
}
template <class T>
COMPOUND_FN T shuffle_from(T v, int lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}
template <class T>
COMPOUND_FN complex_number<T> shuffle_from(complex_number<T> v, int lane) {
  return {shuffle_from(v.re, lane), shuffle_from(v.im, lane)};
}
template <class T>
COMPOUND_FN void add_atomically(T* to, T v) {
  atomicAdd(to, v);
}
template <class T>
COMPOUND_FN void add_atomically(complex_number<T>* to, complex_number<T> v) {
  atomicAdd(&to->re, v.re);
  atomicAdd(&to->im, v.im);
}
template <class T>
COMPOUND_FN T read_streaming(const T* p) {
  return __ldcs(p);
}
COMPOUND_FN complex_number<float> read_streaming(const complex_number<float>* p) {
  const float2 v = __ldcs(reinterpret_cast<const float2*>(p));
  return {v.x, v.y};
}
COMPOUND_FN complex_number<double> read_streaming(const complex_number<double>* p) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(p));
  return {v.x, v.y};
}
template <class T>
COMPOUND_FN T read_fresh(const T* p) {
  return __ldcg(p);
}
COMPOUND_FN complex_number<float> read_fresh(const complex_number<float>* p) {
  const float2 v = __ldcg(reinterpret_cast<const float2*>(p));
  return {v.x, v.y};
}
COMPOUND_FN complex_number<double> read_fresh(const complex_number<double>* p) {
  const double2 v = __ldcg(reinterpret_cast<const double2*>(p));
  return {v.x, v.y};
}
#endif

/// *p, read as `cache` says.
template <Cache cache, class T>
COMPOUND_FN T read(const T* p) {
#if defined(__CUDA_ARCH__)
  if constexpr (cache == Cache::stream) return read_streaming(p);
  if constexpr (cache == Cache::fresh) return read_fresh(p);
#endif
  return *p;
}

/// Sum of `v` over the `lanes` neighbouring workers that share a row; every one of them gets it, in a fixed order.
template <int lanes, class S>
COMPOUND_FN S sum_over_lanes(S v) {
#if defined(__CUDA_ARCH__)
  for (int step = lanes / 2; step > 0; step /= 2) v += shuffle_xor(v, step);
#else
  static_assert(lanes == 1, "the host has one worker a row");
#endif
  return v;
}

/// Sum of `v` over the workers i, i + apart, i + 2 apart, ... of `lanes` neighbours, `count` of them; worker i < apart
/// gets it, in a fixed order.
template <int lanes, int apart, int count, class S>
COMPOUND_FN S sum_over_strided_lanes(S v, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__)
  for (int left = count; left > 1; left = (left + 1) / 2) {
    const int half = (left + 1) / 2;
    const S other = shuffle_down<lanes>(v, half * apart);
    if (lane / apart + half < left) v += other;
  }
#else
  static_assert(count == 1, "the host has one worker a row");
#endif
  return v;
}

}  // namespace compound
