// Where the words of an item (a slot of the matrix, a block of a vector) lie in memory, and how each is kept.
#pragma once

#include "../scalar.hpp"

namespace compound {

/// grouped<G>: items in groups of G; within a group word 0 of all its items, then word 1, and so on.
///
/// Word k of item s of W words lies at (s / G) * G * W + k * G + s % G. G = 1 is an array of structures, G = all items
/// a structure of arrays. `Group`: 1, a power of two, `all`, or `dynamic` (any of them, known at run time).
inline constexpr slot_t all_items = -2;

template <slot_t Group>
struct word_map {
  COMPOUND_FN static constexpr slot_t log2_of(slot_t g) {
    slot_t log2 = 0;
    while (g > 1) {
      g /= 2;
      ++log2;
    }
    return log2;
  }
  static constexpr int one_group = 62;  ///< a shift that sends every item to group 0

  fixed_or<Group == dynamic ? dynamic : Group == all_items ? slot_t(one_group) : log2_of(Group)> shift;
  fixed_or<Group == all_items ? dynamic : Group> stride;

  COMPOUND_FN constexpr slot_t first(slot_t item, int words) const {
    const slot_t within = (slot_t{1} << shift) - 1;
    return (item >> shift) * (stride * words) + (item & within);
  }
};

/// Order of an entry's grid of words: (i, j) at i * word_cols + j, or at j * word_rows + i.
enum class WordOrder { row, column, any };

/// A code of words: how one is kept. Here as a number, in its own precision or a narrower one: `values=`.
template <Cache cache = Cache::keep>
struct plain_words {
  template <class Word, class Stored>
  COMPOUND_FN static Word get(const Stored* from) {
    return Word(read<cache>(from));
  }
  template <class Word, class Stored>
  COMPOUND_FN static void put(Stored* to, Word w) {
    *to = Stored(w);
  }
};

/// Words as codes of one byte into a table: `codes=scalars8`.
template <class Item, Cache cache = Cache::keep>
struct table_words {
  const Item* table = nullptr;
  template <class Word, class Stored>
  COMPOUND_FN Word get(const Stored* from) const {
    return Word(table[read<cache>(from)]);
  }
};

/// The stored words of one item, read as `Word`: w(i, j).
template <class Word, class Stored, class Code = plain_words<>>
struct words_ref {
  Stored* first;
  slot_t i_stride, j_stride;
  Code code = {};
  COMPOUND_FN Word operator()(int i, int j) const { return code.template get<Word>(stored(i, j)); }
  COMPOUND_FN void put(int i, int j, Word w) const { code.put(stored(i, j), w); }
  COMPOUND_FN Stored* stored(int i, int j) const { return first + i * i_stride + j * j_stride; }
};

/// An index of values: which item of the matrix' words a slot stands for. Here the slot itself,
struct own_values {
  COMPOUND_FN static slot_t at(slot_t slot) { return slot; }
};
/// or one from a list: so a layout of A^T's pattern reads A's own words.
template <class Index>
struct listed_values {
  const Index* item = nullptr;
  COMPOUND_FN slot_t at(slot_t slot) const { return slot_t(item[slot]); }
};

/// The item that a code stands for: `codes=blocks8`.
template <class Index, class Base = own_values, Cache cache = Cache::keep>
struct coded_values {
  Base base;
  const Index* code = nullptr;
  COMPOUND_FN slot_t at(slot_t slot) const { return slot_t(read<cache>(code + base.at(slot))); }
};

template <slot_t Group, WordOrder Order, class Code = plain_words<>>
struct matrix_words {
  word_map<Group> map;
  WordOrder run_time_order = Order;
  Code code = {};

  template <class Entry, class Stored>
  COMPOUND_FN auto at(const Entry& entry, Stored* values, slot_t slot) const {
    const bool by_row = Order == WordOrder::any ? run_time_order == WordOrder::row : Order == WordOrder::row;
    return words_ref<typename Entry::word, Stored, Code>{values + map.first(slot, entry.words()),
                                                         (by_row ? entry.word_cols() : 1) * map.stride,
                                                         (by_row ? 1 : entry.word_rows()) * map.stride, code};
  }
};

/// Loads and stores one block of a vector of n-blocks.
template <slot_t Group>
struct vector_words {
  word_map<Group> map;

  /// Place of scalar i of a block of n.
  COMPOUND_FN slot_t at(idx block, int n, int i) const { return map.first(block, n) + i * map.stride; }

  template <class S>
  COMPOUND_FN void load(const S* v, idx block, int n, S* to) const {
    const slot_t first = map.first(block, n);
    for (int i = 0; i < n; ++i) to[i] = v[first + i * map.stride];
  }
  template <class S>
  COMPOUND_FN void store(S* v, idx block, int n, const S* from) const {
    const slot_t first = map.first(block, n);
    for (int i = 0; i < n; ++i) v[first + i * map.stride] = from[i];
  }
};

}  // namespace compound
