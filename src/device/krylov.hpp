// What loops of Krylov methods share on a device: numbers that kernels hand on without the host, sums over the grid,
// block-diagonal preconditioners, and reports to the host. The methods are cg.hpp and bcgs.hpp.
#pragma once

#include "peers.hpp"
#include "vector_passes.hpp"

namespace compound {

/// Of which vector norms are: of the preconditioned residual, of the residual, sqrt(| z^H r |) (CG alone), or none.
enum class KrylovNorm { preconditioned, unpreconditioned, natural, none };

/// Why a loop stopped; the host, which sees all norms, has the last word.
enum class KrylovStop : int {
  not_yet,
  norm,                       ///< beyond the bounds, or not a number
  iterations,                 ///< as many as were asked for
  no_residual,                ///< CG: z^H r is 0
  indefinite_preconditioner,  ///< CG: z^H r changes its sign (real scalars)
  indefinite_matrix,          ///< CG: p^H A p is 0, or changes its sign
  breakdown,                  ///< BiCGSTAB: an inner product is 0 in the iteration after the last norm
  breakdown_after,            ///< BiCGSTAB: r^H r0 was 0 in the iteration of the last norm
  exact,                      ///< BiCGSTAB: half an iteration gave the answer, which x is
  not_a_number,               ///< an inner product
  not_a_number_after,         ///< CG: z^H r in the iteration of the last norm
  lost_peer                   ///< another process did not answer
};

/// Numbers of a loop, all 0 before its first step; what the method adds follows, its first scalar at once: the host
/// knows where that lies whatever the scalar.
struct krylov_counts {
  int stop = 0;   ///< KrylovStop
  int turns = 0;  ///< whether the kernels after a step have work
  int norms = 0;  ///< so far; that of the start is the first
  int most = 0;   ///< of them, in this run
  double below = 0, above = 0;
};

/// What the host sets before a run: one thread writes it.
struct krylov_limits {
  krylov_counts* state = nullptr;
  double below = 0, above = 0;  ///< norms between which a loop goes on
  int most = 0;                 ///< norms
  int stop = 0;                 ///< KrylovStop
};

/// What the host reads, in its own memory.
struct krylov_report {
  int norms = 0, stop = 0;
};

/// Of an iteration, for the host. CG's numbers are those of the Lanczos matrix (0 elsewhere).
struct krylov_news {
  double norm = 0;
  double inverse_step = 0;  ///< the real part of 1 / alpha, by which the iteration came to its residual
  double growth = 0;        ///< |beta| of the direction that follows
};

/// to[i] = 1 where i % columns is k, else 0.
struct krylov_unit {
  void* to = nullptr;
  slot_t scalars = 0;
  int columns = 1, k = 0;
};

inline constexpr int most_krylov_vectors = 9;

/// Of a basis of the null space, the constant one among them: rigid bodies have six.
inline constexpr int most_null_vectors = 6;
inline constexpr int most_krylov_sums = most_null_vectors;  ///< at once

/// What a vector has of each of them.
template <class S>
struct null_parts {
  S of[most_null_vectors] = {};
};

/// Sums of several processes that a library brings together between two kernels: each process's own, and all of them in
/// the order of ranks.
struct gathered_args {
  static constexpr int bytes_each = most_krylov_sums * 2 * int(sizeof(double));
  void* own = nullptr;
  const void* all = nullptr;  ///< [processes][bytes_each]
  int processes = 0;
};

struct krylov_args {
  void* state = nullptr;
  const void* factors = nullptr;  ///< [Form::columns][scalars]: of each diagonal block of M column k
  /// [Form::null_vectors, without the constant one][scalars]: orthonormal, and orthogonal to the constant.
  const void* null_space = nullptr;
  double of_constant = 0;                   ///< a scalar of the constant one, which is the first if it is in the basis
  void* vectors[most_krylov_vectors] = {};  ///< the method's
  slot_t scalars = 0;
  grid_sum_args sum;
  const meeting_args* meeting = nullptr;  ///< of several processes, in the device's memory
  gathered_args gathered;                 ///< of several processes in place of a meeting
  krylov_report* report = nullptr;
  krylov_news* news = nullptr;  ///< [ring], the host's: of norm i at i % ring
  int ring = 0;
};

/// Right-hand sides that a loop solves for at once, at most: as many as a product takes vectors.
inline constexpr int most_krylov_systems = 16;

/// Of several systems, which have places in what is the first one's here. x, norms and reports stay with the system;
/// all else is by places, so that those still under way can move together.
struct systems_args {
  krylov_args first;
  slot_t vector_apart = 0;                     ///< scalars from one vector to the next
  slot_t state_apart = 0, partials_apart = 0;  ///< bytes
  slot_t tickets_apart = 0;
  unsigned char system[most_krylov_systems] = {};  ///< at each place
};

#if defined(__CUDA_ARCH__)

/// As the stages of one system are given it. x is the first of the vectors.
template <class S>
__device__ krylov_args at_place(const systems_args& a, int place) {
  krylov_args one = a.first;
  const int system = a.system[place];
  one.state = static_cast<char*>(one.state) + place * a.state_apart;
  for (int v = 0; v < most_krylov_vectors; ++v)
    if (one.vectors[v]) one.vectors[v] = static_cast<S*>(one.vectors[v]) + (v == 0 ? system : place) * a.vector_apart;
  one.sum.partials = static_cast<char*>(one.sum.partials) + place * a.partials_apart;
  one.sum.tickets += place * a.tickets_apart;
  one.report += system;
  one.news += slot_t(system) * one.ring;
  return one;
}

template <class S>
__device__ S divided(S a, S b) {
  if constexpr (is_complex<S>) {
    // Scaled by the larger part, so that no square overflows.
    using R = real_of<S>;
    const R of_re = fabs(b.re), of_im = fabs(b.im), scale = of_re > of_im ? of_re : of_im;
    const S c{b.re / scale, b.im / scale};
    const R square = c.re * c.re + c.im * c.im;
    const S n = a * conjugate(c);
    return {n.re / square / scale, n.im / square / scale};
  } else {
    return a / b;
  }
}
template <class S>
__device__ real_of<S> real_part(S a) {
  if constexpr (is_complex<S>)
    return a.re;
  else
    return a;
}
template <class S>
__device__ bool is_zero(S a) {
  return a == S{};
}
template <class S>
__device__ bool is_number(S a) {
  if constexpr (is_complex<S>)
    return is_number(a.re) && is_number(a.im);
  else
    return a - a == 0;
}
template <class S>
__device__ real_of<S> size_of(S a) {
  if constexpr (is_complex<S>)
    return hypot(a.re, a.im);
  else
    return fabs(a);
}

template <class S>
__device__ S* vector_of(const krylov_args& a, int which) {
  return static_cast<S*>(a.vectors[which]);
}
template <class Form>
__device__ typename Form::state& state_of(const krylov_args& a) {
  return *static_cast<typename Form::state*>(a.state);
}

__device__ inline void report_to_host(const krylov_args& a, const krylov_counts& s) {
  __threadfence_system();  // after the norms that it tells of
  a.report->norms = s.norms;
  a.report->stop = s.stop;
  __threadfence_system();
}

/// How stages of an iteration follow each other: as kernels of their own, queued one after the other. The other way is
/// one_kernel (krylov_whole.hpp).
struct queued_kernels {
  /// A vector that other threads have written.
  template <class S>
  __device__ static const S* of_others(const S* v) {
    return v;
  }
  /// A vector that a product has made.
  template <class S>
  __device__ static const S* of_product(const S* v) {
    return v;
  }
  /// The sum over all blocks; `end`(total) by one thread of the last of them, for all stages after this one.
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args& a, const sums<S, n>& mine, const End& end) const {
    end_with_sum_over_grid(a.sum, mine, end);
  }
  /// Whether this thread writes the state where no sum ends.
  __device__ bool leads() const { return blockIdx.x == 0 && threadIdx.x == 0; }
  /// By all threads that have read the state: where the one that leads goes on to write.
  __device__ void before_it_writes() const {}
  /// One thread: of norm number s.norms, and at the end of an iteration.
  __device__ void keep(const krylov_args& a, const krylov_counts& s, const krylov_news& news) const {
    a.news[s.norms % a.ring] = news;
  }
  __device__ void report(const krylov_args& a, const krylov_counts& s) const { report_to_host(a, s); }
};

/// The same where the grid's first dimension is of systems.
struct kernels_of_systems : queued_kernels {
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args& a, const sums<S, n>& mine, const End& end) const {
    const sums<S, n> of_block = sum_over_block(mine);
    sums<S, n> total;
    if (sum_over_grid(a.sum, blockIdx.y, gridDim.y, of_block, &total) && threadIdx.x == 0) end(total);
  }
  __device__ bool leads() const { return blockIdx.y == 0 && threadIdx.x == 0; }
};

/// The same of several processes, each with a part of all vectors: sums are those over all of them, and so all decide
/// the same.
struct kernels_of_peers : queued_kernels {
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args& a, const sums<S, n>& mine, const End& end) const {
    const sums<S, n> of_block = sum_over_block(mine);
    sums<S, n> total;
    if (sum_over_grid(a.sum, blockIdx.x, gridDim.x, of_block, &total)) meet(a, total, end);
  }
  /// By the first warp of one block, which has `total`; `end`(what it is over all processes) by one thread.
  template <class S, int n, class End>
  __device__ void meet(const krylov_args& a, sums<S, n> total, const End& end) const;
};

/// The same where a library brings the sums together: each stage with sums runs twice. The first time it ends with this
/// process's own.
struct kernels_before_gathering : queued_kernels {
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args& a, const sums<S, n>& mine, const End& end) const {
    end_with_sum_over_grid(a.sum, mine, [&](const sums<S, n>& total) { meet(a, total, end); });
  }
  /// By one thread or more that have the same.
  template <class S, int n, class End>
  __device__ void meet(const krylov_args& a, const sums<S, n>& total, const End&) const {
    static_assert(sizeof(total) <= gathered_args::bytes_each);
    if (threadIdx.x == 0) *static_cast<sums<S, n>*>(a.gathered.own) = total;
  }
};
/// The second time it is one block without scalars, which ends with the sums over all processes. The state is as it was
/// the first time, so the stage comes to its sums again, or ends before them.
struct kernels_after_gathering : queued_kernels {
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args& a, const sums<S, n>&, const End& end) const {
    if (threadIdx.x != 0) return;
    const char* const all = static_cast<const char*>(a.gathered.all);
    sums<S, n> total = *reinterpret_cast<const sums<S, n>*>(all);
    for (int p = 1; p < a.gathered.processes; ++p) {
      const auto& of_process = *reinterpret_cast<const sums<S, n>*>(all + p * gathered_args::bytes_each);
      for (int i = 0; i < n; ++i) total.of[i] += of_process.of[i];
    }
    end(total);
  }
  template <class S, int n, class End>
  __device__ void meet(const krylov_args& a, const sums<S, n>& total, const End& end) const {
    end_with_sums(a, total, end);
  }
};

/// One thread.
template <class Grid>
__device__ void note_norm(const krylov_args& a, krylov_counts& s, const Grid& grid, const krylov_news& news) {
  grid.keep(a, s, news);
  s.norms += 1;
}
/// A loop that ends here leaves what follows in the iteration undone. One thread.
template <class Grid>
__device__ void stop_loop(const krylov_args& a, krylov_counts& s, const Grid& grid, KrylovStop stop) {
  s.stop = int(stop);
  s.turns = 0;
  grid.report(a, s);
}
template <class S, int n, class End>
__device__ void kernels_of_peers::meet(const krylov_args& a, sums<S, n> total, const End& end) const {
  if (threadIdx.x >= 32) return;
  const bool met = add_up_over_peers(*a.meeting, &total);
  if (threadIdx.x != 0) return;
  if (met)
    end(total);
  else
    stop_loop(a, *static_cast<krylov_counts*>(a.state), *this, KrylovStop::lost_peer);
}

/// After a product: what its dot product is over all processes. By one block.
template <class Form, class State, class Grid>
__device__ void meet_dot(const krylov_args& a, State& s, const Grid& grid) {
  if (s.stop != 0) return;
  grid.meet(a, sums<typename Form::scalar, 1>{{s.dot}}, [&](const auto& total) { s.dot = total.of[0]; });
}

/// NaN is beyond all bounds.
template <class R>
__device__ bool is_beyond(const krylov_counts& s, R norm) {
  return !(double(norm) > s.below && double(norm) < s.above);
}

/// As many scalars a warp as whole blocks of M fit.
template <class Form>
inline constexpr int scalars_of_warp = Form::columns < 2 ? 32 : 32 / Form::columns* Form::columns;

/// Row i of its block of M. Few scalars are read at once, before the vectors are: what these loops write could be
/// factors for all that a compiler knows, so that it would read them one after the other.
template <class Form>
struct factor_row {
  using S = typename Form::scalar;
  static constexpr bool is_short = Form::columns > 0 && Form::columns * sizeof(S) <= 64;
  S kept[is_short ? Form::columns : 1] = {};
  const S* at;
  slot_t apart;

  __device__ factor_row(const krylov_args& a, slot_t i, bool active)
      : at(static_cast<const S*>(a.factors) + i), apart(a.scalars) {
    if constexpr (is_short)
      for (int k = 0; k < Form::columns; ++k)
        if (active) kept[k] = at[k * apart];
  }
  __device__ S operator()(int k) const { return is_short ? kept[k] : at[k * apart]; }
};

/// A scalar of M r, where `r` is the same scalar of it and `factors` its row of M: lanes of a warp hold whole blocks.
template <class Form, class S>
__device__ S preconditioned(const factor_row<Form>& factors, S r, int lane, bool active) {
  if constexpr (Form::columns == 0) {
    return r;
  } else {
    const int first = lane / Form::columns * Form::columns;
    S z{};
    for (int k = 0; k < Form::columns; ++k) {
      const S of_k = Form::columns == 1 ? r : shuffle_from(r, (first + k) & 31);
      if (active) z += factors(k) * of_k;
    }
    return z;
  }
}

/// Most forms do not say it.
template <class Form>
COMPOUND_FN constexpr bool is_of_systems() {
  if constexpr (requires { Form::of_systems; }) return Form::of_systems;
  return false;
}

/// work(i, lane, active) for all scalars, whole warps together, at a fixed stride.
template <class Form, class Work>
__device__ void for_each_in_warps(const krylov_args& a, const Work& work) {
  constexpr int share = scalars_of_warp<Form>;
  const int lane = int(threadIdx.x) % 32;
  const bool of_systems = is_of_systems<Form>();
  const slot_t block = of_systems ? blockIdx.y : blockIdx.x, blocks = of_systems ? gridDim.y : gridDim.x;
  const slot_t warps = blocks * (blockDim.x / 32);
  for (slot_t tile = (block * blockDim.x + threadIdx.x) / 32; tile * share < a.scalars; tile += warps) {
    const slot_t i = tile * share + lane;
    work(i, lane, lane < share && i < a.scalars);
  }
}

/// work(i) for all scalars, each by the thread that has it in all stages but products.
template <class Form, class Work>
__device__ void for_each_own(const krylov_args& a, const Work& work) {
  for_each_in_warps<Form>(a, [&](slot_t i, int, bool active) {
    if (active) work(i);
  });
}

/// Scalar i of vector k of the null space's basis.
template <class Form, class S>
__device__ S of_null_space(const krylov_args& a, int k, slot_t i) {
  if (Form::null_constant && k == 0) return S(real_of<S>(a.of_constant));
  return static_cast<const S*>(a.null_space)[(k - Form::null_constant) * a.scalars + i];
}

/// to = M of what `read`(i) gives, of which `after` sums up what follows, with `other`(i, what was read). Or the null
/// space's parts of it are: then project() comes next, since the sums without them would be differences of nearly equal
/// numbers.
template <class Form, class State, class S, class Grid, class Read, class Other, class Sums>
__device__ void precondition(const krylov_args& a, State& state, Grid& grid, S* to, const Read& read,
                             const Other& other, const Sums& after) {
  sums<S, Form::null_vectors ? Form::null_vectors : Sums::count> mine{};
  for_each_in_warps<Form>(a, [&](slot_t i, int lane, bool active) {
    const factor_row<Form> factors(a, i, active);
    const S from = active ? read(i) : S{};
    const S made = preconditioned<Form>(factors, from, lane, active);
    if (!active) return;
    if (to) to[i] = made;
    if constexpr (Form::null_vectors > 0)
      for (int k = 0; k < Form::null_vectors; ++k) mine.of[k] += conjugate(of_null_space<Form, S>(a, k, i)) * made;
    else
      after.add(mine, other(i, from), made);
  });
  grid.end_with_sums(a, mine, [&](const auto& total) {
    if constexpr (Form::null_vectors > 0)
      for (int k = 0; k < Form::null_vectors; ++k) state.parts.of[k] = total.of[k];
    else
      after.end(a, state, grid, total);
  });
}

/// What precondition() has left of the null space goes.
template <class Form, class State, class S, class Grid, class Sums>
__device__ void project(const krylov_args& a, State& state, Grid& grid, S* made, const S* other, const Sums& after) {
  if (state.stop != 0) return;
  const null_parts<S> parts = state.parts;
  sums<S, Sums::count> mine{};
  for_each_own<Form>(a, [&](slot_t i) {
    S v = made[i];
    for (int k = 0; k < Form::null_vectors; ++k) v -= of_null_space<Form, S>(a, k, i) * parts.of[k];
    made[i] = v;
    after.add(mine, other[i], v);
  });
  grid.end_with_sums(a, mine, [&](const auto& total) { after.end(a, state, grid, total); });
}

/// In the first stage of an iteration: whether the loop is over, so that the stages after a step have no work.
template <class Grid>
__device__ bool is_over(krylov_counts& s, const Grid& grid) {
  if (s.stop == 0) return false;
  if (grid.leads()) s.turns = 0;
  return true;
}

/// One thread.
template <class Form>
__device__ void krylov_go_on(const krylov_limits& a) {
  a.state->below = a.below;
  a.state->above = a.above;
  a.state->most = a.most;
  a.state->stop = a.stop;
}

template <class Form>
__device__ void krylov_set_unit(const krylov_unit& a) {
  const slot_t i = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < a.scalars) static_cast<typename Form::scalar*>(a.to)[i] = typename Form::scalar(i % a.columns == a.k ? 1 : 0);
}

#endif

}  // namespace compound
