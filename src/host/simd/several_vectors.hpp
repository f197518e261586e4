// Compressed rows times several vectors: as many together as a SIMD vector has lanes. Their x lie interleaved, so a
// word of the matrix meets all of them at once. Each result has the bits of the product with one vector: what is a lane
// there is a SIMD vector here (decision 0052).
#pragma once

#include "streams.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Sums that stay in registers beside what is added to them. A row goes by as many passes as its sums need: its values
/// are in the first cache.
inline constexpr int most_sums = accumulators * 3 / 2;

/// The first of the n-th of `parts` nearly equal parts of `all`.
constexpr int part_of(int all, int parts, int n) { return all * n / parts; }

/// The sums of entries [0, end), of which the first 2 turns go in turns to two sums that are added up then: at once
/// where both nearly fit in the registers, else one after the other.
template <class Sums, bool pairs, class Add>
SIMD_FN Sums sums_in_turns(slot_t turns, slot_t end, const Add& add) {
  Sums sums;
  if constexpr (pairs) {
    Sums odd;
    if constexpr (Sums::count <= accumulators) {
      for (slot_t n = 0; n < 2 * turns; n += 2) {
        add(sums, n);
        add(odd, n + 1);
      }
    } else {
      for (slot_t n = 0; n < 2 * turns; n += 2) add(sums, n);
      for (slot_t n = 1; n < 2 * turns; n += 2) add(odd, n);
    }
    sums += odd;
  }
  for (slot_t n = pairs ? 2 * turns : 0; n < end; ++n) add(sums, n);
  return sums;
}

/// A row of a matrix and `widest` vectors, of which the first `vectors` count.
template <class T>
struct row_of_several {
  const T* values;
  const idx *column, *end;
  const double* x;  ///< interleaved with those of all vectors, which are `stride` in number
  slot_t stride;
  const double* z;  ///< of the first vector, or null
  double* y;
  slot_t z_apart, y_apart;
  int vectors;
  const char* fetch;  ///< values of a later row, of which each group of vectors asks for a part
  slot_t fetch_step;  ///< bytes for each entry

  /// The part of entry k and so many bytes from there.
  template <int bytes>
  SIMD_FN void fetch_ahead(slot_t k) const {
    prefetch<bytes>(fetch + k * fetch_step, 0);
  }

  /// x of entry k, of blocks with so many real numbers, which are `stride` apart.
  template <int in>
  SIMD_FN const double* x_of(slot_t k) const {
    return x + slot_t(column[k]) * (in * stride);
  }
  /// y = [z +] sum
  template <int out>
  SIMD_FN void start(vec<widest>* sum) const {
    if (!z) return;
    double lanes[out * widest] = {};
    for (int n = 0; n < vectors; ++n)
      for (int i = 0; i < out; ++i) lanes[i * widest + n] = z[n * z_apart + i];
    for (int i = 0; i < out; ++i) sum[i] = vec<widest>::load(lanes + i * widest);
  }
  template <int out>
  SIMD_FN void store(const vec<widest>* sum) const {
    double lanes[out * widest];
    for (int i = 0; i < out; ++i) sum[i].store(lanes + i * widest);
    for (int n = 0; n < vectors; ++n)
      for (int i = 0; i < out; ++i) y[n * y_apart + i] = lanes[i * widest + n];
  }
};

/// Four numbers of each of so many vectors, a multiple of four.
SIMD_FN void interleave_four(const double* x, slot_t apart, int vectors, double* to, slot_t stride) {
  for (int n = 0; n < vectors; n += 4) {
    const double* const from = x + n * apart;
    vec<4> a = vec<4>::load(from), b = vec<4>::load(from + apart), c = vec<4>::load(from + 2 * apart),
           d = vec<4>::load(from + 3 * apart);
    vec<4>::transpose(a, b, c, d);
    a.store(to + n);
    b.store(to + stride + n);
    c.store(to + 2 * stride + n);
    d.store(to + 3 * stride + n);
  }
}

/// A multiple of `widest`.
SIMD_FN slot_t stride_of(int vectors) { return (vectors + widest - 1) / widest * widest; }

/// x of all vectors, interleaved: [numbers][stride], filled up with zeros.
SIMD_FN void interleave(const SimdTask& t, double* to) {
  const slot_t stride = stride_of(t.vectors);
  const int fours = t.vectors / 4 * 4;
  const auto fill = [&](slot_t i, int first) SIMD_LAMBDA {
    for (int n = first; n < stride; ++n) to[i * stride + n] = n < t.vectors ? t.x[i + n * t.x_apart] : 0.0;
  };
  slot_t i = 0;
  for (; i + 4 <= t.numbers; i += 4) {
    interleave_four(t.x + i, t.x_apart, fours, to + i * stride, stride);
    for (slot_t k = i; k < i + 4; ++k) fill(k, fours);
  }
  for (; i < t.numbers; ++i) fill(i, 0);
}

/// f(row) of each row and each `widest` vectors: a row's values come from memory for the first of them alone. `words`:
/// in an entry; `out`: real numbers of y in a row.
template <class T, int words, int out, class F>
SIMD_FN void for_each_row_of_several(const SimdTask& t, const F& f) {
  const SimdRows layout(t.layout);
  row_of_several<T> r;
  r.values = static_cast<const T*>(t.values);
  r.column = layout.columns.column;
  r.z_apart = t.z_apart;
  r.y_apart = t.y_apart;
  r.stride = stride_of(t.vectors);
  interleave(t, t.interleaved);
  const int passes = (t.vectors + widest - 1) / widest;
  r.fetch_step = slot_t(words) * slot_t(sizeof(T)) / passes;
  for (idx position = 0; position < layout.positions; ++position) {
    const slot_t row = slot_t(layout.row(position)) * out;
    r.end = layout.columns.column + layout.start[position + 1];
    r.x = t.interleaved;
    r.fetch = reinterpret_cast<const char*>(r.values) + prefetch_bytes;
    const slot_t bytes = (r.end - r.column) * words * slot_t(sizeof(T)), share = bytes / passes;
    for (int first = 0; first < t.vectors; first += widest, r.x += widest, r.fetch += share) {
      r.vectors = t.vectors - first < widest ? t.vectors - first : widest;
      r.z = t.z ? t.z + first * t.z_apart + row : nullptr;
      r.y = t.y + first * t.y_apart + row;
      f(row_of_several<T>(r));
    }
    r.values += (r.end - r.column) * words;
    r.column = r.end;
  }
}

}  // namespace
}  // namespace compound::host
