// BiCGSTAB, preconditioned from the left, between its products: one thread a scalar.
//
//     product  w = A p, and with it q^H w, where q = M^H r0: r0^H M w
//     first    alpha = rho / q^H w; v = M w; s = r - alpha v
//     product  w = A s
//     second   t = M w; t^H s, t^H t, s^H s             omega = t^H s / t^H t
//     step     x += alpha p + omega s; r = s - omega t; r0^H r and the norm; whether to go on
//     turn     p = r + beta (p - omega v)
//
// With a null space the first and the second stage have one more each, which takes it out of v and t, and has the sums;
// s is made by a stage of its own then.
//
// Source: van der Vorst 1992, in the form of PETSc's KSPBCGS.
#pragma once

#include "krylov.hpp"

namespace compound {

struct bcgs_vectors {
  enum : int { x, r, p, w, s, v, t, r0, q, count };
};
/// Of what the first product's dot product is with that product; without a preconditioner q is r0.
COMPOUND_FN constexpr int bcgs_shadow(int columns) { return columns > 0 ? bcgs_vectors::q : bcgs_vectors::r0; }

template <class S>
struct bcgs_state : krylov_counts {
  S dot = {};  ///< q^H w, from the product
  S rho = {};  ///< r0^H r
  S alpha = {}, omega = {}, beta = {};
  int is_exact = 0;     ///< s is 0, and t: the answer is there after half an iteration
  null_parts<S> parts;  ///< of v or t, for the next stage
};

#if defined(__CUDA_ARCH__)

/// Of r0^H v, before anything is done with it.
template <class S>
__device__ KrylovStop why_no_half(S dot) {
  return !is_number(dot) ? KrylovStop::not_a_number : is_zero(dot) ? KrylovStop::breakdown : KrylovStop::not_yet;
}

/// By r0 and v.
template <class S>
struct bcgs_first_sums {
  static constexpr int count = 1;
  __device__ void add(sums<S, count>& mine, S r0, S v) const { mine.of[0] += conjugate(r0) * v; }
  template <class Grid>
  __device__ void end(const krylov_args& a, bcgs_state<S>& s, const Grid& grid, const sums<S, count>& total) const {
    const KrylovStop stop = why_no_half(total.of[0]);
    if (stop != KrylovStop::not_yet) return stop_loop(a, s, grid, stop);
    s.alpha = divided(s.rho, total.of[0]);
  }
};

/// Before bcgs_project_first().
template <class Form, class S, class Grid>
__device__ void bcgs_first(const krylov_args& a, bcgs_state<S>& s, Grid& grid) requires(Form::null_vectors > 0) {
  using V = bcgs_vectors;
  if (is_over(s, grid)) return;
  const auto w = grid.of_product(vector_of<S>(a, V::w));
  precondition<Form>(
      a, s, grid, vector_of<S>(a, V::v), [&](slot_t i) { return w[i]; }, [](slot_t, S r) { return r; },
      bcgs_first_sums<S>{});
}

template <class Form, class S, class Grid>
__device__ void bcgs_first(const krylov_args& a, bcgs_state<S>& s, Grid& grid) requires(Form::null_vectors == 0) {
  using V = bcgs_vectors;
  if (is_over(s, grid)) return;
  if (const KrylovStop stop = why_no_half(s.dot); stop != KrylovStop::not_yet) {
    grid.before_it_writes();
    if (grid.leads()) stop_loop(a, s, grid, stop);
    return;
  }
  const S alpha = divided(s.rho, s.dot);
  if (grid.leads()) s.alpha = alpha;
  const auto w = grid.of_product(vector_of<S>(a, V::w));
  const bcgs_half_pass<Form> half{alpha, vector_of<S>(a, V::r), vector_of<S>(a, V::v), vector_of<S>(a, V::s)};
  S* const v = vector_of<S>(a, V::v);
  for_each_in_warps<Form>(a, [&](slot_t i, int lane, bool active) {
    const factor_row<Form> factors(a, i, active);
    const S made = preconditioned<Form>(factors, active ? w[i] : S{}, lane, active);
    if (!active) return;
    v[i] = made;
    half(i, nullptr);
  });
}

template <class Form, class S, class Grid>
__device__ void bcgs_project_first(const krylov_args& a, bcgs_state<S>& s, Grid& grid) {
  using V = bcgs_vectors;
  project<Form>(a, s, grid, vector_of<S>(a, V::v), vector_of<S>(a, V::r0), bcgs_first_sums<S>{});
}

template <class Form, class S, class Grid>
__device__ void bcgs_half(const krylov_args& a, const bcgs_state<S>& state, Grid&) {
  using V = bcgs_vectors;
  if (state.stop != 0) return;
  const bcgs_half_pass<Form> pass{state.alpha, vector_of<S>(a, V::r), vector_of<S>(a, V::v), vector_of<S>(a, V::s)};
  for_each_own<Form>(a, [&](slot_t i) { pass(i, nullptr); });
}

/// By s and t.
template <class S>
struct bcgs_second_sums {
  static constexpr int count = 3;
  __device__ void add(sums<S, count>& mine, S s, S t) const {
    mine.of[0] += conjugate(t) * s;
    mine.of[1] += S(square_of(t));
    mine.of[2] += S(square_of(s));
  }
  template <class Grid>
  __device__ void end(const krylov_args& a, bcgs_state<S>& state, const Grid& grid, const sums<S, count>& total) const {
    const bool singular = is_zero(total.of[1]);
    state.is_exact = singular && is_zero(total.of[2]);
    if (singular && !state.is_exact) return stop_loop(a, state, grid, KrylovStop::breakdown);
    state.omega = singular ? S{} : divided(total.of[0], total.of[1]);
  }
};

template <class Form, class S, class Grid>
__device__ void bcgs_second(const krylov_args& a, bcgs_state<S>& state, Grid& grid) {
  using V = bcgs_vectors;
  if (state.stop != 0) return;
  const auto w = grid.of_product(vector_of<S>(a, V::w));
  const S* const s = vector_of<S>(a, V::s);
  precondition<Form>(
      a, state, grid, vector_of<S>(a, V::t), [&](slot_t i) { return w[i]; }, [&](slot_t i, S) { return s[i]; },
      bcgs_second_sums<S>{});
}

template <class Form, class S, class Grid>
__device__ void bcgs_project_second(const krylov_args& a, bcgs_state<S>& state, Grid& grid) {
  using V = bcgs_vectors;
  project<Form>(a, state, grid, vector_of<S>(a, V::t), vector_of<S>(a, V::s), bcgs_second_sums<S>{});
}

/// After the sums of a step: [0] r0^H r, [1] the square of the norm. One thread.
template <class Form, class S, class Grid>
__device__ void end_bcgs_step(const krylov_args& a, bcgs_state<S>& s, const Grid& grid, const sums<S, 2>& total) {
  const bool first = s.norms == 0;
  const S rho = total.of[0], before = s.rho;
  const real_of<S> norm = Form::norm == KrylovNorm::none ? 0 : sqrt(real_part(total.of[1]));
  if (s.is_exact) return stop_loop(a, s, grid, KrylovStop::exact);
  s.beta = first ? S{} : divided(rho, before) * divided(s.alpha, s.omega);
  s.rho = rho;
  s.turns = 1;
  note_norm(a, s, grid, {.norm = double(norm)});
  KrylovStop stop = KrylovStop::not_yet;
  if (Form::norm != KrylovNorm::none && is_beyond(s, norm))
    stop = KrylovStop::norm;
  else if (!first && is_zero(before))
    stop = KrylovStop::breakdown_after;
  else if (s.norms >= s.most)
    stop = KrylovStop::iterations;
  s.stop = int(stop);
  grid.report(a, s);
}

/// Scalar i of M^H r0.
template <class Form, class S>
__device__ S of_shadow(const krylov_args& a, slot_t i) {
  const S *const factors = static_cast<const S*>(a.factors), *const r0 = vector_of<S>(a, bcgs_vectors::r0);
  const slot_t column = i % Form::columns, first = i - column;
  S q{};
  for (int k = 0; k < Form::columns; ++k) q += conjugate(factors[column * a.scalars + first + k]) * r0[first + k];
  return q;
}

/// The first one leaves x and r as they are, and makes q where there is no null space.
template <class Form, class S, class Grid>
__device__ void bcgs_step(const krylov_args& a, bcgs_state<S>& state, Grid& grid) {
  using V = bcgs_vectors;
  if (state.stop != 0) return;
  const bool first = state.norms == 0;
  const bcgs_step_pass<Form> pass{state.alpha,           state.omega,           vector_of<S>(a, V::p),
                                  vector_of<S>(a, V::s), vector_of<S>(a, V::t), vector_of<S>(a, V::r0),
                                  vector_of<S>(a, V::x), vector_of<S>(a, V::r)};
  sums<S, 2> mine{};
  for_each_own<Form>(a, [&](slot_t i) {
    if (!first) return pass(i, mine.of);
    pass.sum_up(i, pass.r[i], mine.of);
    if constexpr (Form::columns > 0 && Form::null_vectors == 0) vector_of<S>(a, V::q)[i] = of_shadow<Form, S>(a, i);
  });
  grid.end_with_sums(a, mine, [&](const sums<S, 2>& total) { end_bcgs_step<Form>(a, state, grid, total); });
}

template <class Form, class S, class Grid>
__device__ void bcgs_turn(const krylov_args& a, const bcgs_state<S>& state, Grid&) {
  using V = bcgs_vectors;
  if (!state.turns) return;
  const bcgs_turn_pass<Form> pass{state.beta, state.omega, vector_of<S>(a, V::r), vector_of<S>(a, V::v),
                                  vector_of<S>(a, V::p)};
  for_each_own<Form>(a, [&](slot_t i) { pass(i, nullptr); });
}

#endif

}  // namespace compound
