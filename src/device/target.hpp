// What differs between the compilers of this folder's text: g++ and clang (host), nvcc and NVRTC (device).
// Nothing in src/device includes anything outside it, and no standard header. NVRTC needs -std=c++20 -default-device
// (it takes generic lambdas for host functions, whatever function they stand in).
#pragma once

/// Before a loop that waits for memory: turns written out would cost registers and bring nothing.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define COMPOUND_FN __host__ __device__ __forceinline__
#define COMPOUND_ROLLED _Pragma("unroll 1")
#define COMPOUND_ALIAS
#else
#define COMPOUND_FN inline __attribute__((always_inline))
#define COMPOUND_ROLLED
#define COMPOUND_ALIAS __attribute__((__may_alias__))
#endif

namespace compound {

using idx = int;                             ///< block row, block column, position
using count32 = unsigned int;                ///< slots in units of a slice's height, entries of a pattern
using slot_t = long long;                    ///< slots and words; never narrowed
using bits32 COMPOUND_ALIAS = unsigned int;  ///< of whatever lies there

/// A number known when the kernel is compiled (V), or carried along (V == dynamic).
inline constexpr slot_t dynamic = -1;

template <slot_t V>
struct fixed_or {
  COMPOUND_FN constexpr fixed_or(slot_t = V) {}
  COMPOUND_FN constexpr operator slot_t() const { return V; }
};

template <>
struct fixed_or<dynamic> {
  slot_t value = 0;
  COMPOUND_FN constexpr fixed_or(slot_t v = 0) : value(v) {}
  COMPOUND_FN constexpr operator slot_t() const { return value; }
};

/// How a device reads what a product uses once: into the caches like anything else, or passing through them, so that
/// they keep what is used again. A stream pays for matrices larger than the second cache, and only there. Plans have
/// these two; `fresh`: from the second cache, for what other blocks have written since this one last looked.
enum class Cache { keep, stream, fresh };

/// What workers share: block rows, their scalar rows (or columns), or slots of any rows.
enum class Traversal { rows, components, slots };

/// How a device's blocks of workers come to their work: one each, at a fixed stride, or from a counter.
enum class Balance { grid, fixed, counted };

/// How products by slots add what a chunk has of a row that began before it: by a second kernel in a fixed order, or
/// by atomics, whose order and so last bits differ from time to time.
enum class Carries { ordered, atomic };

/// f.operator()<0>(), ..., f.operator()<N - 1>(): a loop whose index is a compile-time constant.
template <int N, int I = 0, class F>
COMPOUND_FN constexpr void unroll(const F& f) {
  if constexpr (I < N) {
    f.template operator()<I>();
    unroll<N, I + 1>(f);
  }
}

}  // namespace compound
