// Compressed rows, each entry's words together: the words stream through the registers as they lie.
#pragma once

#include "products.hpp"
#include "several_vectors.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// An entry's products cut into vectors: full ones, then one of 4 and one of 1 if need be.
template <class P>
struct cut {
  static constexpr int full = P::count / widest;
  static constexpr int four = P::count % widest >= 4 ? 1 : 0;
  static constexpr int one = P::count % widest % 4;
  static_assert(one <= 1, "two or three products are left over");

  template <int N, int first>
  static constexpr lane_pattern<N> words() {
    lane_pattern<N> p{};
    for (int lane = 0; lane < N; ++lane) p.from[lane] = P::word_of(first + lane);
    return p;
  }
  template <int N, int first>
  static constexpr lane_pattern<N> inputs() {
    lane_pattern<N> p{};
    for (int lane = 0; lane < N; ++lane) p.from[lane] = P::in_of(first + lane);
    return p;
  }

  /// Which sum each full vector is added to, and the first vector of each sum.
  struct sharing {
    int sums = 0;
    int sum[full ? full : 1] = {}, first[full ? full : 1] = {};
  };

 private:
  /// Whether the products of two full vectors enter y alike.
  static constexpr bool alike(int v, int other) {
    for (int lane = 0; lane < widest; ++lane)
      for (int i = 0; i < P::rows; ++i)
        if (P::sign(i, v * widest + lane) != P::sign(i, other * widest + lane)) return false;
    return true;
  }
  /// As many sums as there are registers for, where so few can be shared and leave the products that fill no full
  /// vector in step with them.
  static constexpr sharing in_turns() {
    const auto alike_in_turns = [](int n) {
      for (int v = n; v < full; ++v)
        if (!alike(v, v - n)) return false;
      return four + one == 0 || (full - n) * widest % P::rows == 0;
    };
    sharing s{full};
    if (full > accumulators)
      for (int n = accumulators; n > 0 && s.sums == full; --n)
        if (alike_in_turns(n)) s.sums = n;
    for (int v = 0; v < full; ++v) s.sum[v] = v % s.sums;
    for (int n = 0; n < s.sums; ++n) s.first[n] = n;
    return s;
  }
  /// A sum each while registers are left, then the one of its kind with the fewest vectors.
  static constexpr sharing by_signs() {
    sharing s;
    int vectors[full ? full : 1] = {};
    for (int v = 0; v < full; ++v) {
      int best = s.sums;
      for (int n = 0; n < s.sums && s.sums >= accumulators; ++n)
        if (alike(v, s.first[n]) && (best == s.sums || vectors[n] < vectors[best])) best = n;
      if (best == s.sums) s.first[s.sums++] = v;
      s.sum[v] = best;
      ++vectors[best];
    }
    return s;
  }

 public:
  static constexpr sharing shared = P::by_column ? in_turns() : by_signs();
};

template <class P>
struct row_sums {
  using Cut = cut<P>;
  static constexpr int full = Cut::shared.sums;
  static constexpr int lanes = full * widest + Cut::four * 4 + Cut::one;

  vec<widest> wide[full ? full : 1];
  vec<4> four;
  vec<1> one;

  template <class T>
  SIMD_FN void add(const T* w, const double* x) {
    unroll<Cut::full>([&]<int v>() SIMD_LAMBDA {
      wide[Cut::shared.sum[v]].add_product(take<widest, Cut::template words<widest, v * widest>(), P::words>(w),
                                           take<widest, Cut::template inputs<widest, v * widest>(), P::cols>(x));
    });
    if constexpr (Cut::four) rest<4, Cut::full * widest>(four, w, x);
    if constexpr (Cut::one) rest<1, Cut::full * widest + Cut::four * 4>(one, w, x);
  }

  SIMD_FN void add(const row_sums& b) {
    for (int v = 0; v < full; ++v) wide[v] += b.wide[v];
    if constexpr (Cut::four) four += b.four;
    if constexpr (Cut::one) one += b.one;
  }

  /// y = [z +] the combined sums.
  SIMD_FN void combine(const double* z, double* y) const {
    if constexpr (P::by_column)
      add_columns(z, y);
    else
      add_signed(z, y);
  }

 private:
  /// Dense blocks: y is the sum of the sums' columns. In registers: memory would have to wait for the stores.
  SIMD_FN void add_columns(const double* z, double* y) const {
    unroll<(P::rows + widest - 1) / widest>([&]<int part>() SIMD_LAMBDA {
      constexpr int first = part * widest, here = P::rows - first < widest ? P::rows - first : widest;
      auto out = z ? vec<widest>::load_first(z + first, here) : vec<widest>{};
      unroll<lanes / P::rows>([&]<int j>() SIMD_LAMBDA { out += from_lane<j * P::rows + first>(); });
      out.store_first(y + first, here);
    });
  }

  /// The sums of `widest` lanes from this one on, counted through all vectors; what lies beyond the last is anything.
  template <int lane>
  SIMD_FN vec<widest> from_lane() const {
    constexpr int at = lane / widest, next = at < full + Cut::four + Cut::one - 1 ? at + 1 : at;
    return vec<widest>::template from_lane<lane % widest>(vector<at>(), vector<next>());
  }
  template <int i>
  SIMD_FN vec<widest> vector() const {
    if constexpr (i < full)
      return wide[i];
    else if constexpr (Cut::four && i == full)
      return vec<widest>::widened(four);
    else
      return vec<widest>::widened(one);
  }

  SIMD_FN void add_signed(const double* z, double* y) const {
    double sum[lanes];
    unroll<full>([&]<int v>() SIMD_LAMBDA { wide[v].store(sum + v * widest); });
    if constexpr (Cut::four) four.store(sum + full * widest);
    if constexpr (Cut::one) one.store(sum + lanes - 1);
    unroll<P::rows>([&]<int i>() SIMD_LAMBDA {
      double out = z ? z[i] : 0.0;
      unroll<lanes>([&]<int lane>() SIMD_LAMBDA {
        // A sum's first vector tells its places: those that share it agree.
        constexpr int v = lane / widest;
        constexpr int p = v < full ? Cut::shared.first[v] * widest + lane % widest : lane + (Cut::full - full) * widest;
        if constexpr (P::sign(i, p) > 0) out += sum[lane];
        if constexpr (P::sign(i, p) < 0) out -= sum[lane];
      });
      y[i] = out;
    });
  }

  template <int N, int first, class T>
  SIMD_FN static void rest(vec<N>& sum, const T* w, const double* x) {
    sum.add_product(take<N, Cut::template words<N, first>(), P::words>(w),
                    take<N, Cut::template inputs<N, first>(), P::cols>(x));
  }
};

/// Whether entries of one row are taken two at a time into sums of their own, where registers allow: one chain of
/// additions would wait for itself.
template <class P>
inline constexpr bool in_pairs = 2 * row_sums<P>::full <= accumulators;

template <class P, class T, bool fetch_x>
SIMD_FN void multiply_block_rows_in(const SimdTask& t) {
  constexpr bool pairs = in_pairs<P>;
  constexpr int entry_bytes = P::words * int(sizeof(T));
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx *const columns = layout.columns.column, *const row_of = layout.row_of;
  const double *const x = t.x, *const z = t.z;
  double* const y = t.y;
  const slot_t positions = layout.positions;
  const idx* const last = columns + (positions > 0 && start[positions] > 0 ? start[positions] - 1 : 0);
  const T* w = static_cast<const T*>(t.values);
  const idx* column = columns;
  const auto add = [&](row_sums<P>& sums, int k) SIMD_LAMBDA {
    if constexpr (fetch_x) {
      const idx* const later = column + k + x_prefetch_entries;
      __builtin_prefetch(x + slot_t(*(later < last ? later : last)) * P::cols);
    }
    sums.add(w + k * P::words, x + slot_t(column[k]) * P::cols);
  };
  for (slot_t position = 0; position < positions; ++position) {
    const idx* const end = columns + start[position + 1];
    row_sums<P> sums;
    if constexpr (pairs) {
      row_sums<P> odd;
      for (; column + 1 < end; column += 2, w += 2 * P::words, opaque(column, w)) {
        prefetch<2 * entry_bytes>(w);
        add(sums, 0);
        add(odd, 1);
      }
      sums.add(odd);
    }
    for (; column < end; ++column, w += P::words, opaque(column, w)) {
      prefetch<entry_bytes>(w);
      add(sums, 0);
    }
    const slot_t row = (row_of ? row_of[position] : position) * P::rows;
    sums.combine(z ? z + row : nullptr, y + row);
  }
}

template <class P, class T>
void multiply_block_rows(const SimdTask& t) {
  t.fetch_x ? multiply_block_rows_in<P, T, true>(t) : multiply_block_rows_in<P, T, false>(t);
}

/// Lanes [from, to) of row_sums, each of them for several vectors.
template <class P, int from, int to>
struct lanes_of_several {
  using Cut = cut<P>;
  static constexpr int count = to - from;
  vec<widest> sum[count];

  static constexpr int lane_of(int p) {
    constexpr int full = Cut::full * widest;
    return p < full ? Cut::shared.sum[p / widest] * widest + p % widest : row_sums<P>::lanes - (P::count - p);
  }
  template <class T>
  SIMD_FN void add(const T* w, const double* x, slot_t stride) {
    unroll<P::count>([&]<int p>() SIMD_LAMBDA {
      constexpr int lane = lane_of(p);
      if constexpr (lane >= from && lane < to)
        sum[lane - from].add_product(vec<widest>::all(w[P::word_of(p)]), vec<widest>::load(x + P::in_of(p) * stride));
    });
  }
  SIMD_FN void operator+=(const lanes_of_several& b) {
    unroll<count>([&]<int n>() SIMD_LAMBDA { sum[n] += b.sum[n]; });
  }
};

/// y = y + the sums of all lanes, in the order of row_sums::combine().
template <class P>
SIMD_FN void combine_lanes(const vec<widest>* lane, vec<widest>* y) {
  using Cut = cut<P>;
  unroll<row_sums<P>::lanes>([&]<int n>() SIMD_LAMBDA {
    if constexpr (P::by_column)
      y[n % P::rows] += lane[n];
    else
      unroll<P::rows>([&]<int i>() SIMD_LAMBDA {
        constexpr int v = n / widest, sums = Cut::shared.sums;
        constexpr int p = v < sums ? Cut::shared.first[v] * widest + n % widest : n + (Cut::full - sums) * widest;
        if constexpr (P::sign(i, p) > 0) y[i] += lane[n];
        if constexpr (P::sign(i, p) < 0) y[i] -= lane[n];
      });
  });
}

template <class P, class T>
void multiply_block_rows_several(const SimdTask& t) {
  constexpr int lanes = row_sums<P>::lanes, parts = (lanes + most_sums - 1) / most_sums;
  for_each_row_of_several<T, P::words, P::rows>(t, [&](const row_of_several<T>& r) SIMD_LAMBDA {
    const slot_t entries = r.end - r.column;
    vec<widest> lane[lanes], y[P::rows];
    unroll<parts>([&]<int part>() SIMD_LAMBDA {
      constexpr int from = part_of(lanes, parts, part), to = part_of(lanes, parts, part + 1);
      using Sums = lanes_of_several<P, from, to>;
      const Sums sums = sums_in_turns<Sums, in_pairs<P>>(entries / 2, entries, [&](Sums& s, slot_t k) SIMD_LAMBDA {
        if constexpr (part == 0) r.template fetch_ahead<P::words* int(sizeof(T))>(k);
        s.add(r.values + k * P::words, r.template x_of<P::cols>(k), r.stride);
      });
      unroll<Sums::count>([&]<int n>() SIMD_LAMBDA { lane[from + n] = sums.sum[n]; });
    });
    r.template start<P::rows>(y);
    combine_lanes<P>(lane, y);
    r.template store<P::rows>(y);
  });
}

}  // namespace
}  // namespace compound::host
