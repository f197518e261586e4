// The device text of multigrid's set-up, compiled for the host (emulated_sparse_products.cpp says how).
#include "emulated_multigrid.hpp"

#include <sched.h>
#include <ucontext.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace emulated {
namespace {

#include "emulated_block.hpp"

// What this text uses of CUDA beside it.
// NOLINTBEGIN(bugprone-reserved-identifier): names of CUDA
bool __any_sync(unsigned, bool v) { return __ballot_sync(~0u, v) != 0; }
int __popc(unsigned v) { return __builtin_popcount(v); }
template <class T>
T atomicSub(T* to, T v) {
  const T before = *to;
  *to -= v;
  return before;
}
template <class T>
T atomicCAS(T* at, T expected, T v) {
  const T before = *at;
  if (before == expected) *at = v;
  return before;
}
using std::sqrt;
// NOLINTEND(bugprone-reserved-identifier)

#include "device/aggregates.hpp"
#include "device/product_pattern.hpp"
#include "device/prolongator.hpp"

#include "emulated_text_end.hpp"

using namespace compound;

template <class Args>
Args args_from(const void* from) {
  Args args;
  std::memcpy(&args, from, sizeof(args));
  return args;
}

constexpr unsigned threads_of_workers = 128;
template <class F>
void launch_workers(slot_t workers, const F& f) {
  launch(unsigned((workers + threads_of_workers - 1) / threads_of_workers), threads_of_workers, [&] {
    const slot_t worker = slot_t(blockIdx.x) * threads_of_workers + threadIdx.x;
    if (worker < workers) f(worker);
  });
}

template <int Lanes, int Groups, int Slots, int Inner>
struct Table {
  static constexpr int lanes = Lanes, groups = Groups, slots = Slots, inner = Inner;
};

template <class Form>
void collect(const product_pattern_args& args) {
  launch(unsigned((args.rows + Form::groups - 1) / Form::groups), Form::lanes * Form::groups,
         [&] { compound::collect_columns<Form>(args); });
}

template <int inner>
void collect_by(bool of_warp, const product_pattern_args& args) {
  of_warp ? collect<Table<32, 4, 256, inner>>(args) : collect<Table<256, 1, 8192, inner>>(args);
}

}  // namespace

void run_graph_step(int step, const void* from) {
  constexpr void (*steps[])(const aggregate_args&, slot_t) = {begin_states,    find_nearest,  decide,
                                                              join_neighbours, join_the_rest, check_symmetry};
  const auto args = args_from<aggregate_args>(from);
  launch_workers(slot_t{args.nodes} * 32, [&](slot_t worker) { steps[step](args, worker); });
}

void run_strength_step(int step, int size, const void* from) {
  constexpr void (*steps[])(const strength_args&, slot_t) = {weigh_edges<double, 3>, count_kept, write_kept,
                                                             weigh_edges<double, 1>};
  const auto args = args_from<strength_args>(from);
  launch_workers(slot_t{args.nodes} * 32,
                 [&](slot_t worker) { steps[step == 0 && size == 1 ? 3 : step](args, worker); });
}

void collect_columns(bool of_warp, int inner, const void* from) {
  const auto args = args_from<product_pattern_args>(from);
  if (inner == 1)
    collect_by<1>(of_warp, args);
  else
    inner == 8 ? collect_by<8>(of_warp, args) : collect_by<32>(of_warp, args);
}

void run_transpose_step(int step, const void* from) {
  constexpr int threads = 256;
  const auto args = args_from<transpose_args>(from);
  if (step == 2)
    launch(unsigned(args.cols), threads, [&] { sort_transposed<threads>(args); });
  else
    launch_workers(args.rows,
                   [&](slot_t worker) { step == 0 ? count_transposed(args, worker) : put_transposed(args, worker); });
}

void orthonormalize(const void* from) {
  const auto args = args_from<basis_args>(from);
  launch(unsigned(args.aggregates), threads_of_basis, [&] { compound::orthonormalize<double>(args, blockIdx.x); });
}

void smooth_rows(const void* from) {
  const auto args = args_from<smooth_args>(from);
  launch_workers(slot_t{args.rows} * 32, [&](slot_t worker) { compound::smooth_rows<double>(args, worker); });
}

}  // namespace emulated
