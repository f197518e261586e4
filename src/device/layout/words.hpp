// Where the words of an item (a slot of the matrix, a block of a vector) lie in memory, and how each is kept.
#pragma once

#include "../wide.hpp"

namespace compound {

/// grouped<G>: items in groups of G; within a group word 0 of all its items, then word 1, and so on.
///
/// Word k of item s of W words lies at (s / G) * G * W + k * G + s % G. G = 1 is an array of structures, G = all items
/// a structure of arrays. `Group`: 1, a power of two, `all`, or `dynamic` (any of them, known at run time). Items of
/// groups of 1 may have `Padding` words more, which mean nothing, so that each begins at a round address.
inline constexpr slot_t all_items = -2;

template <slot_t Group>
inline constexpr slot_t usual_padding = Group == dynamic ? dynamic : 0;

template <slot_t Group, slot_t Padding = usual_padding<Group>>
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
  fixed_or<Padding> padding;

  COMPOUND_FN constexpr slot_t first(slot_t item, int words) const {
    const slot_t within = (slot_t{1} << shift) - 1;
    return (item >> shift) * (stride * (words + padding)) + (item & within);
  }
};

/// Order of an entry's grid of words: (i, j) at i * word_cols + j, or at j * word_rows + i.
enum class WordOrder { row, column, any };

/// A code of words: how one is kept. Here as a number, in its own precision or a narrower one: `values=`.
template <Cache cache = Cache::keep>
struct plain_words {
  static constexpr bool is_table = false;
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
  static constexpr bool is_table = true;
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

/// The only item there is: `codes=blocks0`.
struct one_value {
  COMPOUND_FN static slot_t at(slot_t) { return 0; }
};

/// The item that the bit beside a column stands for: `codes=blocks1`.
template <class Base = own_values, Cache cache = Cache::keep>
struct values_by_bit {
  Base base;
  const count32* column = nullptr;
  COMPOUND_FN slot_t at(slot_t slot) const { return slot_t(read<cache>(column + base.at(slot)) >> 31); }
};

/// Puts a code into the bit beside a column.
struct bit_words {
  static constexpr bool is_table = false;
  template <class Word, class Stored>
  COMPOUND_FN static void put(Stored* column, Word bit) {
    *column = (*column & ~(Stored{1} << 31)) | Stored(bit) << 31;
  }
};

template <slot_t Group, WordOrder Order, class Code = plain_words<>, slot_t Padding = usual_padding<Group>>
struct matrix_words {
  word_map<Group, Padding> map;
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

/// The words of one entry of a known size, in registers: w(i, j).
template <class Word, int words, int i_stride, int j_stride>
struct held_words {
  Word word[words];
  COMPOUND_FN Word operator()(int i, int j) const { return word[i * i_stride + j * j_stride]; }
};

/// As `Words`, for workers that need words of an entry several times: each is read once, also where the compiler may
/// not read once for all (a stream).
template <class Words>
struct held_matrix_words {
  Words words;

  template <class Entry, class Stored>
  COMPOUND_FN auto at(const Entry& e, const Stored* values, slot_t slot) const {
    constexpr Entry entry{};
    const auto from = words.at(e, values, slot);
    held_words<typename Entry::word, entry.words(), 1, entry.word_rows()> held;
    for (int j = 0; j < entry.word_cols(); ++j)
      for (int i = 0; i < entry.word_rows(); ++i) held.word[i + j * entry.word_rows()] = from(i, j);
    return held;
  }
};

/// Whether entries of groups of 1 are read in wide accesses: where an access takes several numbers, and where they
/// leave registers for others.
template <class Stored>
COMPOUND_FN constexpr bool holds_words(int words, slot_t padding) {
  constexpr slot_t most_bytes = 512;
  return widest_access((words + padding) * slot_t(sizeof(Stored))) > int(sizeof(real_of<Stored>)) &&
         words * slot_t(sizeof(Stored)) <= most_bytes;
}

/// As matrix_words of group 1, for workers that need all words of an entry: they are read at once, in the widest
/// accesses. `values` begin at a multiple of 16 bytes.
template <WordOrder Order, Cache cache, slot_t Padding>
struct wide_matrix_words {
  word_map<1, Padding> map;

  template <class Entry, class Stored>
  COMPOUND_FN auto at(const Entry&, const Stored* values, slot_t slot) const {
    constexpr Entry entry{};
    constexpr bool by_row = Order == WordOrder::row;
    constexpr int words = entry.words(), access = widest_access((words + Padding) * slot_t(sizeof(Stored)));
    constexpr int together = access / int(sizeof(Stored)), whole = (words + together - 1) / together * together;
    Stored stored[whole];
    read_wide<access, cache>(values + map.first(slot, words), whole, stored);
    held_words<typename Entry::word, words, by_row ? entry.word_cols() : 1, by_row ? 1 : entry.word_rows()> held;
    for (int k = 0; k < words; ++k) held.word[k] = typename Entry::word(stored[k]);
    return held;
  }
};

/// Loads and stores one block of a vector of n-blocks: scalar by scalar, or in accesses of so many bytes where blocks
/// follow each other from a multiple of that on.
template <slot_t Group, int access = 0>
struct vector_words {
  static_assert(access == 0 || Group == 1, "scalars of a block lie side by side in groups of 1 alone");
  word_map<Group> map;

  /// Place of scalar i of a block of n.
  COMPOUND_FN slot_t at(idx block, int n, int i) const { return map.first(block, n) + i * map.stride; }

  template <Cache cache = Cache::keep, class S>
  COMPOUND_FN void load(const S* v, idx block, int n, S* to) const {
    const slot_t first = map.first(block, n);
    if constexpr (access > 0)
      read_wide<access, cache>(v + first, n, to);
    else
      for (int i = 0; i < n; ++i) to[i] = read<cache>(v + first + i * map.stride);
  }
  /// Of a vector that is made as it is read.
  template <class Made, class S>
  requires requires(const Made& v, const vector_words& words, S* to) { v.load(words, idx{}, 0, to); }
  COMPOUND_FN void load(const Made& v, idx block, int n, S* to) const { v.load(*this, block, n, to); }
  template <class S>
  COMPOUND_FN void store(S* v, idx block, int n, const S* from) const {
    const slot_t first = map.first(block, n);
    if constexpr (access > 0)
      write_wide<access>(v + first, n, from);
    else
      for (int i = 0; i < n; ++i) v[first + i * map.stride] = from[i];
  }
};

}  // namespace compound
