// Conjugate gradients between their products: two stages an iteration, one thread a scalar.
//
//     product  w = A p, and with it p^H w               (spmv_*.hpp, product_dot.hpp)
//     step     r -= alpha w; z = M r; z^H r and the norm; then the last block decides whether to go on
//     turn     x += alpha p; p = z + beta p
//
// With a null space a stage between the last two takes it out of z, and has the sums.
//
// Source: Hestenes and Stiefel 1952, preconditioned; the update of x waits for the kernel that reads p anyway.
#pragma once

#include "krylov.hpp"

namespace compound {

struct cg_vectors {
  enum : int { x, r, p, w, z, count };
};

template <class S>
struct cg_state : krylov_counts {
  S dot = {};  ///< p^H w or p^T w, from the product
  S rho = {};  ///< z^H r
  S alpha = {}, beta = {};
  real_of<S> curvature = 0;  ///< the real part of the last dot
  null_parts<S> parts;       ///< of z, for the next stage
};

#if defined(__CUDA_ARCH__)

/// Of p^H w, before anything is done with it.
template <class S>
__device__ KrylovStop why_no_step(const cg_state<S>& s, S dot) {
  if (!is_number(dot)) return KrylovStop::not_a_number;
  if (is_zero(dot)) return KrylovStop::indefinite_matrix;
  return s.norms > 1 && have_opposite_signs(real_part(dot), s.curvature) ? KrylovStop::indefinite_matrix
                                                                         : KrylovStop::not_yet;
}

/// Of the step after a product.
template <class Form, class S>
__device__ S alpha_of(const cg_state<S>& s) {
  return s.norms == 0 ? S{} : divided(s.rho, Form::hermitian ? conjugate(s.dot) : s.dot);
}

/// After the sums of a step: [0] z^H r, [1] the square of the norm. One thread.
template <class Form, class S, class Grid>
__device__ void end_cg_step(const krylov_args& a, cg_state<S>& s, const Grid& grid, const sums<S, 2>& total, S alpha) {
  using R = real_of<S>;
  const bool first = s.norms == 0;
  const S rho = total.of[0], before = s.rho;
  R norm = 0;
  if constexpr (Form::norm == KrylovNorm::natural)
    norm = sqrt(size_of(rho));
  else if constexpr (Form::norm != KrylovNorm::none)
    norm = sqrt(real_part(total.of[1]));
  s.alpha = alpha;
  s.beta = first ? S{} : divided(rho, before);
  s.rho = rho;
  s.curvature = first ? R(0) : real_part(s.dot);
  s.turns = 1;
  note_norm(a, s, grid, {double(norm), first ? 0 : double(real_part(divided(S(1), alpha))), double(size_of(s.beta))});
  KrylovStop stop = KrylovStop::not_yet;
  if (Form::norm != KrylovNorm::none && is_beyond(s, norm))
    stop = KrylovStop::norm;
  else if (!is_number(rho))
    stop = KrylovStop::not_a_number_after;
  else if (is_zero(rho))
    stop = KrylovStop::no_residual;
  else if (!is_complex<S> && !first && real_part(rho) * real_part(before) < 0)
    stop = KrylovStop::indefinite_preconditioner;
  else if (s.norms >= s.most)
    stop = KrylovStop::iterations;
  s.stop = int(stop);
  grid.report(a, s);
}

/// By r and z.
template <class Form>
struct cg_step_sums {
  using S = typename Form::scalar;
  static constexpr int count = 2;
  S alpha;  ///< of the step
  __device__ void add(sums<S, count>& mine, S r, S z) const {
    mine.of[0] += (Form::hermitian ? conjugate(r) : r) * z;
    if constexpr (Form::norm == KrylovNorm::preconditioned) mine.of[1] += S(square_of(z));
    if constexpr (Form::norm == KrylovNorm::unpreconditioned) mine.of[1] += S(square_of(r));
  }
  template <class Grid>
  __device__ void end(const krylov_args& a, cg_state<S>& s, const Grid& grid, const sums<S, count>& total) const {
    end_cg_step<Form>(a, s, grid, total, alpha);
  }
};

/// Else z is r.
template <class Form>
inline constexpr bool has_z = Form::columns > 0 || Form::null_vectors > 0;

/// r -= alpha w (but for the first), z = M r, and what an iteration decides by.
template <class Form, class S, class Grid>
__device__ void cg_step(const krylov_args& a, cg_state<S>& s, Grid& grid) {
  using V = cg_vectors;
  if (is_over(s, grid)) return;
  const bool first = s.norms == 0;
  if (!first) {
    if (const KrylovStop stop = why_no_step(s, s.dot); stop != KrylovStop::not_yet) {
      grid.before_it_writes();
      if (grid.leads()) stop_loop(a, s, grid, stop);
      return;
    }
  }
  const S alpha = alpha_of<Form>(s);
  S* const of_r = vector_of<S>(a, V::r);
  const auto of_w = grid.of_product(vector_of<S>(a, V::w));
  const auto read = [&](slot_t i) {
    S r = of_r[i];
    if (!first) of_r[i] = r = minus(r, alpha * of_w[i]);
    return r;
  };
  precondition<Form>(
      a, s, grid, has_z<Form> ? vector_of<S>(a, V::z) : nullptr, read, [](slot_t, S r) { return r; },
      cg_step_sums<Form>{alpha});
}

template <class Form, class S, class Grid>
__device__ void cg_project(const krylov_args& a, cg_state<S>& s, Grid& grid) {
  using V = cg_vectors;
  project<Form>(a, s, grid, vector_of<S>(a, V::z), vector_of<S>(a, V::r), cg_step_sums<Form>{alpha_of<Form>(s)});
}

template <class Form, class S, class Grid>
__device__ void cg_turn(const krylov_args& a, const cg_state<S>& s, Grid&) {
  using V = cg_vectors;
  if (!s.turns) return;
  const S* const z = vector_of<S>(a, has_z<Form> ? V::z : V::r);
  S* const p = vector_of<S>(a, V::p);
  const cg_turn_pass<Form> pass{s.alpha, s.beta, z, p, vector_of<S>(a, V::x), p};
  for_each_own<Form>(a, [&](slot_t i) { pass(i, nullptr); });
}

#endif

}  // namespace compound
