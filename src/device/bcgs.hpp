// BiCGSTAB, preconditioned from the left, between its products: one thread a scalar.
//
//     product  w = A p
//     first    v = M w; r0^H v                          alpha = rho / r0^H v
//     half     s = r - alpha v
//     product  w = A s
//     second   t = M w; t^H s, t^H t, s^H s             omega = t^H s / t^H t
//     step     x += alpha p + omega s; r = s - omega t; r0^H r and the norm; whether to go on
//     turn     p = r + beta (p - omega v)
//
// With a null space the first and the second stage have one more each, which takes it out of v and t, and has the sums.
//
// Source: van der Vorst 1992, in the form of PETSc's KSPBCGS.
#pragma once

#include "krylov.hpp"

namespace compound {

struct bcgs_vectors {
  enum : int { x, r, p, w, s, v, t, r0, count };
};

template <class S>
struct bcgs_state : krylov_counts {
  S unused = {};  ///< where products leave a dot product
  S rho = {};     ///< r0^H r
  S alpha = {}, omega = {}, beta = {};
  int is_exact = 0;     ///< s is 0, and t: the answer is there after half an iteration
  null_parts<S> parts;  ///< of v or t, for the next stage
};

#if defined(__CUDA_ARCH__)

/// By r0 and v.
template <class S>
struct bcgs_first_sums {
  static constexpr int count = 1;
  __device__ void add(sums<S, count>& mine, S r0, S v) const { mine.of[0] += conjugate(r0) * v; }
  template <class Grid>
  __device__ void end(const krylov_args& a, bcgs_state<S>& s, const Grid& grid, const sums<S, count>& total) const {
    const S d = total.of[0];
    if (!is_number(d))
      stop_loop(a, s, grid, KrylovStop::not_a_number);
    else if (is_zero(d))
      stop_loop(a, s, grid, KrylovStop::breakdown);
    else
      s.alpha = divided(s.rho, d);
  }
};

template <class Form, class S, class Grid>
__device__ void bcgs_first(const krylov_args& a, bcgs_state<S>& s, Grid& grid) {
  using V = bcgs_vectors;
  if (is_over(s, grid)) return;
  const auto w = grid.of_others(vector_of<S>(a, V::w));
  const S* const r0 = vector_of<S>(a, V::r0);
  precondition<Form>(
      a, s, grid, vector_of<S>(a, V::v), [&](slot_t i) { return w[i]; }, [&](slot_t i, S) { return r0[i]; },
      bcgs_first_sums<S>{});
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
  const auto w = grid.of_others(vector_of<S>(a, V::w));
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

/// The first one leaves x and r as they are.
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
    if (first)
      pass.sum_up(i, pass.r[i], mine.of);
    else
      pass(i, mine.of);
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
