// Krylov loops as one kernel, products and all: its blocks, which are all on the device at once, wait for each other
// where queued kernels would. Which matrices gain is in docs/solvers.md.
//
// Each block keeps the loop's numbers for itself. All add up the same partial sums in the same order and so decide the
// same, and no block tells the others.
#pragma once

#include "bcgs.hpp"
#include "cg.hpp"
#include "kernels.hpp"

namespace compound {

/// What blocks tell each other: a number in the lower half, and in the upper one that of the meeting it is for, so that
/// whoever reads both at once needs no other sign that it is there.
using signal = unsigned long long;

/// In 32-bit words: sums of the largest scalars.
inline constexpr int most_signals = most_krylov_sums * 4;
COMPOUND_FN slot_t signals_of(slot_t blocks) { return 1 + 2 * most_signals * blocks; }

struct whole_args {
  krylov_args loop;
  product_args product;       ///< its vectors are the loop's
  void* other = nullptr;      ///< another p; Form::two_meetings only
  signal* signals = nullptr;  ///< [signals_of(blocks)], zeros before the first kernel: the meetings so far, then theirs
};

#if defined(__CUDA_ARCH__)

/// Stages within one kernel, all of whose blocks are on the device at once (a cooperative launch).
///
/// Blocks meet by each writing to a place of its own and all reading all of these places, which brings the sums with
/// it.
class one_kernel {
 public:
  __device__ explicit one_kernel(const whole_args& a)
      : signals_(a.signals + 1), meetings_(unsigned(read_now(a.signals))) {}

  /// What any block wrote before is there for all of them after.
  __device__ void wait() {
    __syncthreads();
    meet(sums<unsigned, 1>{});
    __syncthreads();
  }
  /// The sum over all blocks; `end`(total) by a thread of each.
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args&, const sums<S, n>& mine, const End& end) {
    const sums<S, n> total = sum_over_block(meet(sum_over_block(mine)));
    if (threadIdx.x == 0) end(total);
    __syncthreads();
  }
  /// After the last meeting, by one thread of the grid.
  __device__ void leave(const whole_args& a) const { *a.signals = meetings_; }

  __device__ bool leads() const { return threadIdx.x == 0; }
  __device__ void before_it_writes() const { __syncthreads(); }
  __device__ void keep(const krylov_args& a, const krylov_counts& s, const krylov_news& news) const {
    if (blockIdx.x == 0) a.news[s.norms % a.ring] = news;
  }
  __device__ void report(const krylov_args&, const krylov_counts&) const {}  // when the kernel ends

 private:
  __device__ static signal read_now(const signal* p) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    signal s;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(s) : "l"(p) : "memory");
    return s;
#else
    return *p;
#endif
  }
  __device__ static void write_now(signal* p, signal s) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(s) : "memory");
#else
    *p = s;
#endif
  }

  /// What thread 0 of all blocks has, shared out among the threads of this one: their sum is that of all, added up in
  /// the same order by every block.
  template <class S, int n>
  __device__ sums<S, n> meet(const sums<S, n>& of_block) {
    constexpr int words = int(sizeof(of_block) / sizeof(bits32));
    static_assert(words <= most_signals);
    // Two sets of places in turn: nobody writes to one again before all have met once more, and so have read it.
    meetings_ += 1;
    signal* const places = signals_ + meetings_ % 2 * (most_signals * slot_t(gridDim.x));
    if (threadIdx.x == 0) {
      bits32 of_words[words];
      memcpy(of_words, &of_block, sizeof(of_block));
      fence_device();
      for (int w = 0; w < words; ++w)
        write_now(places + w * slot_t(gridDim.x) + blockIdx.x, signal(meetings_) << 32 | of_words[w]);
    }
    sums<S, n> sum{};
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
      bits32 of_words[words];
      for (bool all_there = false; !all_there;) {
        all_there = true;
        for (int w = 0; w < words; ++w) {
          const signal s = read_now(places + w * slot_t(gridDim.x) + block);
          all_there = all_there && s >> 32 == meetings_;
          of_words[w] = bits32(s);
        }
      }
      sums<S, n> other;
      memcpy(&other, of_words, sizeof(other));
      for (int i = 0; i < n; ++i) sum.of[i] += other.of[i];
      fence_device();
    }
    return sum;
  }

  signal* signals_;
  unsigned meetings_;
};

/// By all workers of the grid.
template <class Form, class Product>
__device__ void run_product(const whole_args& a, const Product& p) {
  const slot_t blocks = (workers_of<Form>(a.product.layout) + blockDim.x - 1) / blockDim.x;
  for (slot_t b = blockIdx.x; b < blocks; b += gridDim.x)
    multiply_worker<Form>(p, b * blockDim.x + threadIdx.x, nullptr);
}

/// to = A from; what this thread has of the dot product that follows, if one does.
template <class Form>
__device__ sums<typename Form::scalar, 1> multiply_in_loop(const whole_args& a, int from, int to) {
  using S = typename Form::scalar;
  auto p = product_over<Form>(a.product);
  p.x = vector_of<S>(a.loop, from);
  p.y = vector_of<S>(a.loop, to);
  if constexpr (has_dot(follow_of<Form>())) p.following.w = p.x;
  run_product<Form>(a, p);
  if constexpr (has_dot(follow_of<Form>()))
    return {{p.following.sum}};
  else
    return {};
}

/// z + beta p, made where it is read.
template <class S>
struct turned_vector {
  const S *z = nullptr, *p = nullptr;
  S beta = {};
  COMPOUND_FN S operator[](slot_t i) const {
    S v = z[i];
    v += beta * p[i];
    return v;
  }
  template <class Words>
  COMPOUND_FN void load(const Words& words, idx block, int n, S* to) const {
    S of_p[32];  // blocks are no larger
    words.load(z, block, n, to);
    words.load(p, block, n, of_p);
    for (int i = 0; i < n; ++i) to[i] += beta * of_p[i];
  }
};

/// The product with another x and what follows.
template <class Entry, class Stored, class Layout, class MatrixWords, class VectorWords, class Values, class Old,
          class Following, class Vector>
__device__ auto product_with(const product<Entry, Stored, Layout, MatrixWords, VectorWords, Values, Old>& p,
                             const Vector& x, const Following& following) {
  return product<Entry, Stored, Layout, MatrixWords, VectorWords, Values, Following, Vector>{
      p.entry, p.layout, p.matrix_words, p.x_words, p.y_words, p.value_of, p.values, x, p.z, p.y, following};
}

template <class Form, class S>
__device__ void step_and_project(const krylov_args& a, cg_state<S>& s, one_kernel& grid) {
  cg_step<Form>(a, s, grid);
  __syncthreads();  // it may have stopped the loop by one thread
  if constexpr (Form::null_vectors > 0) cg_project<Form>(a, s, grid);
}

template <class Form, class S>
__device__ void iterate(const whole_args& a, cg_state<S>& s, one_kernel& grid) {
  using V = cg_vectors;
  grid.end_with_sums(a.loop, multiply_in_loop<Form>(a, V::p, V::w),
                     [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
  step_and_project<Form>(a.loop, s, grid);
  cg_turn<Form>(a.loop, s, grid);
}

template <class Form, class S>
__device__ void iterate(const whole_args& a, bcgs_state<S>& s, one_kernel& grid) {
  using V = bcgs_vectors;
  multiply_in_loop<Form>(a, V::p, V::w);
  grid.wait();
  bcgs_first<Form>(a.loop, s, grid);
  if constexpr (Form::null_vectors > 0) bcgs_project_first<Form>(a.loop, s, grid);
  bcgs_half<Form>(a.loop, s, grid);
  grid.wait();
  multiply_in_loop<Form>(a, V::s, V::w);
  grid.wait();
  bcgs_second<Form>(a.loop, s, grid);
  if constexpr (Form::null_vectors > 0) bcgs_project_second<Form>(a.loop, s, grid);
  bcgs_step<Form>(a.loop, s, grid);
  bcgs_turn<Form>(a.loop, s, grid);
}

/// Iterations until the loop stops: their stages one after the other.
template <class Form, class State>
__device__ void iterate_all(const whole_args& a, State& s, one_kernel& grid) {
  do {
    iterate<Form>(a, s, grid);
    grid.wait();
  } while (s.stop == 0);
}

/// CG with two meetings an iteration instead of three, and the same bits: the product makes the new direction where it
/// reads it, so that nobody waits until all have written theirs. It is written beside the old one, which others still
/// read.
template <class Form, class S>
requires(Form::two_meetings) __device__ void iterate_all(const whole_args& a, cg_state<S>& s, one_kernel& grid) {
  using V = cg_vectors;
  S *const x = vector_of<S>(a.loop, V::x), *const p = vector_of<S>(a.loop, V::p);
  S *of_step = p, *other = static_cast<S*>(a.other);
  const S* z = p;  // the first direction is there already: p + 0 p
  S alpha{}, beta{};
  const auto turn = [&](S* to) {
    const cg_turn_pass<Form> pass{alpha, beta, z, of_step, x, to};
    for_each_scalar(a.loop.scalars, [&](slot_t i) { pass(i, nullptr); });
  };
  do {
    const turned_vector<S> direction{z, of_step, beta};
    auto product = product_with(product_over<Form>(a.product), direction,
                                dot_follows<follow_of<Form>(), S, turned_vector<S>>{direction});
    product.y = vector_of<S>(a.loop, V::w);
    run_product<Form>(a, product);
    turn(other);
    grid.end_with_sums(a.loop, sums<S, 1>{{product.following.sum}},
                       [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
    step_and_project<Form>(a.loop, s, grid);
    S* const before = of_step;
    of_step = other;
    other = before;
    z = vector_of<S>(a.loop, has_z<Form> ? V::z : V::r);
    alpha = s.alpha;
    beta = s.beta;
  } while (s.stop == 0);
  if (s.turns) turn(p);
}

/// A whole run.
template <class Form>
__device__ void krylov_whole(const whole_args& a) {
  using State = typename Form::state;
  alignas(16) __shared__ unsigned char memory[sizeof(State)];
  State& s = *reinterpret_cast<State*>(memory);
  if (threadIdx.x == 0) s = state_of<Form>(a.loop);
  one_kernel grid(a);
  __syncthreads();
  iterate_all<Form>(a, s, grid);
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  grid.leave(a);
  state_of<Form>(a.loop) = s;
  report_to_host(a.loop, s);
}

#endif

}  // namespace compound
