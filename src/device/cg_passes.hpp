// What an iteration of conjugate gradients does with vectors while others multiply and precondition: two kernels, one
// thread a scalar. Where the device does those too, it is cg.hpp that runs.
#pragma once

#include "cg.hpp"

namespace compound {

struct cg_pass_args {
  double alpha[2] = {}, beta[2] = {};  ///< real and imaginary part
  const void* d = nullptr;             ///< a diagonal preconditioner; null: z is there, and r
  const void* z_read = nullptr;
  void* z = nullptr;
  void* r = nullptr;
  void* x = nullptr;
  void* p = nullptr;
  slot_t scalars = 0;
  grid_sum_args sum;
  void* sums = nullptr;  ///< [3], which the host reads
};

#if defined(__CUDA_ARCH__)

template <class S>
__device__ S scalar_from(const double (&parts)[2]) {
  if constexpr (is_complex<S>)
    return {real_of<S>(parts[0]), real_of<S>(parts[1])};
  else
    return S(parts[0]);
}

/// r -= alpha w; z = d r, which is where w was; r^H z, |z|^2, |r|^2.
template <class Form>
__device__ void cg_step_pass(const cg_pass_args& a) {
  using S = typename Form::scalar;
  const S alpha = scalar_from<S>(a.alpha);
  const S* const d = static_cast<const S*>(a.d);
  S *const of_r = static_cast<S*>(a.r), *const of_z = static_cast<S*>(a.z);
  sums<S, 3> mine{};
  for_each_scalar(a.scalars, [&](slot_t i) {
    S r = of_r[i], z = of_z[i];
    if (d) {
      of_r[i] = r = minus(r, alpha * z);
      of_z[i] = z = d[i] * r;
    }
    mine.of[0] += (Form::hermitian ? conjugate(r) : r) * z;
    mine.of[1] += S(square_of(z));
    mine.of[2] += S(square_of(r));
  });
  end_with_sum_over_grid(a.sum, mine, [&](const sums<S, 3>& total) { *static_cast<sums<S, 3>*>(a.sums) = total; });
}

/// x += alpha p; p = z + beta p.
template <class Form>
__device__ void cg_turn_pass(const cg_pass_args& a) {
  using S = typename Form::scalar;
  turn_vectors(a.scalars, scalar_from<S>(a.alpha), scalar_from<S>(a.beta), static_cast<const S*>(a.z_read),
               static_cast<S*>(a.x), static_cast<S*>(a.p));
}

#endif

}  // namespace compound
