// What iterations of Krylov methods do with vectors between products, scalar by scalar: one text for the kernels of
// loops that a device runs by itself (cg.hpp, bcgs.hpp), for kernels between which others multiply and precondition,
// and for the host's vector instructions.
//
// A pass knows its vectors and numbers, what it does to scalar i of them, and how many sums it adds to. Where others
// precondition, M is a diagonal `d` (Form::diagonal), or z = M r is there already; where w = A p is, z = d w comes to
// stand.
#pragma once

#include "grid_sum.hpp"

namespace compound {

enum class VectorPass {
  cg_step,
  cg_turn,
  cg_advance,
  cg_sums,
  bcgs_first,
  bcgs_half,
  bcgs_second,
  bcgs_step,
  bcgs_turn
};

inline constexpr int most_pass_vectors = 7, most_pass_numbers = 2, most_pass_sums = 4;

template <class S>
COMPOUND_FN S minus(S a, S b) {
  a -= b;
  return a;
}
template <class S>
COMPOUND_FN real_of<S> square_of(S a) {
  if constexpr (is_complex<S>)
    return a.re * a.re + a.im * a.im;
  else
    return a * a;
}

/// r^H z (or r^T z), |z|^2, |r|^2.
template <class Form, class S>
COMPOUND_FN void add_cg_sums(S r, S z, S* sum) {
  sum[0] += (Form::hermitian ? conjugate(r) : r) * z;
  sum[1] += S(square_of(z));
  sum[2] += S(square_of(r));
}

/// r -= alpha w; z = d r, which is where w was. r^H z (or r^T z), |z|^2, |r|^2.
template <class Form>
struct cg_step_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 3;
  S alpha;
  const S* d;
  S *z, *r;
  COMPOUND_FN static cg_step_pass of(const S* numbers, void* const* v) {
    return {numbers[0], static_cast<const S*>(v[0]), static_cast<S*>(v[1]), static_cast<S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S* sum) const {
    S of_r = r[i], of_z = z[i];
    if constexpr (Form::diagonal) {
      r[i] = of_r = minus(of_r, alpha * of_z);
      z[i] = of_z = d[i] * of_r;
    }
    add_cg_sums<Form>(of_r, of_z, sum);
  }
};

/// x += alpha p; the next p = z + beta p, which may come where p was.
template <class Form>
struct cg_turn_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 0;
  S alpha, beta;
  const S *z, *p;
  S *x, *next_p;
  COMPOUND_FN static cg_turn_pass of(const S* numbers, void* const* v) {
    return {numbers[0],
            numbers[1],
            static_cast<const S*>(v[0]),
            static_cast<const S*>(v[2]),
            static_cast<S*>(v[1]),
            static_cast<S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S*) const {
    const S of_p = p[i];
    S next = z[i];
    x[i] += alpha * of_p;
    next += beta * of_p;
    next_p[i] = next;
  }
};

/// p = z + beta p; s = w + beta s, which is A p where w is A z; x += alpha p; r -= alpha s; z = d r.
template <class Form>
struct cg_advance_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 0;
  S alpha, beta;
  const S *d, *w;
  S *z, *s, *p, *x, *r;
  COMPOUND_FN static cg_advance_pass of(const S* numbers, void* const* v) {
    return {numbers[0],
            numbers[1],
            static_cast<const S*>(v[0]),
            static_cast<const S*>(v[2]),
            static_cast<S*>(v[1]),
            static_cast<S*>(v[3]),
            static_cast<S*>(v[4]),
            static_cast<S*>(v[5]),
            static_cast<S*>(v[6])};
  }
  COMPOUND_FN void operator()(slot_t i, S*) const {
    S of_p = z[i], of_s = w[i];
    of_p += beta * p[i];
    of_s += beta * s[i];
    p[i] = of_p;
    s[i] = of_s;
    x[i] += alpha * of_p;
    const S of_r = minus(r[i], alpha * of_s);
    r[i] = of_r;
    if constexpr (Form::diagonal) z[i] = d[i] * of_r;
  }
};

/// r^H z (or r^T z), |z|^2, |r|^2, w^H z (or w^T z).
template <class Form>
struct cg_sums_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 4;
  const S *r, *z, *w;
  COMPOUND_FN static cg_sums_pass of(const S*, void* const* v) {
    return {static_cast<const S*>(v[0]), static_cast<const S*>(v[1]), static_cast<const S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S* sum) const {
    const S of_z = z[i], of_w = w[i];
    add_cg_sums<Form>(r[i], of_z, sum);
    sum[3] += (Form::hermitian ? conjugate(of_w) : of_w) * of_z;
  }
};

/// v = d w, which is where v was. r0^H v.
template <class Form>
struct bcgs_first_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 1;
  const S* d;
  S* v;
  const S* r0;
  COMPOUND_FN static bcgs_first_pass of(const S*, void* const* v) {
    return {static_cast<const S*>(v[0]), static_cast<S*>(v[1]), static_cast<const S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S* sum) const {
    S of_v = v[i];
    if constexpr (Form::diagonal) v[i] = of_v = d[i] * of_v;
    sum[0] += conjugate(r0[i]) * of_v;
  }
};

/// s = r - alpha v; s may be r.
template <class Form>
struct bcgs_half_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 0;
  S alpha;
  const S *r, *v;
  S* s;
  COMPOUND_FN static bcgs_half_pass of(const S* numbers, void* const* v) {
    return {numbers[0], static_cast<const S*>(v[1]), static_cast<const S*>(v[0]), static_cast<S*>(v[1])};
  }
  COMPOUND_FN void operator()(slot_t i, S*) const { s[i] = minus(r[i], alpha * v[i]); }
};

/// t = d w, which is where t was. t^H s, t^H t, s^H s.
template <class Form>
struct bcgs_second_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 3;
  const S* d;
  S* t;
  const S* s;
  COMPOUND_FN static bcgs_second_pass of(const S*, void* const* v) {
    return {static_cast<const S*>(v[0]), static_cast<S*>(v[1]), static_cast<const S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S* sum) const {
    S of_t = t[i];
    const S of_s = s[i];
    if constexpr (Form::diagonal) t[i] = of_t = d[i] * of_t;
    sum[0] += conjugate(of_t) * of_s;
    sum[1] += S(square_of(of_t));
    sum[2] += S(square_of(of_s));
  }
};

/// x += alpha p + omega s; r = s - omega t, and s may be r. r0^H r, |r|^2.
template <class Form>
struct bcgs_step_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 2;
  S alpha, omega;
  const S *p, *s, *t, *r0;
  S *x, *r;
  COMPOUND_FN static bcgs_step_pass of(const S* numbers, void* const* v) {
    return {numbers[0],
            numbers[1],
            static_cast<const S*>(v[0]),
            static_cast<const S*>(v[4]),
            static_cast<const S*>(v[1]),
            static_cast<const S*>(v[2]),
            static_cast<S*>(v[3]),
            static_cast<S*>(v[4])};
  }
  COMPOUND_FN void operator()(slot_t i, S* sum) const {
    const S of_s = s[i];
    S next = x[i];
    next += alpha * p[i];
    next += omega * of_s;
    x[i] = next;
    r[i] = next = minus(of_s, omega * t[i]);
    sum_up(i, next, sum);
  }
  COMPOUND_FN void sum_up(slot_t i, S of_r, S* sum) const {
    sum[0] += conjugate(r0[i]) * of_r;
    sum[1] += S(square_of(of_r));
  }
};

/// p = r + beta (p - omega v).
template <class Form>
struct bcgs_turn_pass {
  using S = typename Form::scalar;
  static constexpr int sums = 0;
  S beta, omega;
  const S *r, *v;
  S* p;
  COMPOUND_FN static bcgs_turn_pass of(const S* numbers, void* const* v) {
    return {numbers[0], numbers[1], static_cast<const S*>(v[0]), static_cast<const S*>(v[1]), static_cast<S*>(v[2])};
  }
  COMPOUND_FN void operator()(slot_t i, S*) const {
    S next = r[i];
    next += beta * minus(p[i], omega * v[i]);
    p[i] = next;
  }
};

/// A pass as a kernel of its own.
struct pass_args {
  double numbers[most_pass_numbers][2] = {};  ///< real and imaginary part
  void* vectors[most_pass_vectors] = {};      ///< in the order in which the pass takes them
  slot_t scalars = 0;
  grid_sum_args sum;
  void* sums = nullptr;  ///< of the pass, which the host reads
};

#if defined(__CUDA_ARCH__)

template <class S>
__device__ S scalar_from(const double (&parts)[2]) {
  if constexpr (is_complex<S>)
    return {real_of<S>(parts[0]), real_of<S>(parts[1])};
  else
    return S(parts[0]);
}

/// work(i) for all of so many scalars.
template <class Work>
__device__ void for_each_scalar(slot_t scalars, const Work& work) {
  for (slot_t i = slot_t(blockIdx.x) * blockDim.x + threadIdx.x; i < scalars; i += slot_t(gridDim.x) * blockDim.x)
    work(i);
}

template <class Pass, class S>
__device__ void run_pass(const pass_args& a) {
  const S numbers[] = {scalar_from<S>(a.numbers[0]), scalar_from<S>(a.numbers[1])};
  const Pass pass = Pass::of(numbers, a.vectors);
  if constexpr (Pass::sums == 0) {
    for_each_scalar(a.scalars, [&](slot_t i) { pass(i, nullptr); });
  } else {
    using Sums = sums<S, Pass::sums>;
    Sums mine{};
    for_each_scalar(a.scalars, [&](slot_t i) { pass(i, mine.of); });
    end_with_sum_over_grid(a.sum, mine, [&](const Sums& total) { *static_cast<Sums*>(a.sums) = total; });
  }
}

#endif

}  // namespace compound
