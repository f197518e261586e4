// The device text of products by slots, compiled for the host: the threads of a block are contexts that take turns, and
// the warp's exchanges wait for each other as they do on a device. In a namespace of its own, so that no function of it
// can be the one that the rest of the program links to.
#include "emulated_chunks.hpp"

#include <sched.h>
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

#include "emulated_block.hpp"

#include "device/kernels.hpp"

#include "emulated_text_end.hpp"

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
    {"ccoo:32:8", product_in<Kept, 32, 8>},
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
