// What may follow a product in the kernel that makes it: a dot product with its result, while that is in registers.
#pragma once

#include "grid_sum.hpp"

namespace compound {

/// stoppable: nothing, but the product heeds `stop`; dot: w^H (op(A) x); bilinear: w^T (op(A) x). What y = z + op(A) x
/// has of z is no part of it.
enum class Follow { nothing, stoppable, dot, bilinear };
COMPOUND_FN constexpr bool has_dot(Follow follow) { return follow == Follow::dot || follow == Follow::bilinear; }

struct dot_args {
  const void* w = nullptr;    ///< in the order of y
  void* result = nullptr;     ///< a scalar, written by the last kernel of the product
  const int* stop = nullptr;  ///< where it is not 0 the kernel does nothing; or null
  grid_sum_args sum;
  slot_t first = 0;      ///< partial sums before those of this kernel
  bool adds = false;     ///< to what `result` is
  bool goes_on = false;  ///< the next kernel of the product adds up
};

/// Takes the sums of rows as they are stored.
struct nothing_follows {
  template <class S>
  COMPOUND_FN void take(slot_t, S) const {}
};

/// What a worker has so far. Products are handed on as constants, which the sum of this is not. Vector: where w is, or
/// something that makes its scalars as they are read.
template <Follow follow, class S, class Vector = const S*>
struct dot_follows {
  Vector w = {};
  mutable S sum = {};

  COMPOUND_FN void take(slot_t at, S y) const {
    add_product<S>(sum, follow == Follow::dot ? conjugate(w[at]) : w[at], y);
  }
};

/// The same of one of several vectors, each of which has its sum where `sums` points.
template <Follow follow, class S>
struct dots_follow {
  const S* w = nullptr;
  S* sums = nullptr;

  COMPOUND_FN void take(slot_t at, S y) const {
    add_product<S>(*sums, follow == Follow::dot ? conjugate(w[at]) : w[at], y);
  }
};

#if defined(__CUDA_ARCH__)

template <class S>
__device__ void give_result(const dot_args& a, S total) {
  S result = a.adds ? *static_cast<const S*>(a.result) : S{};
  result += total;
  *static_cast<S*>(a.result) = result;
}

/// After the share of the workers of block number `block` of `blocks`; all threads of the block must call.
template <class Following>
__device__ void settle(const Following&, const dot_args&, slot_t, slot_t) {}

template <Follow follow, class S>
__device__ void settle(const dot_follows<follow, S>& f, const dot_args& a, slot_t block, slot_t blocks) {
  using Sum = sums<S, 1>;
  Sum total = sum_over_block(Sum{{f.sum}});
  f.sum = S{};
  if (a.goes_on) {
    if (threadIdx.x == 0) static_cast<Sum*>(a.sum.partials)[block] = total;
  } else if (a.first == 0) {
    if (sum_over_grid(a.sum, block, blocks, total, &total) && threadIdx.x == 0) give_result(a, total.of[0]);
  } else {
    // The second kernel of a product: with what the first has left, by one block.
    auto* const partials = static_cast<Sum*>(a.sum.partials);
    if (threadIdx.x == 0) partials[a.first + block] = total;
    if (!is_last_of(a.sum.tickets, blocks)) return;
    total = sum_of_partials(partials, a.first + blocks);
    if (threadIdx.x == 0) give_result(a, total.of[0]);
  }
}

#endif

}  // namespace compound
