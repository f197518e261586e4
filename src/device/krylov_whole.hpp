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

/// A block's place has two signals (peers.hpp) for each number, which say of which grid synchronization they are, and
/// lines of the second cache to itself: all blocks read all places, and places that share lines are read one after the
/// other.
inline constexpr int most_numbers = most_krylov_sums * 2, signals_of_place = 32;
static_assert(2 * most_numbers <= signals_of_place);
/// Blocks of a grid that synchronizes, as many as warps have lanes.
inline constexpr int most_warps_of_places = 32, most_blocks_of_whole = 32 * most_warps_of_places;
COMPOUND_FN slot_t signals_of(slot_t blocks) { return signals_of_place * (1 + 2 * blocks); }

struct whole_args {
  krylov_args loop;
  product_args product;   ///< its vectors are the loop's
  void* other = nullptr;  ///< another p; Form::two_grid_syncs only
  signal* signals =
      nullptr;  ///< [signals_of(blocks)], zeros before the first kernel: the synchronizations so far, then places
};

#if defined(__CUDA_ARCH__)

/// A vector that other blocks have written.
template <class S>
struct fresh_vector {
  const S* at = nullptr;
  COMPOUND_FN S operator[](slot_t i) const { return read<Cache::fresh>(at + i); }
  template <class Words>
  COMPOUND_FN void load(const Words& words, idx block, int n, S* to) const {
    words.template load<Cache::fresh>(at, block, n, to);
  }
};

/// Stages within one kernel, all of whose blocks are on the device at once (a cooperative launch).
///
/// The grid synchronizes by each block writing to a place of its own and all reading all of these places, which brings
/// the sums with it. A fence then lets them read what others have written, after which the first cache has forgotten
/// all it had. `keeps_words`: it is to keep the matrix from one iteration to the next. Then no block fences, and what
/// others have written, the products' vectors, is read past that cache; of all other vectors a thread reads what it has
/// written itself (for_each_own()).
template <bool keeps_words>
class one_kernel {
 public:
  __device__ explicit one_kernel(const whole_args& a)
      : places_(a.signals + signals_of_place), syncs_(unsigned(read_now(a.signals))) {}

  template <class S>
  __device__ static auto of_others(const S* v) {
    if constexpr (keeps_words)
      return fresh_vector<S>{v};
    else
      return v;
  }
  /// What any block wrote before is there for all of them after.
  __device__ void wait() {
    __syncthreads();
    syncs_ += 1;
    if (threadIdx.x == 0) publish(0, 0u);
    for_each_place(1, [&](int, slot_t block) {
      if (block < gridDim.x) wait_for<unsigned>(0, block);
    });
    __syncthreads();
  }
  /// The sum over all blocks; `end`(total) by a thread of each.
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args&, const sums<S, n>& mine, const End& end) {
    using R = real_of<S>;
    constexpr int numbers = n * int(sizeof(S) / sizeof(R));
    static_assert(numbers <= most_numbers);
    alignas(16) __shared__ unsigned char memory[numbers * most_warps_of_places * sizeof(R)];
    R* const of_warps = reinterpret_cast<R*>(memory);
    const sums<S, n> of_block = sum_over_block(mine);
    syncs_ += 1;
    if (threadIdx.x < 32) publish_all(of_block);
    for_each_place(numbers, [&](int number, slot_t block) {
      const R sum = sum_over_lanes<32>(block < gridDim.x ? wait_for<R>(number, block) : R{});
      if (block % 32 == 0) of_warps[number * most_warps_of_places + block / 32] = sum;
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      R total[numbers] = {};
      for (int i = 0; i < numbers; ++i)
        for (unsigned w = 0; w < warps_of_places(); ++w) total[i] += of_warps[i * most_warps_of_places + w];
      sums<S, n> all;
      memcpy(&all, total, sizeof(all));
      end(all);
    }
    __syncthreads();
  }
  /// After the last synchronization, by one thread of the grid.
  __device__ void leave(const whole_args& a) const { *a.signals = syncs_; }

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
  __device__ static void read_now(const signal* p, signal& s, signal& t) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(s), "=l"(t) : "l"(p) : "memory");
#else
    __nanosleep(0);  // where threads take turns
    s = p[0];
    t = p[1];
#endif
  }
  /// After all that this block has written.
  __device__ static void write_last(signal* p, signal s, signal t) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    asm volatile("st.release.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(p), "l"(s), "l"(t) : "memory");
#else
    p[0] = s;
    p[1] = t;
#endif
  }

  __device__ static unsigned warps_of_places() { return (gridDim.x + 31) / 32; }
  /// Of a number at this synchronization. Two sets of places in turn: no block writes to one again before all have
  /// synchronized once more, and so have read it.
  __device__ signal* place_of(int number, slot_t block) const {
    return places_ + (syncs_ % 2 * slot_t(gridDim.x) + block) * signals_of_place + 2 * number;
  }
  template <class R>
  __device__ void publish(int number, R value) const {
    bits32 half[2] = {};
    memcpy(half, &value, sizeof(value));
    const signal sync = signal(syncs_) << 32;
    write_last(place_of(number, blockIdx.x), sync | half[0], sync | half[1]);
  }
  /// By the first warp, whose lanes all have the sums.
  template <class S, int n>
  __device__ void publish_all(const sums<S, n>& of_block) const {
    using R = real_of<S>;
    constexpr int numbers = n * int(sizeof(S) / sizeof(R));
    R all[numbers];
    memcpy(all, &of_block, sizeof(all));
    R mine{};
    for (int i = 0; i < numbers; ++i)
      if (int(threadIdx.x) == i) mine = all[i];
    if (int(threadIdx.x) < numbers) publish(int(threadIdx.x), mine);
  }
  /// Waits for it.
  template <class R>
  __device__ R wait_for(int number, slot_t block) const {
    signal s, t;
    do read_now(place_of(number, block), s, t);
    while (s >> 32 != syncs_ || t >> 32 != syncs_);
    const bits32 half[2] = {bits32(s), bits32(t)};
    R value;
    memcpy(&value, half, sizeof(value));
    if constexpr (!keeps_words) fence_device();
    return value;
  }
  /// work(number, block) by whole warps for each number of each block, and for some blocks that are beyond the last.
  template <class Work>
  __device__ void for_each_place(int numbers, const Work& work) const {
    for (unsigned task = threadIdx.x / 32; task < numbers * warps_of_places(); task += blockDim.x / 32)
      work(int(task / warps_of_places()), slot_t(task % warps_of_places() * 32 + threadIdx.x % 32));
  }

  signal* places_;
  unsigned syncs_;
};

/// By all workers of the grid.
template <class Form, class Product>
__device__ void run_product(const whole_args& a, const Product& p) {
  const slot_t blocks = (workers_of<Form>(a.product.layout) + blockDim.x - 1) / blockDim.x;
  for (slot_t b = blockIdx.x; b < blocks; b += gridDim.x)
    multiply_worker<Form>(p, b * blockDim.x + threadIdx.x, nullptr);
}

/// The product with another x and what follows.
template <class Entry, class Stored, class Layout, class MatrixWords, class VectorWords, class Values, class Old,
          class Following, class Vector>
__device__ auto product_with(const product<Entry, Stored, Layout, MatrixWords, VectorWords, Values, Old>& p,
                             const Vector& x, const Following& following) {
  return product<Entry, Stored, Layout, MatrixWords, VectorWords, Values, Following, Vector>{
      p.entry, p.layout, p.matrix_words, p.x_words, p.y_words, p.value_of, p.values, x, p.z, p.y, following};
}

/// A x by all workers of the grid; what this thread has of the dot product of `with` with it.
template <class Form, Follow follow, class Vector, class Other>
__device__ sums<typename Form::scalar, 1> multiply_in_loop(const whole_args& a, const Vector& x, int to,
                                                           const Other& with) {
  using S = typename Form::scalar;
  const auto all = product_over<Form>(a.product);
  const auto run = [&](auto p) {
    p.y = vector_of<S>(a.loop, to);
    run_product<Form>(a, p);
    return p.following;
  };
  if constexpr (has_dot(follow)) {
    return {{run(product_with(all, x, dot_follows<follow, S, Other>{with})).sum}};
  } else {
    run(product_with(all, x, nothing_follows{}));
    return {};
  }
}

/// z + beta p, made where it is read.
template <class S, class Vector>
struct turned_vector {
  Vector z, p;
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

template <class Form, class S, class Grid>
__device__ void step_and_project(const krylov_args& a, cg_state<S>& s, Grid& grid) {
  cg_step<Form>(a, s, grid);
  __syncthreads();  // it may have stopped the loop by one thread
  if constexpr (Form::null_vectors > 0) cg_project<Form>(a, s, grid);
}

template <class Form, class S, class Grid>
__device__ void iterate(const whole_args& a, cg_state<S>& s, Grid& grid) {
  using V = cg_vectors;
  const auto p = grid.of_others(vector_of<S>(a.loop, V::p));
  grid.end_with_sums(a.loop, multiply_in_loop<Form, follow_of<Form>()>(a, p, V::w, p),
                     [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
  step_and_project<Form>(a.loop, s, grid);
  cg_turn<Form>(a.loop, s, grid);
}

template <class Form, class S, class Grid>
__device__ void iterate(const whole_args& a, bcgs_state<S>& s, Grid& grid) {
  using V = bcgs_vectors;
  const auto p = grid.of_others(vector_of<S>(a.loop, V::p)), of_s = grid.of_others(vector_of<S>(a.loop, V::s));
  const S* const shadow = vector_of<S>(a.loop, bcgs_shadow(Form::columns));
  if constexpr (Form::null_vectors > 0) {
    multiply_in_loop<Form, Follow::nothing>(a, p, V::w, shadow);
    grid.wait();
    bcgs_first<Form>(a.loop, s, grid);
    bcgs_project_first<Form>(a.loop, s, grid);
    bcgs_half<Form>(a.loop, s, grid);
  } else {
    grid.end_with_sums(a.loop, multiply_in_loop<Form, Follow::dot>(a, p, V::w, shadow),
                       [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
    bcgs_first<Form>(a.loop, s, grid);
  }
  grid.wait();
  multiply_in_loop<Form, Follow::nothing>(a, of_s, V::w, shadow);
  grid.wait();
  bcgs_second<Form>(a.loop, s, grid);
  if constexpr (Form::null_vectors > 0) bcgs_project_second<Form>(a.loop, s, grid);
  bcgs_step<Form>(a.loop, s, grid);
  bcgs_turn<Form>(a.loop, s, grid);
}

/// Iterations until the loop stops: their stages one after the other.
template <class Form, class State, class Grid>
__device__ void iterate_all(const whole_args& a, State& s, Grid& grid) {
  do {
    iterate<Form>(a, s, grid);
    grid.wait();
  } while (s.stop == 0);
}

/// CG with two grid synchronizations an iteration instead of three, and the same bits: the product makes the new
/// direction where it reads it, so that no block waits until all have written theirs. It is written beside the old one,
/// which others still read.
template <class Form, class S, class Grid>
requires(Form::two_grid_syncs) __device__ void iterate_all(const whole_args& a, cg_state<S>& s, Grid& grid) {
  using V = cg_vectors;
  S *const x = vector_of<S>(a.loop, V::x), *const p = vector_of<S>(a.loop, V::p);
  S *of_step = p, *other = static_cast<S*>(a.other);
  const S* z = p;  // the first direction is there already: p + 0 p
  S alpha{}, beta{};
  const auto turn = [&](S* to) {
    const cg_turn_pass<Form> pass{alpha, beta, z, of_step, x, to};
    for_each_own<Form>(a.loop, [&](slot_t i) { pass(i, nullptr); });
  };
  do {
    const turned_vector<S, decltype(grid.of_others(z))> direction{grid.of_others(z), grid.of_others(of_step), beta};
    const sums<S, 1> dot = multiply_in_loop<Form, follow_of<Form>()>(a, direction, V::w, direction);
    turn(other);
    grid.end_with_sums(a.loop, dot, [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
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
  one_kernel<Form::keeps_words> grid(a);
  __syncthreads();
  iterate_all<Form>(a, s, grid);
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  grid.leave(a);
  state_of<Form>(a.loop) = s;
  report_to_host(a.loop, s);
}

#endif

}  // namespace compound
