// An entry as a list of real products: y_i = sum over p of sign(i, p) * word(word_of(p)) * x(in_of(p)).
//
// A row sums each product over its entries and combines the sums once, at its end (shared/notes on hosts call it
// deferred combination): entries then need no shuffling of results, whatever their algebra.
#pragma once

#include "../../device/entry/entries.hpp"
#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// Kinds with a structure table: every word with every x, most signs 0.
template <class Entry>
struct products {
  static_assert(!is_complex<typename Entry::scalar>);
  static constexpr int words = Entry::word_count, rows = Entry::block_rows, cols = Entry::block_cols;
  static constexpr int count = words * cols;
  static constexpr bool by_column = false;
  static constexpr int word_of(int p) { return p / cols; }
  static constexpr int in_of(int p) { return p % cols; }
  static constexpr int sign(int i, int p) { return Entry::structure(i, in_of(p), word_of(p)).re; }
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
