// Aggregates of a graph's nodes: roots no two of which are within a distance of 1 or 2 (a maximal independent set: Luby
// 1986; Bell, Dalton and Olson 2012, SISC 34; distance 2 by two sweeps instead of a squared graph: Kelley and
// Rajamanickam 2022, arXiv 2204.02934), and the nodes around them. Priorities are fixed hashes of indices, so that the
// roots are those of a greedy choice in their order: the same in each run and on each device.
#pragma once

#include "sparse_product.hpp"

namespace compound {

/// A hash, then an index: no two nodes have the same.
using priority = unsigned long long;
inline constexpr priority is_root = 0, is_no_root = ~0ull;  ///< states of nodes that are decided

/// Mixes bits (the finalizer of MurmurHash3, Appleby 2011).
COMPOUND_FN count32 mixed_bits(count32 v) {
  v = (v ^ v >> 16) * 0x85ebca6bu;
  v = (v ^ v >> 13) * 0xc2b2ae35u;
  return v ^ v >> 16;
}

COMPOUND_FN priority priority_of(idx node) {
  return (priority(mixed_bits(count32(node) + 1)) << 32 | count32(node)) + 1;
}
COMPOUND_FN idx node_of(priority p) { return idx(count32((p - 1) & 0xffffffffu)); }

/// A graph, columns ascending in each row, and what becomes of its nodes. A warp each node.
struct aggregate_args {
  idx nodes = 0;
  const count32* start = nullptr;
  const idx* column = nullptr;
  int distance = 1;            ///< between roots: 1 or 2
  priority* state = nullptr;   ///< [nodes] priorities of those that are not decided
  priority* near = nullptr;    ///< [nodes] least state of a node and its neighbours
  count32* counter = nullptr;  ///< nodes that are not decided; of `check_symmetry` entries without a transpose
  idx* root = nullptr;         ///< [nodes] of each node's aggregate; no_root
  idx* final_root = nullptr;   ///< [nodes] the same in the end
  count32* of_root = nullptr;  ///< [nodes] neighbours and itself that joined a root; 0 before
};
inline constexpr idx no_root = -1;

/// Of real matrices: a block of A to an edge each, and which edges stay. A warp each row.
struct strength_args {
  idx nodes = 0;
  const count32* start = nullptr;
  const idx* column = nullptr;
  const void* values = nullptr;  ///< of A, in the order of rows
  unsigned components = ~0u;     ///< of a node that count, by bits
  bool symmetrize = false;       ///< adds the transposed block's
  double threshold = 0;
  double* weight = nullptr;    ///< [entries]
  double* diagonal = nullptr;  ///< [nodes]
  count32* kept = nullptr;     ///< [nodes] edges of each that stay
  const count32* kept_start = nullptr;
  idx* kept_column = nullptr;
};

#if defined(__CUDA_ARCH__)

__device__ inline priority least_of_warp(priority p) {
  for (int apart = 16; apart > 0; apart /= 2) {
    const priority other = __shfl_xor_sync(~0u, p, apart);
    p = other < p ? other : p;
  }
  return p;
}

/// The least of a node's own state and those of its neighbours.
__device__ inline priority least_around(const aggregate_args& a, idx node, int lane, const priority* states) {
  priority least = states[node];
  for (count32 k = a.start[node] + lane; k < a.start[node + 1]; k += 32) {
    const priority of = states[a.column[k]];
    least = of < least ? of : least;
  }
  return least_of_warp(least);
}

/// Nodes without neighbours stay without an aggregate.
__device__ inline void begin_states(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  const int lane = int(worker % 32);
  bool has_neighbour = false;
  for (count32 k = a.start[node] + lane; k < a.start[node + 1]; k += 32) has_neighbour |= a.column[k] != node;
  has_neighbour = __any_sync(~0u, has_neighbour);
  if (lane == 0) a.state[node] = has_neighbour ? priority_of(node) : is_no_root;
}

__device__ inline void find_nearest(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  const priority least = least_around(a, node, int(worker % 32), a.state);
  if (worker % 32 == 0) a.near[node] = least;
}

__device__ inline void decide(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  const priority own = a.state[node];
  if (own == is_root || own == is_no_root) return;  // the whole warp
  const priority least = a.distance == 1 ? a.near[node] : least_around(a, node, int(worker % 32), a.near);
  if (worker % 32 != 0) return;
  if (least == is_root)
    a.state[node] = is_no_root;
  else if (least == own)
    a.state[node] = is_root;
  else
    atomicAdd(a.counter, 1u);
}

/// Neighbours of a root join it: of several the one of least priority, which a greedy choice would take first.
__device__ inline void join_neighbours(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  priority least = a.state[node] == is_root ? is_root : is_no_root;
  if (least != is_root)
    for (count32 k = a.start[node] + worker % 32; k < a.start[node + 1]; k += 32) {
      const idx to = a.column[k];
      const priority p = a.state[to] == is_root ? priority_of(to) : is_no_root;
      least = p < least ? p : least;
    }
  least = least_of_warp(least);
  if (worker % 32 != 0) return;
  const idx root = least == is_root ? node : least == is_no_root ? no_root : node_of(least);
  a.root[node] = root;
  if (root != no_root) atomicAdd(a.of_root + root, 1u);
}

/// Nodes between aggregates, and roots that stay alone, go to the aggregate that has most of their neighbours; of
/// several the one whose root is of least priority.
__device__ inline void join_the_rest(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  const int lane = int(worker % 32);
  const idx own = a.root[node];
  const count32 first = a.start[node], end = a.start[node + 1];
  if (own != no_root && (own != node || a.of_root[node] > 1)) {
    if (lane == 0) a.final_root[node] = own;
    return;
  }
  int most = 0;
  priority best = is_no_root;
  for (count32 k = first + lane; k < end; k += 32) {
    const idx root = a.column[k] == node ? no_root : a.root[a.column[k]];
    if (root == no_root) continue;
    int votes = 0;
    for (count32 other = first; other < end; ++other)
      votes += a.column[other] != node && a.root[a.column[other]] == root;
    const priority p = priority_of(root);
    if (votes > most || (votes == most && p < best)) {
      most = votes;
      best = p;
    }
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    const int votes = __shfl_xor_sync(~0u, most, apart);
    const priority p = __shfl_xor_sync(~0u, best, apart);
    if (votes > most || (votes == most && p < best)) {
      most = votes;
      best = p;
    }
  }
  if (lane == 0) a.final_root[node] = most > 0 ? node_of(best) : own;
}

/// Whether a row has a column.
__device__ inline bool has_column(const count32* start, const idx* column, idx row, idx wanted, slot_t* at) {
  const count32 first = start[row], count = start[row + 1] - first;
  if (count == 0) return false;
  *at = slot_t(first) + place_of_column(column + first, int(count), wanted);
  return column[*at] == wanted;
}

__device__ inline void check_symmetry(const aggregate_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  bool lacks = false;
  for (count32 k = a.start[node] + worker % 32; k < a.start[node + 1]; k += 32) {
    slot_t at;
    lacks |= !has_column(a.start, a.column, a.column[k], node, &at);
  }
  if (lacks) atomicAdd(a.counter, 1u);
}

/// Sums of |real part| over the scalars of a block, as PETSc's MatCreateGraph() has them.
template <class S, int size>
__device__ double block_weight(const strength_args& a, idx row, slot_t entry) {
  const slot_t first = a.start[row], stride = (slot_t(a.start[row + 1]) - first) * size;
  const S* const block = static_cast<const S*>(a.values) + first * size * size + (entry - first) * size;
  double sum = 0;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      if (a.components >> i & a.components >> j & 1) {
        const double v = double(block[i * stride + j]);
        sum += v < 0 ? -v : v;
      }
  return sum;
}

template <class S, int size>
__device__ void weigh_edges(const strength_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  if (worker % 32 == 0) a.diagonal[node] = 0;
  __syncwarp();
  for (count32 k = a.start[node] + worker % 32; k < a.start[node + 1]; k += 32) {
    double weight = block_weight<S, size>(a, node, k);
    slot_t at;
    if (a.symmetrize && has_column(a.start, a.column, a.column[k], node, &at))
      weight += block_weight<S, size>(a, a.column[k], at);
    a.weight[k] = weight;
    if (a.column[k] == node) a.diagonal[node] = weight;
  }
}

__device__ inline bool stays(const strength_args& a, idx node, count32 k) {
  const double scale = a.diagonal[node] * a.diagonal[a.column[k]];
  return scale > 0 && a.weight[k] / sqrt(scale) > a.threshold;
}

__device__ inline void count_kept(const strength_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  int kept = 0;
  for (count32 k = a.start[node] + worker % 32; k < a.start[node + 1]; k += 32) kept += stays(a, node, k);
  for (int apart = 16; apart > 0; apart /= 2) kept += __shfl_xor_sync(~0u, kept, apart);
  if (worker % 32 == 0) a.kept[node] = count32(kept);
}

__device__ inline void write_kept(const strength_args& a, slot_t worker) {
  const idx node = idx(worker / 32);
  const int lane = int(worker % 32);
  count32 to = a.kept_start[node];
  for (count32 begin = a.start[node]; begin < a.start[node + 1]; begin += 32) {
    const count32 k = begin + lane;
    const bool keep = k < a.start[node + 1] && stays(a, node, k);
    const unsigned all = __ballot_sync(~0u, keep);
    if (keep) a.kept_column[to + __popc(all & ((1u << lane) - 1))] = a.column[k];
    to += __popc(all);
  }
}

#endif

}  // namespace compound
