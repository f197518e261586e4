// Compressed rows of dense blocks whose scalar rows lie one after the other, each through all blocks of its block row:
// dot products of these with x, and their sums for A^T. Words are read as they lie, once.
#pragma once

#include "several_vectors.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Blocks with so many real numbers in a scalar row that are taken at once: short ones fill a vector together.
template <int L>
inline constexpr int blocks_at_once = L == 1   ? 4
                                      : L == 2 ? 2
                                               : 1;

/// So many lanes of a scalar row, or of x; what is beyond the last of them is 0, on both sides: nothing else meets.
template <int lanes>
struct row_lanes {
  /// What fills no widest vector goes by fours: masked wide loads would cross more cache lines.
  static constexpr int width = lanes < widest ? 4 : widest;
  static constexpr int full = lanes / width, rest = lanes % width;
  static constexpr int last = rest == 0 ? 0 : rest <= 4 ? 4 : widest;
  vec<width> wide[full ? full : 1];
  vec<last ? last : 4> narrow;

  static SIMD_FN row_lanes load(const double* p) {
    row_lanes l;
    unroll<full>([&]<int v>() SIMD_LAMBDA { l.wide[v] = vec<width>::load(p + v * width); });
    if constexpr (rest != 0 && rest == last) l.narrow = vec<last>::load(p + full * width);
    if constexpr (rest != last) l.narrow = vec<last>::load_first(p + full * width, rest);
    return l;
  }
  SIMD_FN void store(double* p) const {
    unroll<full>([&]<int v>() SIMD_LAMBDA { wide[v].store(p + v * width); });
    if constexpr (rest != 0) narrow.store_first(p + full * width, rest);
  }
  /// The first n of four.
  static SIMD_FN row_lanes load_first(const double* p, int n) { return of_four(vec<4>::load_first(p, n)); }
  static SIMD_FN row_lanes of_four(vec<4> a) {
    static_assert(lanes == 4);
    row_lanes l;
    if constexpr (width == 4)
      l.wide[0] = a;
    else
      l.narrow = a;
    return l;
  }
  static SIMD_FN row_lanes all(double a) {
    row_lanes l;
    unroll<full>([&]<int v>() SIMD_LAMBDA { l.wide[v] = vec<width>::all(a); });
    if constexpr (rest != 0) l.narrow = vec<last>::all(a);
    return l;
  }
  SIMD_FN void add_product(const row_lanes& a, const row_lanes& b) {
    unroll<full>([&]<int v>() SIMD_LAMBDA { wide[v].add_product(a.wide[v], b.wide[v]); });
    if constexpr (rest != 0) narrow.add_product(a.narrow, b.narrow);
  }
  SIMD_FN void operator+=(const row_lanes& a) {
    unroll<full>([&]<int v>() SIMD_LAMBDA { wide[v] += a.wide[v]; });
    if constexpr (rest != 0) narrow += a.narrow;
  }
  template <class F>
  SIMD_FN static row_lanes of_each(const row_lanes& a, const F& f) {
    row_lanes l;
    unroll<full>([&]<int v>() SIMD_LAMBDA { l.wide[v] = f(a.wide[v]); });
    if constexpr (rest != 0) l.narrow = f(a.narrow);
    return l;
  }
  static SIMD_FN row_lanes swapped(const row_lanes& a) {
    return of_each(a, []<class V>(V v) SIMD_LAMBDA { return V::swapped(v); });
  }
  static SIMD_FN row_lanes odd_negated(const row_lanes& a) {
    return of_each(a, []<class V>(V v) SIMD_LAMBDA { return V::odd_negated(v); });
  }
  /// Four lanes with the same sum.
  SIMD_FN vec<4> folded() const {
    if constexpr (full == 0) {
      return narrow.folded();
    } else {
      vec<width> sum = wide[0];
      for (int v = 1; v < full; ++v) sum += wide[v];
      if constexpr (rest == 0) return sum.folded();
      if constexpr (last == width) sum += narrow;
      vec<4> four = sum.folded();
      if constexpr (rest != 0 && last != width) four += narrow;
      return four;
    }
  }
};

template <int L>
using lanes_at_once = row_lanes<blocks_at_once<L> * L>;

/// x of as many blocks.
template <int L>
SIMD_FN lanes_at_once<L> gathered(const double* x, const idx* column) {
  using Lanes = lanes_at_once<L>;
  if constexpr (L == 1)
    return Lanes::of_four(vec<4>::picked(x, column));
  else if constexpr (L == 2)
    return Lanes::of_four(vec<4>::halves(x + slot_t(column[0]) * 2, x + slot_t(column[1]) * 2));
  else
    return Lanes::load(x + slot_t(*column) * L);
}

/// The sums of a block row's scalar rows; of complex numbers (re re, im im) and (re im, im re).
template <int R, int lanes, int parts>
struct row_word_sums {
  using Lanes = row_lanes<lanes>;
  static constexpr int outputs = parts * R;
  static constexpr int registers = outputs * (Lanes::full + (Lanes::rest != 0));
  Lanes straight[R], crossed[parts == 2 ? R : 1];

  /// The words of the scalar rows begin at a, a + stride, ...: `some` of them each.
  template <int some = lanes>
  SIMD_FN void add(const double* a, slot_t stride, const Lanes& x) {
    Lanes other;
    if constexpr (parts == 2) other = Lanes::swapped(x);
    unroll<R>([&]<int i>() SIMD_LAMBDA {
      Lanes words;
      if constexpr (some == lanes)
        words = Lanes::load(a + i * stride);
      else
        words = Lanes::load_first(a + i * stride, some);
      straight[i].add_product(words, x);
      if constexpr (parts == 2) crossed[i].add_product(words, other);
    });
  }
  /// The first n lanes of full vectors.
  SIMD_FN void add_first(const double* a, slot_t stride, const double* x, int n) {
    static_assert(lanes == widest);
    const auto in = vec<widest>::load_first(x, n);
    unroll<R>([&]<int i>() SIMD_LAMBDA {
      const auto words = vec<widest>::load_first(a + i * stride, n);
      straight[i].wide[0].add_product(words, in);
      if constexpr (parts == 2) crossed[i].wide[0].add_product(words, vec<widest>::swapped(in));
    });
  }
  SIMD_FN void operator+=(const row_word_sums& b) {
    unroll<R>([&]<int i>() SIMD_LAMBDA {
      straight[i] += b.straight[i];
      if constexpr (parts == 2) crossed[i] += b.crossed[i];
    });
  }
  /// Lanes that add up to real number n of y.
  template <int n>
  SIMD_FN vec<4> folded() const {
    if constexpr (n >= outputs)
      return {};
    else if constexpr (parts == 1)
      return straight[n].folded();
    else if constexpr (n % 2 == 0)
      return Lanes::odd_negated(straight[n / 2]).folded();
    else
      return crossed[n / 2].folded();
  }
};

/// y = [z +] sums.
template <int R, int lanes, int parts>
SIMD_FN void store_row_words(const row_word_sums<R, lanes, parts>& sums, const double* z, double* y) {
  constexpr int outputs = parts * R;
  unroll<(outputs + 3) / 4>([&]<int v>() SIMD_LAMBDA {
    constexpr int first = 4 * v, here = outputs - first < 4 ? outputs - first : 4;
    if constexpr (here == 1) {
      const double sum = sums.template folded<first>().sum();
      y[first] = z ? z[first] + sum : sum;
    } else {
      vec<4> out = vec<4>::sums(sums.template folded<first>(), sums.template folded<first + 1>(),
                                sums.template folded<first + 2>(), sums.template folded<first + 3>());
      if (z) out += vec<4>::load_first(z + first, here);
      out.store_first(y + first, here);
    }
  });
}

SIMD_FN void fetch_x_of_row(const double* x, const idx* column, const idx* end, const idx* last, int reals) {
  for (; column < end; ++column) {
    const idx* const later = column + x_prefetch_entries;
    __builtin_prefetch(x + slot_t(*(later < last ? later : last)) * reals);
  }
}

/// R scalar rows with C columns in a block; L real numbers in each. Words of the next block row are fetched while this
/// one is multiplied: all of its scalar rows are begun at once. Rows of many blocks are summed in two chains where
/// registers allow, as in multiply_block_rows().
template <int R, int C, int parts>
void multiply_row_words(const SimdTask& t) {
  constexpr int L = parts * C, at_once = blocks_at_once<L>, lanes = at_once * L;
  using Sums = row_word_sums<R, lanes, parts>;
  constexpr bool pairs = 2 * Sums::registers <= accumulators;
  constexpr int bytes = R * lanes * int(sizeof(double));
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx *const columns = layout.columns.column, *const row_of = layout.row_of;
  const double *const x = t.x, *const z = t.z;
  double* const y = t.y;
  const slot_t positions = layout.positions;
  const idx* const last = columns + (positions > 0 && start[positions] > 0 ? start[positions] - 1 : 0);
  const double* w = static_cast<const double*>(t.values);  // as many words further on as were multiplied
  const idx* column = columns;
  for (slot_t position = 0; position < positions; ++position) {
    const idx* const end = columns + start[position + 1];
    const slot_t stride = (end - column) * L;
    const double* a = w;  // in the first scalar row
    if (t.fetch_x) fetch_x_of_row(x, column, end, last, L);
    Sums sums;
    if constexpr (pairs) {
      if (column + 4 * at_once <= end) {
        Sums odd;
        do {
          prefetch<2 * bytes>(w + R * stride);
          sums.add(a, stride, gathered<L>(x, column));
          odd.add(a + lanes, stride, gathered<L>(x, column + at_once));
          column += 2 * at_once;
          a += 2 * lanes;
          w += 2 * R * lanes;
          opaque(column, w);
        } while (column + 2 * at_once <= end);
        sums += odd;
      }
    }
    for (; column + at_once <= end; column += at_once, a += lanes, w += R * lanes, opaque(column, w)) {
      prefetch<bytes>(w + R * stride);
      sums.add(a, stride, gathered<L>(x, column));
    }
    if constexpr (at_once > 1)
      for (; column < end; ++column, a += L, w += R * L, opaque(column, w))
        sums.template add<L>(a, stride, lanes_at_once<L>::load_first(x + slot_t(*column) * L, L));
    const slot_t row = (row_of ? row_of[position] : position) * (parts * R);
    store_row_words(sums, z ? z + row : nullptr, y + row);
  }
}

/// Of the scalar rows from `begin` on, the lanes of row_word_sums, each of them for several vectors.
template <int begin, int rows, int L, int parts>
struct row_word_lanes_of_several {
  using V = vec<widest>;
  static constexpr int lanes = blocks_at_once<L> * L, count = parts * rows * lanes;
  V straight[rows][lanes], crossed[parts == 2 ? rows : 1][lanes];

  /// As row_word_sums::add() of so many blocks.
  template <int blocks = blocks_at_once<L>>
  SIMD_FN void add(const double* a, slot_t stride, const row_of_several<double>& r, slot_t first) {
    V in[lanes];
    unroll<blocks>([&]<int b>() SIMD_LAMBDA {
      const double* const x = r.template x_of<L>(first + b);
      unroll<L>([&]<int j>() SIMD_LAMBDA { in[b * L + j] = V::load(x + j * r.stride); });
    });
    unroll<rows>([&]<int i>() SIMD_LAMBDA {
      unroll<lanes>([&]<int l>() SIMD_LAMBDA {
        const V word = l < blocks * L ? V::all(a[(begin + i) * stride + l]) : V{};
        straight[i][l].add_product(word, in[l]);
        if constexpr (parts == 2) crossed[i][l].add_product(word, in[l ^ 1]);
      });
    });
  }
  SIMD_FN void operator+=(const row_word_lanes_of_several& b) {
    unroll<rows>([&]<int i>() SIMD_LAMBDA {
      unroll<lanes>([&]<int l>() SIMD_LAMBDA {
        straight[i][l] += b.straight[i][l];
        if constexpr (parts == 2) crossed[i][l] += b.crossed[i][l];
      });
    });
  }
  /// y = y + sums, in the order of store_row_words(); `all` scalar rows in a block.
  template <int all>
  SIMD_FN void combine(V* y) const {
    unroll<parts * rows>([&]<int n>() SIMD_LAMBDA {
      constexpr int out = parts * begin + n;
      V four[4];
      fold<n>(four);
      constexpr bool alone = out % 4 == 0 && out == parts * all - 1;
      four[0] += four[alone ? 2 : 1];
      four[alone ? 1 : 2] += four[3];
      four[0] += four[alone ? 1 : 2];
      y[out] += four[0];
    });
  }

 private:
  template <int n, int l>
  SIMD_FN V lane() const {
    if constexpr (l >= lanes)
      return {};
    else if constexpr (parts == 1)
      return straight[n][l];
    else if constexpr (n % 2 == 1)
      return crossed[n / 2][l];
    else
      return l % 2 == 0 ? straight[n / 2][l] : V::negated(straight[n / 2][l]);
  }
  /// row_lanes::folded()
  template <int n>
  SIMD_FN void fold(V* four) const {
    using Lanes = row_lanes<lanes>;
    constexpr int width = Lanes::full == 0 ? 4 : Lanes::width, begun = Lanes::full * width;
    constexpr bool widely = Lanes::full > 0 && Lanes::rest != 0 && Lanes::last == width;
    V sum[width];
    unroll<width>([&]<int l>() SIMD_LAMBDA {
      sum[l] = lane<n, l>();
      unroll<Lanes::full - 1>([&]<int v>() SIMD_LAMBDA { sum[l] += lane<n, (v + 1) * width + l>(); });
      if constexpr (widely) sum[l] += lane<n, begun + l>();
    });
    unroll<4>([&]<int l>() SIMD_LAMBDA {
      four[l] = sum[l];
      if constexpr (width > 4) four[l] += sum[4 + l];
      if constexpr (Lanes::full > 0 && Lanes::rest != 0 && !widely) four[l] += lane<n, begun + l>();
    });
  }
};

template <int R, int C, int parts>
void multiply_row_words_several(const SimdTask& t) {
  constexpr int L = parts * C, at_once = blocks_at_once<L>, lanes = at_once * L;
  constexpr bool pairs = 2 * row_word_sums<R, lanes, parts>::registers <= accumulators;
  constexpr int sums_of_row = parts * lanes, rows_a_pass = sums_of_row < most_sums ? most_sums / sums_of_row : 1;
  constexpr int passes = (R + rows_a_pass - 1) / rows_a_pass;
  for_each_row_of_several<double, R * L, parts * R>(t, [&](const row_of_several<double>& r) SIMD_LAMBDA {
    const slot_t blocks = r.end - r.column, stride = blocks * L, whole = blocks / at_once;
    const slot_t turns = whole >= 4 ? whole / 2 : 0;
    vec<widest> y[parts * R];
    r.template start<parts * R>(y);
    unroll<passes>([&]<int pass>() SIMD_LAMBDA {
      constexpr int begin = part_of(R, passes, pass), rows = part_of(R, passes, pass + 1) - begin;
      using Sums = row_word_lanes_of_several<begin, rows, L, parts>;
      Sums sums = sums_in_turns<Sums, pairs>(turns, whole, [&](Sums& s, slot_t k) SIMD_LAMBDA {
        if constexpr (pass == 0) r.template fetch_ahead<R * lanes* int(sizeof(double))>(k * at_once);
        s.add(r.values + k * lanes, stride, r, k * at_once);
      });
      if constexpr (at_once > 1)
        for (slot_t k = whole * at_once; k < blocks; ++k) sums.template add<1>(r.values + k * L, stride, r, k);
      sums.template combine<R>(y);
    });
    r.template store<parts * R>(y);
  });
}

/// Words times real parts, and times imaginary ones (vec or row_lanes): what they are together.
template <int parts, bool conjugate, class Lanes>
SIMD_FN void add_crossed(Lanes& straight, const Lanes& crossed) {
  if constexpr (parts == 1) return;
  if constexpr (conjugate) straight = Lanes::odd_negated(straight);
  straight += Lanes::swapped(conjugate ? crossed : Lanes::odd_negated(crossed));
}

/// y = y + A^T x: each block's rows times their scalars of x. `conjugate`: of complex words, A^H.
template <int R, int C, int parts, bool conjugate>
SIMD_FN void scatter_row_words_in(const SimdTask& t) {
  constexpr int L = parts * C;
  using Lanes = row_lanes<L>;
  const SimdRows layout(t.layout);
  const double* w = static_cast<const double*>(t.values);
  const idx* column = layout.columns.column;
  double* const y = t.y;
  for (slot_t position = 0, positions = layout.positions; position < positions; ++position) {
    const idx* const end = layout.columns.column + layout.start[position + 1];
    const slot_t stride = (end - column) * L;
    const double* const x = t.x + slot_t(layout.row(static_cast<idx>(position))) * (parts * R);
    Lanes of_x[R], other[parts == 2 ? R : 1];
    unroll<R>([&]<int i>() SIMD_LAMBDA {
      of_x[i] = Lanes::all(x[parts * i]);
      if constexpr (parts == 2) other[i] = Lanes::all(x[parts * i + 1]);
    });
    const double* a = w;
    for (; column < end; ++column, a += L, w += R * L) {
      prefetch<R * L* int(sizeof(double))>(w);
      Lanes straight, crossed;
      unroll<R>([&]<int i>() SIMD_LAMBDA {
        const Lanes words = Lanes::load(a + i * stride);
        straight.add_product(words, of_x[i]);
        if constexpr (parts == 2) crossed.add_product(words, other[i]);
      });
      double* const to = y + slot_t(*column) * L;
      add_crossed<parts, conjugate>(straight, crossed);
      straight += Lanes::load(to);
      straight.store(to);
    }
  }
}

template <int R, int C, int parts>
void scatter_row_words(const SimdTask& t) {
  if constexpr (parts == 2)
    if (t.conjugate) return scatter_row_words_in<R, C, parts, true>(t);
  scatter_row_words_in<R, C, parts, false>(t);
}

}  // namespace
}  // namespace compound::host
