// The device text of products by slots, compiled for the host: the threads of a block are contexts that take turns, and
// the warp's exchanges wait for each other as they do on a device. In a namespace of its own, so that no function of it
// can be the one that the rest of the program links to.
#include "emulated_chunks.hpp"

#include <ucontext.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulated {

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
  unsigned x;
};
Number threadIdx, blockIdx, blockDim, gridDim;

constexpr unsigned warp_size = 32, most_bytes = 8;

/// The contexts of one block of threads, one after the other until each has ended.
class Block {
 public:
  explicit Block(unsigned threads) : threads_(threads), warps_(threads / warp_size) {}

  void run(const std::function<void()>& kernel) {
    kernel_ = &kernel;
    instance() = this;
    for (unsigned t = 0; t < threads_.size(); ++t) start(t);
    for (unsigned left = threads_.size(); left > 0;) {
      moved_ = false;
      for (unsigned t = 0; t < threads_.size(); ++t) {
        if (threads_[t].ended) continue;
        threadIdx.x = now_ = t;
        swapcontext(&scheduler_, &threads_[t].context);
        if (threads_[t].ended) --left, moved_ = true;
      }
      if (!moved_) throw std::logic_error("threads wait for each other for ever");
    }
  }

  void wait_for_block() { wait(block_, threads_.size()); }

  /// What all lanes of this thread's warp give; they must all call for the same `what`.
  template <class T>
  std::array<T, warp_size> exchange(T value, int what) {
    static_assert(sizeof(T) <= most_bytes);
    Warp& warp = warps_[now_ / warp_size];
    auto& values = warp.values[threads_[now_].turn ^= 1];  // two by turns: who is late may still read the other
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

  void start(unsigned t) {
    constexpr std::size_t stack_bytes = 64 << 10;
    Thread& thread = threads_[t];
    thread.ended = false;
    if (!thread.stack) thread.stack = std::make_unique<char[]>(stack_bytes);
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
    while (barrier.generation == generation) swapcontext(&threads_[now_].context, &scheduler_);
    moved_ = true;
  }

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Barrier block_;
  ucontext_t scheduler_;
  const std::function<void()>* kernel_ = nullptr;
  unsigned now_ = 0;
  bool moved_ = false;
};

Block& block() { return *Block::instance(); }

// What the device text uses of CUDA.
void __threadfence() {}  // the threads of all blocks are one
void __syncthreads() { block().wait_for_block(); }
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

#define __CUDA_ARCH__ 900
#define __device__
#define __shared__ static
#include "device/kernels.hpp"
#undef __shared__
#undef __device__
#undef __CUDA_ARCH__

namespace {

using namespace compound;

/// How entries are kept: as they are,
template <class Entry>
struct Plain {
  using entry = Entry;
  using stored = typename Entry::word;
  template <slot_t>
  using words_code = plain_words<>;
};
/// or chunk by chunk.
template <class Entry>
struct Coded {
  using entry = Entry;
  using stored = unsigned char;
  template <slot_t chunk>
  using words_code = chunk_words<typename Entry::word, chunk>;
};

template <class Kept, slot_t Threads, slot_t Each, Update how, Carries kind, Balance by>
struct Form {
  using entry = typename Kept::entry;
  using stored = typename Kept::stored;
  using layout = coordinates<Threads, Each>;
  using words_code = typename Kept::template words_code<Threads * Each>;
  using value_index = own_values;
  static constexpr slot_t word_group = 1, word_padding = 0, vector_group = 1;
  static constexpr int vector_access = 0;
  static constexpr WordOrder word_order = WordOrder::column;
  static constexpr Cache cache = Cache::keep;
  static constexpr Op op = Op::none;
  static constexpr Update update = how;
  static constexpr Traversal traversal = Traversal::slots;
  static constexpr int lanes = 1, at_once = 1;
  static constexpr Balance balance = by;
  static constexpr Carries carries = kind;
};

void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  Block block(threads);
  blockDim.x = threads;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) block.run(kernel);
}

template <class F>
void product(product_args a) {
  const slot_t chunks = (slot_t{a.layout.positions} + a.layout.height - 1) / a.layout.height;
  const unsigned blocks = F::balance == Balance::grid ? unsigned(chunks) : 3;
  launch(blocks, F::layout::threads, [&] { multiply_all<F>(a); });
  a.z = a.y;
  if (F::carries == Carries::ordered) launch(unsigned((chunks + 127) / 128), 128, [&] { add_all_carries<F>(a); });
}

template <class Kept, slot_t Threads, slot_t Each, Update update>
void product_of(const product_args& a, bool atomic) {
  atomic ? product<Form<Kept, Threads, Each, Update::add, Carries::atomic, Balance::grid>>(a)
         : product<Form<Kept, Threads, Each, update, Carries::ordered, Balance::fixed>>(a);
}

template <class Kept, slot_t Threads, slot_t Each>
void product_in(const product_args& a, bool adds, bool atomic) {
  adds ? product_of<Kept, Threads, Each, Update::add>(a, atomic)
       : product_of<Kept, Threads, Each, Update::assign>(a, atomic);
}

template <class Kept>
constexpr std::pair<std::string_view, void (*)(const product_args&, bool, bool)> rows[] = {
    {"ccoo:32:1", product_in<Kept, 32, 1>}, {"ccoo:32:2", product_in<Kept, 32, 2>},
    {"ccoo:96:4", product_in<Kept, 96, 4>}, {"ccoo:128:1", product_in<Kept, 128, 1>},
    {"ccoo:64:4", product_in<Kept, 64, 4>}, {"ccoo:256:2", product_in<Kept, 256, 2>},
};

template <class Kept>
void run(const Task& t) {
  product_args a;
  std::memcpy(&a.layout, t.layout, sizeof(a.layout));
  a.x_blocks = t.cols;
  a.y_blocks = t.rows;
  a.value_slots = a.layout.slots;
  a.values = t.values;
  a.codes = t.codes;
  a.table = t.table;
  a.x = t.x;
  a.z = t.z;
  a.y = t.y;
  a.carries = t.carries;
  for (const auto& [name, run] : rows<Kept>)
    if (name == t.name) return run(a, t.adds, t.atomic);
  throw std::logic_error("no kernel for " + std::string(t.name));
}

}  // namespace

void multiply_dense_3x2(const Task& t) { run<Plain<dense<double, 3, 2>>>(t); }
void multiply_complex_scalars(const Task& t) { run<Plain<dense<complex_number<double>, 1, 1>>>(t); }
void multiply_coded_dense_3x2(const Task& t) { run<Coded<dense<double, 3, 2>>>(t); }
void multiply_coded_complex_scalars(const Task& t) { run<Coded<dense<complex_number<double>, 1, 1>>>(t); }

}  // namespace emulated
