// An entry as a list of real products: y_i = sum over p of sign(i, p) * word(word_of(p)) * x(in_of(p)).
//
// A row sums each product over its entries and combines the sums once, at its end (deferred combination): entries then
// need no shuffling of results, whatever their algebra.
#pragma once

#include "../../device/entry/entries.hpp"
#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// A kind with a structure table in real numbers: the sign with which word k times x_j enters y_i. A complex number is
/// two reals, its imaginary part a real times i.
template <class Entry>
struct real_structure {
  static constexpr int parts = is_complex<typename Entry::scalar> ? 2 : 1;
  static constexpr int parts_of_word = is_complex<typename Entry::word> ? 2 : 1;
  static constexpr int rows = parts * Entry::block_rows, cols = parts * Entry::block_cols;
  static constexpr int words = parts_of_word * Entry::word_count;

  static constexpr unit times_i(unit u) { return {-u.im, u.re}; }
  static constexpr int sign(int i, int j, int k) {
    unit u = Entry::structure(i / parts, j / parts, k / parts_of_word);
    if (k % parts_of_word == 1) u = times_i(u);
    if (j % parts == 1) u = times_i(u);
    return i % parts == 1 ? u.im : u.re;
  }
  static constexpr bool appears(int j, int k) {
    for (int i = 0; i < rows; ++i)
      if (sign(i, j, k) != 0) return true;
    return false;
  }
};

/// Kinds with a structure table: every word with every x that it ever meets, in the order of words. Two or three left
/// over beyond fours are filled up to a four by products that enter nothing.
template <class Entry>
struct products {
  using Structure = real_structure<Entry>;
  static constexpr int words = Structure::words, rows = Structure::rows, cols = Structure::cols;
  static constexpr bool by_column = false;

  struct List {
    int word[words * cols + 3] = {}, in[words * cols + 3] = {};
    int meant = 0, count = 0;
  };
  static constexpr List list = [] {
    List l;
    const auto add = [&](int k, int j) {
      l.word[l.count] = k;
      l.in[l.count++] = j;
    };
    for (int k = 0; k < words; ++k)
      for (int j = 0; j < cols; ++j)
        if (Structure::appears(j, k)) add(k, j);
    l.meant = l.count;
    while (l.count % 4 > 1) add(l.word[l.meant - 1], l.in[l.meant - 1]);
    return l;
  }();
  static constexpr int count = list.count;
  static constexpr int word_of(int p) { return list.word[p]; }
  static constexpr int in_of(int p) { return list.in[p]; }
  static constexpr int sign(int i, int p) { return p < list.meant ? Structure::sign(i, in_of(p), word_of(p)) : 0; }
};

/// Dense blocks by column: as many products as words, in their order.
template <class S, slot_t R, slot_t C>
struct products<dense<S, R, C>> {
  static_assert(!is_complex<S>);
  static constexpr int words = R * C, rows = R, cols = C;
  static constexpr int count = words;
  static constexpr bool by_column = true;  ///< product p enters y at p % rows
  static constexpr int word_of(int p) { return p; }
  static constexpr int in_of(int p) { return p / rows; }
  static constexpr int sign(int i, int p) { return p % rows == i; }
};

/// Dense blocks of complex numbers, as real ones: words times Re x, then the same words times Im x; the words that fill
/// no whole vector come last, so that no vector mixes both ends of a block.
template <class T, slot_t R, slot_t C>
struct products<dense<complex_number<T>, R, C>> {
  static constexpr int words = 2 * R * C, rows = 2 * R, cols = 2 * C;
  static constexpr int count = 2 * words;
  static constexpr bool by_column = false;
  static constexpr int whole = words - words % widest;  ///< words in whole vectors
  static constexpr int rest = words - whole;

  static constexpr int word_of(int p) {
    return p < 2 * whole ? p % (whole ? whole : 1) : whole + (p - 2 * whole) % (rest ? rest : 1);
  }
  static constexpr bool times_imaginary(int p) { return p < 2 * whole ? p >= whole : p - 2 * whole >= rest; }
  static constexpr int in_of(int p) { return word_of(p) / rows * 2 + times_imaginary(p); }
  static constexpr int sign(int i, int p) {
    const int out = word_of(p) % rows;  // where (Re w) (Re x) and (Im w) (Re x) belong
    if (!times_imaginary(p)) return i == out;
    if (out % 2 == 0) return i == out + 1;  // (Re w) (Im x)
    return i == out - 1 ? -1 : 0;           // (Im w) (Im x)
  }
};

}  // namespace
}  // namespace compound::host
