// Krylov loops as one kernel, products and all: its blocks, which are all on the device at once, wait for each other
// where queued kernels would. Which matrices gain is in docs/solvers.md.
//
// Each block keeps the loop's numbers for itself. All add up the same partial sums in the same order and so decide the
// same, and no block tells the others. Of several processes each runs such a kernel, and the blocks of all of them are
// as those of one: they write into places in the memory of each process.
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
/// Of places: two for each block, in turn.
COMPOUND_FN constexpr slot_t signals_of_places(slot_t blocks) { return 2 * blocks * signals_of_place; }

/// Whose ghost a block of a vector is, and which.
struct ghost_target {
  short process = 0, last = 0;  ///< `last`: no other process reads this block
  count32 block = 0;            ///< of that process's ghosts
};

/// What the kernels of several processes share.
struct whole_peers {
  int rank = 0, processes = 1;
  slot_t first[most_peers + 1] = {};  ///< of each process: how many blocks of threads those before it have
  signal* places[most_peers] = {};    ///< [signals_of_places(all blocks)] in the memory of each process
  patience waits;

  product_args product;              ///< by ghosts, which gives `beside`
  void* beside = nullptr;            ///< zeros in rows that read no ghost; null: none does
  int width = 1;                     ///< scalars of a block
  slot_t ghosts = 0;                 ///< scalars
  slot_t apart[most_peers] = {};     ///< of each process: scalars from one vector's ghosts to another's
  void* ghosts_of[most_peers] = {};  ///< in its memory
  void* old[2] = {};                 ///< [ghosts] of p; Form::two_grid_syncs only
  const count32* given = nullptr;    ///< [block rows]: 0, or 1 + the first of those that read it
  const ghost_target* targets = nullptr;
};

struct whole_args {
  krylov_args loop;
  product_args product;      ///< its vectors are the loop's
  void* other = nullptr;     ///< another p; Form::two_grid_syncs only
  signal* syncs = nullptr;   ///< synchronizations so far, which the host begins with 0
  signal* places = nullptr;  ///< [signals_of_places(blocks)], zeros before the first kernel; of one process
  whole_peers peers;         ///< Form::of_peers only
};

/// Most forms do not say it.
template <class Form>
COMPOUND_FN constexpr bool is_of_peers() {
  if constexpr (requires { Form::of_peers; }) return Form::of_peers;
  return false;
}

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

/// The sum of two vectors, made where it is read.
template <class Vector>
struct sum_of_vectors {
  Vector a, b;
  COMPOUND_FN auto operator[](slot_t i) const {
    auto v = a[i];
    v += b[i];
    return v;
  }
};

__device__ inline signal read_now(const signal* p) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  signal s;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(s) : "l"(p) : "memory");
  return s;
#else
  return *p;
#endif
}

/// Places of the blocks of one grid.
class places_of_grid {
 public:
  struct wait_so_far {};

  __device__ places_of_grid(const whole_args& a, int*) : places_(a.places) {}

  __device__ slot_t first() const { return 0; }
  __device__ slot_t count() const { return gridDim.x; }
  /// `acquires`: what the block that wrote them had written before is there for what this thread reads after.
  template <bool acquires>
  __device__ void read(slot_t at, signal& s, signal& t) const {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    if constexpr (acquires)
      asm volatile("ld.acquire.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(s), "=l"(t) : "l"(places_ + at) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(s), "=l"(t) : "l"(places_ + at) : "memory");
#else
    __nanosleep(0);  // where threads take turns
    s = places_[at];
    t = places_[at + 1];
#endif
  }
  /// After all that this block has written.
  __device__ void write(slot_t at, signal s, signal t, bool) const {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    asm volatile("st.release.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(places_ + at), "l"(s), "l"(t) : "memory");
#else
    places_[at] = s;
    places_[at + 1] = t;
#endif
  }
  __device__ bool gives_up(wait_so_far&, slot_t) const { return false; }
  __device__ bool is_lost() const { return false; }

 private:
  signal* places_;
};

/// Places of the blocks of several processes' grids, in the order of their ranks.
class places_of_processes {
 public:
  struct wait_so_far {
    unsigned looks = 0;
    unsigned long long start = 0;
  };

  __device__ places_of_processes(const whole_args& a, int* lost) : peers_(a.peers), lost_(lost) {}

  __device__ slot_t first() const { return peers_.first[peers_.rank]; }
  __device__ slot_t count() const { return peers_.first[peers_.processes]; }
  template <bool acquires>
  __device__ void read(slot_t at, signal& s, signal& t) const {
    const signal* const p = peers_.places[peers_.rank] + at;
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    if constexpr (acquires)
      asm volatile("ld.acquire.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(s), "=l"(t) : "l"(p) : "memory");
    else
      asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(s), "=l"(t) : "l"(p) : "memory");
#else
    __nanosleep(1);
    s = *static_cast<const volatile signal*>(p);
    t = *static_cast<const volatile signal*>(p + 1);
#endif
  }
  /// To all processes. `gave`: what was written before into their memory, too; else they read this alone.
  __device__ void write(slot_t at, signal s, signal t, bool gave) const {
    if (gave)
      fence_system();
    else
      fence_device();
    for (int p = 0; p < peers_.processes; ++p) {
      signal* const to = peers_.places[p] + at;
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
      asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" : : "l"(to), "l"(s), "l"(t) : "memory");
#else
      *static_cast<volatile signal*>(to) = s;
      *static_cast<volatile signal*>(to + 1) = t;
#endif
    }
  }
  /// Whether the wait has been in vain, or that of another thread or process.
  __device__ bool gives_up(wait_so_far& w, slot_t place) const {
    constexpr unsigned looks_before_clock = 1024;
    if (++w.looks % looks_before_clock != 0) return false;
    const unsigned long long now = now_in_nanoseconds();
    if (w.start == 0) w.start = now;
    const unsigned long long waited = now - w.start;
    volatile int* const lost = &peers_.waits.report->lost;
    if (waited < peers_.waits.nanoseconds && (waited < nanoseconds_before_report || *lost == 0)) return false;
    int process = 0;
    while (place >= peers_.first[process + 1]) ++process;
    if (*lost == 0) *lost = 1 + process;
    *lost_ = 1;
    return true;
  }
  /// Of this block; the same for all its threads after a barrier.
  __device__ bool is_lost() const { return *static_cast<volatile int*>(lost_) != 0; }

 private:
  const whole_peers& peers_;
  int* lost_;
};

template <bool of_peers>
struct block_places {
  using type = places_of_grid;
};
template <>
struct block_places<true> {
  using type = places_of_processes;
};

/// Stages within one kernel, all of whose blocks are on the device at once (a cooperative launch).
///
/// The grid synchronizes by each block writing to a place of its own and all reading all of these places, which brings
/// the sums with it. This read acquires what others have written, after which the first cache has forgotten all it had.
/// Form::keeps_words: it is to keep the matrix from one iteration to the next. Then no block acquires, and what others
/// have written, the products' vectors, is read past that cache; of all other vectors a thread reads what it has
/// written itself (for_each_own()).
template <class Form>
class one_kernel {
 public:
  static constexpr bool of_peers = is_of_peers<Form>(), keeps_words = Form::keeps_words;
  using Places = typename block_places<of_peers>::type;

  /// `counts` and `lost`, 0, are of all the block's threads.
  __device__ one_kernel(const whole_args& a, krylov_counts& counts, int* lost)
      : args_(a), counts_(counts), places_(a, lost), syncs_(unsigned(read_now(a.syncs))) {}

  template <class S>
  __device__ static auto of_others(const S* v) {
    if constexpr (keeps_words)
      return fresh_vector<S>{v};
    else
      return v;
  }
  /// A product that is `v`, or with what `beside` has of it.
  template <class S>
  __device__ auto of_product(const S* v) const {
    if constexpr (has_ghosts())
      return sum_of_vectors<decltype(of_others(v))>{of_others(v), of_others(static_cast<const S*>(args_.peers.beside))};
    else
      return of_others(v);
  }
  __device__ static constexpr bool has_ghosts() {
    if constexpr (of_peers) return Form::has_ghosts;
    return false;
  }
  /// What other processes read of v is with them after the next synchronization: their ghosts of vector `which`.
  template <class S>
  __device__ void give(const S* v, int which) {
    if constexpr (of_peers) {
      given_ = v;
      which_ = which;
    }
  }

  /// What any block wrote before is there for all of them after; of other processes' after wait_for_others().
  __device__ void wait() {
    begin_sync();
    __syncthreads();
    if (threadIdx.x == 0) publish(0, 0u);
    wait_for_places(places_.first(), gridDim.x);
    waits_for_others_ = of_peers;
  }
  __device__ void wait_for_others() {
    if constexpr (of_peers) {
      if (!waits_for_others_) return;
      waits_for_others_ = false;
      __syncthreads();
      wait_for_places(0, places_.first());
      wait_for_places(places_.first() + gridDim.x, places_.count() - places_.first() - gridDim.x);
    }
  }
  /// The sum over all blocks; `end`(total) by a thread of each.
  template <class S, int n, class End>
  __device__ void end_with_sums(const krylov_args&, const sums<S, n>& mine, const End& end) {
    using R = real_of<S>;
    constexpr int numbers = n * int(sizeof(S) / sizeof(R));
    static_assert(numbers <= most_numbers);
    alignas(16) __shared__ unsigned char memory[numbers * most_warps_of_places * sizeof(R)];
    R* const of_warps = reinterpret_cast<R*>(memory);
    begin_sync();
    const sums<S, n> of_block = sum_over_block(mine);
    if (threadIdx.x < 32) publish_all(of_block);
    for_each_place(numbers, 0, places_.count(), [&](int number, slot_t place, bool is_place) {
      const R sum = sum_over_lanes<32>(is_place ? wait_for<R>(number, place) : R{});
      if (place % 32 == 0) of_warps[number * most_warps_of_places + place / 32] = sum;
    });
    __syncthreads();
    if (threadIdx.x == 0 && !ends_lost()) {
      R total[numbers] = {};
      for (int i = 0; i < numbers; ++i)
        for (unsigned w = 0; w < warps_of(places_.count()); ++w) total[i] += of_warps[i * most_warps_of_places + w];
      sums<S, n> all;
      memcpy(&all, total, sizeof(all));
      end(all);
    }
    __syncthreads();
  }
  /// After the last synchronization, by one thread of the grid.
  __device__ void leave(const whole_args& a) const { *a.syncs = syncs_; }

  __device__ bool leads() const { return threadIdx.x == 0; }
  __device__ void before_it_writes() const { __syncthreads(); }
  __device__ void keep(const krylov_args& a, const krylov_counts& s, const krylov_news& news) const {
    if (blockIdx.x == 0) a.news[s.norms % a.ring] = news;
  }
  __device__ void report(const krylov_args&, const krylov_counts&) const {}  // when the kernel ends

 private:
  __device__ static unsigned warps_of(slot_t places) { return unsigned((places + 31) / 32); }
  /// Of a number at this synchronization. Two sets of places in turn: no block writes to one again before all have
  /// synchronized once more, and so have read it.
  __device__ slot_t place_of(int number, slot_t place) const {
    return (syncs_ % 2 * places_.count() + place) * signals_of_place + 2 * number;
  }
  /// The last one ends before.
  __device__ void begin_sync() {
    wait_for_others();
    if constexpr (of_peers) give_now();
    syncs_ += 1;
  }
  template <class R>
  __device__ void publish(int number, R value) const {
    bits32 half[2] = {};
    memcpy(half, &value, sizeof(value));
    const signal sync = signal(syncs_) << 32;
    places_.write(place_of(number, places_.first() + blockIdx.x), sync | half[0], sync | half[1], gave_);
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
  __device__ R wait_for(int number, slot_t place) const {
    signal s, t;
    typename Places::wait_so_far so_far;
    do places_.template read<!keeps_words>(place_of(number, place), s, t);
    while ((s >> 32 != syncs_ || t >> 32 != syncs_) && !places_.gives_up(so_far, place));
    const bits32 half[2] = {bits32(s), bits32(t)};
    R value;
    memcpy(&value, half, sizeof(value));
    return value;
  }
  /// work(number, place, whether it is one) by whole warps for each number of `count` places.
  template <class Work>
  __device__ void for_each_place(int numbers, slot_t first, slot_t count, const Work& work) const {
    const unsigned warps = warps_of(count);
    for (unsigned task = threadIdx.x / 32; task < numbers * warps; task += blockDim.x / 32) {
      const slot_t i = slot_t(task % warps) * 32 + threadIdx.x % 32;
      work(int(task / warps), first + i, i < count && !places_.is_lost());
    }
  }
  __device__ void wait_for_places(slot_t first, slot_t count) {
    for_each_place(1, first, count, [&](int, slot_t place, bool is_place) {
      if (is_place) wait_for<unsigned>(0, place);
    });
    __syncthreads();
    if constexpr (of_peers) {
      if (!places_.is_lost()) return;
      if (threadIdx.x == 0) ends_lost();
      __syncthreads();
    }
  }
  /// Whether a process is lost, with which the loop ends. One thread.
  __device__ bool ends_lost() const {
    if (!places_.is_lost()) return false;
    counts_.stop = int(KrylovStop::lost_peer);
    counts_.turns = 0;
    return true;
  }
  /// By the threads that have written it.
  __device__ void give_now() {
    using S = typename Form::scalar;
    gave_ = given_ != nullptr;
    if (!gave_) return;
    const whole_peers& p = args_.peers;
    for_each_own<Form>(args_.loop, [&](slot_t i) {
      const count32 given = p.given[i / p.width];
      if (given == 0) return;
      const S value = static_cast<const S*>(given_)[i];
      for (const ghost_target* to = p.targets + given - 1;; ++to) {
        S* const ghosts = static_cast<S*>(p.ghosts_of[to->process]) + which_ * p.apart[to->process];
        ghosts[slot_t(to->block) * p.width + i % p.width] = value;
        if (to->last) break;
      }
    });
    given_ = nullptr;
  }

  const whole_args& args_;
  krylov_counts& counts_;
  Places places_;
  unsigned syncs_;
  const void* given_ = nullptr;  ///< a vector of which others read; of peers alone, as what follows
  int which_ = 0;
  bool gave_ = false, waits_for_others_ = false;
};

/// By all workers of the grid.
template <class Form, class Product>
__device__ void run_product(const product_args& a, const Product& p) {
  const slot_t blocks = (workers_of<Form>(a.layout) + blockDim.x - 1) / blockDim.x;
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

/// y = A x by all workers of the grid; what this thread has of the dot product of `with` with it.
template <class Form, Follow follow, class S, class Vector, class Other>
__device__ S multiply_all_rows(const product_args& a, const Vector& x, S* y, const Other& with) {
  const auto all = product_over<Form>(a);
  const auto run = [&](auto p) {
    p.y = y;
    run_product<Form>(a, p);
    return p.following;
  };
  if constexpr (has_dot(follow)) {
    return run(product_with(all, x, dot_follows<follow, S, Other>{with})).sum;
  } else {
    run(product_with(all, x, nothing_follows{}));
    return {};
  }
}

/// The loop's A x, with what `ghosts` add to it where there are any.
template <class Form, Follow follow, class Vector, class Ghosts, class Other>
__device__ sums<typename Form::scalar, 1> multiply_in_loop(const whole_args& a, one_kernel<Form>& grid, const Vector& x,
                                                           const Ghosts& ghosts, int to, const Other& with) {
  using S = typename Form::scalar;
  S dot = multiply_all_rows<Form, follow>(a.product, x, vector_of<S>(a.loop, to), with);
  grid.wait_for_others();
  if constexpr (one_kernel<Form>::has_ghosts())
    dot += multiply_all_rows<typename Form::of_ghosts, follow>(a.peers.product, ghosts, static_cast<S*>(a.peers.beside),
                                                               with);
  return {{dot}};
}

/// What the other processes have given of the loop's vector `which`.
template <class Form>
__device__ auto ghosts_of(const whole_args& a, int which) {
  using S = typename Form::scalar;
  fresh_vector<S> ghosts;
  if constexpr (one_kernel<Form>::has_ghosts()) {
    const whole_peers& p = a.peers;
    ghosts.at = static_cast<const S*>(p.ghosts_of[p.rank]) + which * p.apart[p.rank];
  }
  return ghosts;
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

/// `before_last`() before the stage that makes z.
template <class Form, class S, class Grid, class Before>
__device__ void step_and_project(const krylov_args& a, cg_state<S>& s, Grid& grid, const Before& before_last) {
  if constexpr (Form::null_vectors == 0) before_last();
  cg_step<Form>(a, s, grid);
  __syncthreads();  // it may have stopped the loop by one thread
  if constexpr (Form::null_vectors > 0) {
    before_last();
    cg_project<Form>(a, s, grid);
  }
}

/// Ghosts of the direction, which a process makes for itself from those of z that it is given, where the product does.
template <class Form>
class own_ghosts {
 public:
  using S = typename Form::scalar;

  __device__ explicit own_ghosts(const whole_args& a) : args_(a), z_(ghosts_of<Form>(a, 0)), of_step_(z_) {}
  __device__ auto direction(S beta) const { return turned_vector<S, fresh_vector<S>>{z_, of_step_, beta}; }
  /// What direction() is becomes that of the step.
  __device__ void turn(S beta) {
    if constexpr (one_kernel<Form>::has_ghosts()) {
      const whole_peers& p = args_.peers;
      S* const to = static_cast<S*>(p.old[turns_++ % 2]);
      const auto made = direction(beta);
      for (slot_t i = slot_t(blockIdx.x) * blockDim.x + threadIdx.x; i < p.ghosts; i += slot_t(gridDim.x) * blockDim.x)
        to[i] = made[i];
      of_step_.at = to;
    }
  }

 private:
  const whole_args& args_;
  fresh_vector<S> z_, of_step_;
  int turns_ = 0;
};

/// By which an iteration multiplies first.
template <class S>
__device__ constexpr int direction_of(const cg_state<S>&) {
  return cg_vectors::p;
}
template <class S>
__device__ constexpr int direction_of(const bcgs_state<S>&) {
  return bcgs_vectors::p;
}

template <class Form, class S, class Grid>
__device__ void iterate(const whole_args& a, cg_state<S>& s, Grid& grid) {
  using V = cg_vectors;
  const auto p = grid.of_others(vector_of<S>(a.loop, V::p));
  grid.end_with_sums(a.loop, multiply_in_loop<Form, follow_of<Form>()>(a, grid, p, ghosts_of<Form>(a, 0), V::w, p),
                     [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
  step_and_project<Form>(a.loop, s, grid, [] {});
  cg_turn<Form>(a.loop, s, grid);
}

template <class Form, class S, class Grid>
__device__ void iterate(const whole_args& a, bcgs_state<S>& s, Grid& grid) {
  using V = bcgs_vectors;
  const S* const of_s = vector_of<S>(a.loop, V::s);
  const auto p = grid.of_others(vector_of<S>(a.loop, V::p));
  const auto of_p = ghosts_of<Form>(a, 0);
  const S* const shadow = vector_of<S>(a.loop, bcgs_shadow(Form::columns));
  if constexpr (Form::null_vectors > 0) {
    multiply_in_loop<Form, Follow::nothing>(a, grid, p, of_p, V::w, shadow);
    grid.wait();
    bcgs_first<Form>(a.loop, s, grid);
    bcgs_project_first<Form>(a.loop, s, grid);
    bcgs_half<Form>(a.loop, s, grid);
  } else {
    grid.end_with_sums(a.loop, multiply_in_loop<Form, Follow::dot>(a, grid, p, of_p, V::w, shadow),
                       [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
    bcgs_first<Form>(a.loop, s, grid);
  }
  grid.give(of_s, 1);
  grid.wait();
  multiply_in_loop<Form, Follow::nothing>(a, grid, grid.of_others(of_s), ghosts_of<Form>(a, 1), V::w, shadow);
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
    grid.give(vector_of<typename Form::scalar>(a.loop, direction_of(s)), 0);
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
  own_ghosts<Form> ghosts(a);
  const auto turn = [&](S* to) {
    const cg_turn_pass<Form> pass{alpha, beta, z, of_step, x, to};
    for_each_own<Form>(a.loop, [&](slot_t i) { pass(i, nullptr); });
  };
  do {
    const turned_vector<S, decltype(grid.of_others(z))> direction{grid.of_others(z), grid.of_others(of_step), beta};
    const sums<S, 1> dot =
        multiply_in_loop<Form, follow_of<Form>()>(a, grid, direction, ghosts.direction(beta), V::w, direction);
    turn(other);
    ghosts.turn(beta);
    grid.end_with_sums(a.loop, dot, [&](const sums<S, 1>& total) { s.dot = total.of[0]; });
    z = vector_of<S>(a.loop, has_z<Form> ? V::z : V::r);
    step_and_project<Form>(a.loop, s, grid, [&] { grid.give(z, 0); });
    S* const before = of_step;
    of_step = other;
    other = before;
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
  __shared__ int lost;
  State& s = *reinterpret_cast<State*>(memory);
  if (threadIdx.x == 0) {
    s = state_of<Form>(a.loop);
    lost = 0;
  }
  one_kernel<Form> grid(a, s, &lost);
  __syncthreads();
  if constexpr (is_of_peers<Form>()) {  // the ghosts of the direction that is there
    grid.give(vector_of<typename Form::scalar>(a.loop, direction_of(s)), 0);
    grid.wait();
    if (s.stop == 0) iterate_all<Form>(a, s, grid);
    grid.wait_for_others();  // the next kernel begins with a synchronization
  } else {
    iterate_all<Form>(a, s, grid);
  }
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  grid.leave(a);
  state_of<Form>(a.loop) = s;
  report_to_host(a.loop, s);
}

#endif

}  // namespace compound
