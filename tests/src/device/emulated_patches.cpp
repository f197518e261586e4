// The device text of products by patches, compiled for the host (emulated_chunks.cpp says how).
#include "emulated_patches.hpp"

#include <sched.h>
#include <ucontext.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace emulated {
namespace {

#include "emulated_block.hpp"

#include "device/kernels.hpp"

#include "emulated_text_end.hpp"

using namespace compound;

template <class Scalar, int n, int of_row, bool hermitian, Op by, Update how, RowOrder order>
struct Form {
  using entry = dense<Scalar, n, n>;
  using stored = Scalar;
  using layout = slices<32, Occupancy::lengths, order, patch_columns<>>;
  using words_code = plain_words<>;
  using value_index = own_values;
  static constexpr slot_t word_group = 32, word_padding = 0, vector_group = 1;
  static constexpr int vector_access = 0;
  static constexpr WordOrder word_order = WordOrder::column;
  static constexpr Cache cache = Cache::keep;
  static constexpr Op op = by;
  static constexpr Update update = how;
  static constexpr Traversal traversal = Traversal::rows;
  static constexpr int lanes = of_row, at_once = 1;
  static constexpr Balance balance = Balance::grid;
  static constexpr bool hermitian_half = hermitian;
};

template <class Scalar, int n, int lanes, bool hermitian, Op op, Update update, RowOrder order>
void run_both(const product_args& a, unsigned threads) {
  const auto patches = unsigned((a.layout.positions + a.layout.patch - 1) / a.layout.patch);
  launch(patches, threads, [&] { multiply_all_patches<Form<Scalar, n, lanes, hermitian, op, update, order>>(a); });
  const auto blocks = unsigned((a.y_blocks * n + 127) / 128);
  launch(blocks, 128, [&] { add_all_patches<Form<Scalar, n, lanes, hermitian, Op::none, update, RowOrder::kept>>(a); });
}

template <class Scalar, int n, int lanes, bool hermitian, Op op>
void product_by(const product_args& a, const HalfTask& t) {
  const auto threads = unsigned(t.threads * lanes);
  if (t.adds)
    t.reordered ? run_both<Scalar, n, lanes, hermitian, op, Update::add, RowOrder::listed>(a, threads)
                : run_both<Scalar, n, lanes, hermitian, op, Update::add, RowOrder::kept>(a, threads);
  else
    t.reordered ? run_both<Scalar, n, lanes, hermitian, op, Update::assign, RowOrder::listed>(a, threads)
                : run_both<Scalar, n, lanes, hermitian, op, Update::assign, RowOrder::kept>(a, threads);
}

template <class Scalar, int n, int lanes, bool hermitian>
void run(const HalfTask& t) {
  product_args a;
  std::memcpy(&a.layout, t.layout, sizeof(a.layout));
  a.x_blocks = a.y_blocks = slot_t(t.rows);
  a.value_slots = a.layout.slots;
  a.values = t.values;
  a.x = t.x;
  a.z = t.z;
  a.y = t.y;
  a.carries = t.partials;
  dynamic_shared_memory() = t.shared;
  if (t.op == 0) product_by<Scalar, n, lanes, hermitian, Op::none>(a, t);
  if (t.op == 1) product_by<Scalar, n, lanes, hermitian, Op::transpose>(a, t);
  if (t.op == 2) product_by<Scalar, n, lanes, hermitian, Op::hermitian>(a, t);
}

}  // namespace

void multiply_symmetric_3x3(const HalfTask& t) { run<double, 3, 1, false>(t); }
void multiply_symmetric_3x3_by_two(const HalfTask& t) { run<double, 3, 2, false>(t); }
void multiply_symmetric_complex_2x2(const HalfTask& t) { run<complex_number<double>, 2, 1, false>(t); }
void multiply_hermitian_2x2(const HalfTask& t) { run<complex_number<double>, 2, 1, true>(t); }
void multiply_hermitian_2x2_by_two(const HalfTask& t) { run<complex_number<double>, 2, 2, true>(t); }

}  // namespace emulated
