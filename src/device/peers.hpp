// Several processes, each with a device of its own, that write into each other's memory: values of a vector that a
// product reads of its neighbours, and sums over all processes. No host takes part.
//
// A process writes values, then their number, a count that only rises; the reader waits for that number in its own
// memory. Of what is written there are two places in turn. docs/solvers.md shows that two are enough.
#pragma once

#include "grid_sum.hpp"

namespace compound {

/// Processes of one host, at most.
inline constexpr int most_peers = 8;

/// A number that a process waits for; or half of one or a whole one in the lower half, with the number of its meeting
/// in the upper half, so that a reader of both at once needs no other sign that it is there.
using signal = unsigned long long;

/// Of each process at a meeting: as many as a warp has lanes.
inline constexpr int signals_of_meeting = 32;
COMPOUND_FN constexpr slot_t signals_of_meetings() { return slot_t{2} * most_peers * signals_of_meeting; }

/// What a device tells its host, in the host's memory: 1 + the first process that did not answer, or 0.
struct peers_report {
  int lost = 0;
};

/// How long a device waits.
struct patience {
  unsigned long long nanoseconds = 0;
  peers_report* report = nullptr;
};

/// Where sums of all processes meet.
struct meeting_args {
  int rank = 0, processes = 1;
  signal* places[most_peers] = {};  ///< [2][most_peers][signals_of_meeting] in the memory of each process
  signal* meetings = nullptr;       ///< so far
  patience waits;
};

/// Scalars of a vector: of some of its blocks, or one after the other.
struct some_scalars {
  const count32* block = nullptr;  ///< or null
  slot_t first = 0;                ///< where no blocks are given
  slot_t count = 0;                ///< of scalars
};

/// What goes to another process, and what comes from it.
struct neighbour_args {
  int process = 0;
  some_scalars given, taken;
  void* to[2] = {};           ///< in its memory: where ours arrive, in turn
  signal* arrived = nullptr;  ///< in its memory: how many times they have
  void* from[2] = {};         ///< in our memory: where its own arrive
  signal* here = nullptr;     ///< in our memory
};

struct exchange_args {
  neighbour_args of[most_peers - 1];
  int neighbours = 0;
  int first = 0;                ///< neighbour of the first block of threads
  int blocks_each = 1;          ///< of threads, for a neighbour
  int width = 1;                ///< scalars of a block
  signal* exchanges = nullptr;  ///< so far
  unsigned* tickets = nullptr;  ///< [most_peers], zeros
  const void* from = nullptr;   ///< of whose scalars some are given
  void* to = nullptr;           ///< of whose scalars some are taken
  const int* stop = nullptr;    ///< where it is not 0 nothing is done, on all processes; or null
  patience waits;
};

#if defined(__CUDA_ARCH__)

__device__ inline signal read_signal(const signal* p) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  signal s;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(s) : "l"(p) : "memory");
  return s;
#else
  return *static_cast<const volatile signal*>(p);
#endif
}
/// What it says is in the signal itself.
__device__ inline void write_signal(signal* p, signal s) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(p), "l"(s) : "memory");
#else
  *p = s;
#endif
}
/// After all that this thread knows to be written.
__device__ inline void write_last_signal(signal* p, signal s) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(p), "l"(s) : "memory");
#else
  *p = s;
#endif
}
/// As fence_device(), between what processes write and read of each other.
__device__ inline void fence_system() {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  __threadfence_system();
#endif
}
__device__ inline unsigned long long now_in_nanoseconds() {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#else
  static unsigned long long looks = 0;
  return ++looks;
#endif
}

/// A wait that takes longer looks whether another one has been in vain: the host's memory is far away.
inline constexpr unsigned long long nanoseconds_before_report = 50000;

/// Looks until there(what it reads) or the patience is over: `process` is lost then. What was read last.
template <class There>
__device__ bool wait_for_signal(const signal* p, const patience& waits, int process, const There& there, signal* last) {
  *last = read_signal(p);
  if (there(*last)) return true;
  const unsigned long long start = now_in_nanoseconds();
  unsigned long long waited = 0;
  volatile int* const lost = &waits.report->lost;
  COMPOUND_ROLLED
  while (waited < waits.nanoseconds && (waited < nanoseconds_before_report || *lost == 0)) {
    *last = read_signal(p);
    if (there(*last)) return true;
    waited = now_in_nanoseconds() - start;
  }
  if (*lost == 0) *lost = 1 + process;
  return false;
}

/// `total`, which all lanes of the first warp have, becomes the sum over all processes in the order of their ranks: the
/// same bits on each. By that warp, to whose lanes the sum goes. False where a process did not answer.
template <class S, int n>
__device__ bool add_up_over_peers(const meeting_args& a, sums<S, n>* total) {
  constexpr int words = n * int(sizeof(S) / sizeof(bits32));
  static_assert(words <= signals_of_meeting);
  alignas(16) __shared__ bits32 word[most_peers][words];
  __shared__ bool met;
  const int lane = int(threadIdx.x);
  const signal meeting = *a.meetings + 1;
  const slot_t turn = slot_t(meeting % 2) * most_peers;
  if (lane == 0) {
    memcpy(word[a.rank], total, sizeof(*total));
    met = true;
  }
  __syncwarp();
  for (int p = 0; p < a.processes; ++p)
    if (p != a.rank && lane < words)
      write_signal(a.places[p] + (turn + a.rank) * signals_of_meeting + lane, meeting << 32 | word[a.rank][lane]);
  for (int p = 0; p < a.processes; ++p) {
    if (p == a.rank || lane >= words) continue;
    signal s;
    const auto is_there = [&](signal now) { return now >> 32 == (meeting & 0xffffffffu); };
    if (!wait_for_signal(a.places[a.rank] + (turn + p) * signals_of_meeting + lane, a.waits, p, is_there, &s))
      met = false;
    word[p][lane] = bits32(s);
  }
  __syncwarp();
  for (int p = 0; p < a.processes; ++p) {
    sums<S, n> of_process;
    memcpy(&of_process, word[p], sizeof(of_process));
    if (p == 0) *total = of_process;
    for (int i = 0; i < n && p > 0; ++i) total->of[i] += of_process.of[i];
  }
  const bool all = met;
  __syncwarp();
  if (lane == 0) *a.meetings = meeting;
  return all;
}

__device__ inline slot_t place_of(const some_scalars& s, slot_t i, int width) {
  return s.block ? slot_t(s.block[i / width]) * width + i % width : s.first + i;
}

/// To each neighbour what it is given.
template <class S>
__device__ void put_values(const exchange_args& a) {
  if (a.stop && *a.stop != 0) return;
  const int neighbour = a.first + int(blockIdx.x) / a.blocks_each, share = int(blockIdx.x) % a.blocks_each;
  const neighbour_args& n = a.of[neighbour];
  const signal exchange = *a.exchanges + 1;
  const S* const from = static_cast<const S*>(a.from);
  S* const to = static_cast<S*>(n.to[exchange % 2]);
  for (slot_t i = slot_t(share) * blockDim.x + threadIdx.x; i < n.given.count; i += slot_t(a.blocks_each) * blockDim.x)
    to[i] = from[place_of(n.given, i, a.width)];
  __threadfence_system();
  if (is_last_of(&a.tickets[neighbour], a.blocks_each) && threadIdx.x == 0) write_last_signal(n.arrived, exchange);
}

/// Waits for what comes from each neighbour, and sets scalars to it or adds it to them. What several neighbours add to
/// is for a kernel each. The last neighbour's ends the exchange.
template <class S, bool adds>
__device__ void take_values(const exchange_args& a) {
  if (a.stop && *a.stop != 0) return;
  const int neighbour = a.first + int(blockIdx.x) / a.blocks_each, share = int(blockIdx.x) % a.blocks_each;
  const neighbour_args& n = a.of[neighbour];
  const signal exchange = *a.exchanges + 1;
  __shared__ bool there;
  if (threadIdx.x == 0) {
    signal s;
    there = wait_for_signal(
        n.here, a.waits, n.process, [&](signal now) { return now >= exchange; }, &s);
  }
  __syncthreads();
  const S* const from = static_cast<const S*>(n.from[exchange % 2]);
  S* const to = static_cast<S*>(a.to);
  if (there) {
    for (slot_t i = slot_t(share) * blockDim.x + threadIdx.x; i < n.taken.count;
         i += slot_t(a.blocks_each) * blockDim.x) {
      S& scalar = to[place_of(n.taken, i, a.width)];
      const S value = read_fresh(from + i);
      if constexpr (adds)
        scalar += value;
      else
        scalar = value;
    }
  }
  const bool ends = a.first + int(gridDim.x) / a.blocks_each == a.neighbours;
  if (ends && is_last_of(&a.tickets[most_peers - 1], gridDim.x) && threadIdx.x == 0) *a.exchanges = exchange;
}

#endif

}  // namespace compound
