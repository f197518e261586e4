// What the device text uses of CUDA, for the host: the threads of a block are contexts that take turns, and the warp's
// exchanges and the block's barriers wait for each other as they do on a device. To be included within a namespace,
// which has the device text itself next, so that no function of it can be the one that the rest of the program links
// to; after <sched.h>, <ucontext.h>, <array>, <cmath>, <cstring>, <functional>, <memory>, <stdexcept> and <vector>.
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
struct double2 {
  double x, y;
};
struct Number {
  unsigned x, y = 0;
};
Number threadIdx, blockIdx, blockDim, gridDim;

constexpr unsigned warp_size = 32, most_bytes = 8;

/// The contexts of one block of threads, which take turns until each has ended. A warp goes on as far as it can before
/// the next one does, so that a barrier that is missing shows; the order of warps is up to the caller.
class Block {
 public:
  explicit Block(unsigned threads) : threads_(threads), warps_(threads / warp_size) {}

  void run(const std::function<void()>& kernel, bool last_warp_first) {
    kernel_ = &kernel;
    instance() = this;
    left_ = threads_.size();
    for (unsigned t = 0; t < left_; ++t) start(t);
    while (left_ > 0) {
      bool any = false;
      for (unsigned w = 0; w < warps_.size(); ++w)
        while (run_warp(last_warp_first ? unsigned(warps_.size()) - 1 - w : w)) any = true;
      if (!any && !waits_outside_) throw std::logic_error("threads wait for each other for ever");
      if (!any) sched_yield();
      waits_outside_ = false;
    }
  }

  void wait_for_block() { wait(block_, threads_.size()); }

  /// What all lanes of this thread's warp give; they must all call for the same `what`.
  template <class T>
  std::array<T, warp_size> exchange(T value, int what) {
    static_assert(sizeof(T) <= most_bytes);
    Warp& warp = warps_[now_ / warp_size];
    auto& values = warp.values[threads_[now_].turn ^= 1];  // two in turn: a late thread may still read the other
    std::memcpy(values.of[now_ % warp_size], &value, sizeof(T));
    values.what[now_ % warp_size] = what;
    wait(warp.barrier, warp_size);
    std::array<T, warp_size> all;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (values.what[lane] != what) throw std::logic_error("lanes of a warp do different things");
      std::memcpy(&all[lane], values.of[lane], sizeof(T));
    }
    return all;
  }
  unsigned lane() const { return now_ % warp_size; }
  /// The others' turn; of no use if none of them gets on, and no other process of the system.
  void yield(bool waits_outside = false) {
    waits_outside_ |= waits_outside;
    swapcontext(&threads_[now_].context, &scheduler_);
  }

  static Block*& instance() {
    static Block* block = nullptr;
    return block;
  }

 private:
  struct Barrier {
    std::size_t arrived = 0, generation = 0;
  };
  struct Values {
    unsigned char of[warp_size][most_bytes];
    int what[warp_size];
  };
  struct Warp {
    Barrier barrier;
    Values values[2];
  };
  struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool ended = false;
    unsigned turn = 0;
  };

  /// Whether any of its threads got on.
  bool run_warp(unsigned warp) {
    moved_ = false;
    for (unsigned t = warp * warp_size; t < (warp + 1) * warp_size; ++t) {
      if (threads_[t].ended) continue;
      threadIdx.x = now_ = t;
      swapcontext(&scheduler_, &threads_[t].context);
      if (threads_[t].ended) --left_, moved_ = true;
    }
    return moved_;
  }
  void start(unsigned t) {
    constexpr std::size_t stack_bytes = 64 << 10;
    Thread& thread = threads_[t];
    thread.ended = false;
    if (!thread.stack) thread.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = stack_bytes;
    thread.context.uc_link = &scheduler_;
    makecontext(&thread.context, &Block::begin, 0);
  }
  static void begin() {
    Block& block = *instance();
    (*block.kernel_)();
    block.threads_[block.now_].ended = true;
  }
  void wait(Barrier& barrier, std::size_t all) {
    const std::size_t generation = barrier.generation;
    if (++barrier.arrived == all) {
      barrier.arrived = 0;
      ++barrier.generation;
    }
    while (barrier.generation == generation) yield();
    moved_ = true;
  }

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Barrier block_;
  ucontext_t scheduler_;
  const std::function<void()>* kernel_ = nullptr;
  unsigned now_ = 0, left_ = 0;
  bool moved_ = false, waits_outside_ = false;
};

Block& block() { return *Block::instance(); }

// What the device text uses of CUDA.
// NOLINTBEGIN(bugprone-reserved-identifier): names of CUDA
void __threadfence() {}  // the threads of all blocks are one
void __syncthreads() { block().wait_for_block(); }
/// Two results in turn: a late thread may still read the other.
int __syncthreads_or(int v) {
  static unsigned calls = 0, turn = 0;
  static int any[2] = {0, 0};
  const unsigned mine = turn;
  any[mine] |= v;
  if (++calls == blockDim.x) {
    calls = 0;
    turn ^= 1;
    any[turn] = 0;
  }
  block().wait_for_block();
  return any[mine];
}
/// What launches give is set before them.
unsigned char*& dynamic_shared_memory() {
  static unsigned char* memory = nullptr;
  return memory;
}
/// 0: while others of the block work; else while another process does.
void __nanosleep(unsigned time) { block().yield(time > 0); }
void __syncwarp() { block().exchange(0, 6); }
template <class T>
T __shfl_sync(unsigned, T v, int lane) {
  return block().exchange(v, 1)[lane];
}
template <class T>
T __shfl_xor_sync(unsigned, T v, int step) {
  return block().exchange(v, 2)[block().lane() ^ unsigned(step)];
}
template <class T>
T __shfl_up_sync(unsigned, T v, int step) {
  const unsigned lane = block().lane();
  return block().exchange(v, 3)[lane >= unsigned(step) ? lane - step : lane];
}
template <class T>
T __shfl_down_sync(unsigned, T v, int step, int lanes) {
  const unsigned lane = block().lane();
  return block().exchange(v, 4)[lane % lanes + step < unsigned(lanes) ? lane + step : lane];
}
unsigned __ballot_sync(unsigned, bool v) {
  const auto all = block().exchange(v, 5);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) bits |= unsigned(all[lane]) << lane;
  return bits;
}
int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
int __ffs(int v) { return __builtin_ffs(v); }
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T atomicAdd(T* to, T v) {
  const T before = *to;
  *to += v;
  return before;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// NOLINTEND(bugprone-reserved-identifier)

/// Every other launch begins with the last warp.
void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  static bool last_warp_first = false;
  last_warp_first = !last_warp_first;
  Block block(threads);
  blockDim.x = threads;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) block.run(kernel, last_warp_first);
}

// The device text follows, and after it emulated_text_end.hpp.
// NOLINTBEGIN(bugprone-reserved-identifier): names of CUDA
#define __CUDA_ARCH__ 900
#define __device__
#define __shared__ static
// NOLINTEND(bugprone-reserved-identifier)
