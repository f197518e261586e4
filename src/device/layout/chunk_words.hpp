// Words kept chunk by chunk: those of a chunk as they are or, where all of them are in a table of 256, as codes of one
// byte. `codes=chunks8`; the encoder is src/storage/chunk_codes.cpp.
//
// Source: Aliaga et al. 2020, table 1 (values of a chunk in 64 bits or in 8 by a table of the most frequent ones).
#pragma once

#include "words.hpp"

namespace compound {

/// Where a chunk's words begin, in units of so many bytes as a whole chunk has words, and how they are kept.
struct chunk_place {
  count32 bits = 0;

  COMPOUND_FN static chunk_place of(slot_t unit, bool is_coded) { return {2 * count32(unit) + count32(is_coded)}; }
  COMPOUND_FN slot_t unit() const { return bits >> 1; }
  COMPOUND_FN bool is_coded() const { return bits & 1; }
};

template <class Item, slot_t Chunk = dynamic, Cache cache = Cache::keep>
struct chunk_words {
  static constexpr bool is_table = true;
  const Item* table = nullptr;
  const chunk_place* place = nullptr;  ///< [chunks]
  fixed_or<Chunk> chunk;               ///< slots of one
};

/// The words of one item: w(i, j).
template <class Word, class Item, Cache cache>
struct chunk_words_ref {
  const unsigned char* coded;
  const Item* plain;  ///< null where they are coded
  const Item* table;
  slot_t i_stride, j_stride;

  COMPOUND_FN Word operator()(int i, int j) const {
    const slot_t at = i * i_stride + j * j_stride;
    return Word(plain ? read<cache>(plain + at) : table[read<cache>(coded + at)]);
  }
};

/// Groups of words do not go over the border of a chunk.
template <slot_t Group, WordOrder Order, class Item, slot_t Chunk, Cache cache, slot_t Padding>
struct matrix_words<Group, Order, chunk_words<Item, Chunk, cache>, Padding> {
  word_map<Group, Padding> map;
  WordOrder run_time_order = Order;
  chunk_words<Item, Chunk, cache> code = {};

  template <class Entry>
  COMPOUND_FN auto at(const Entry& entry, const unsigned char* values, slot_t slot) const {
    const bool by_row = Order == WordOrder::any ? run_time_order == WordOrder::row : Order == WordOrder::row;
    const slot_t number = slot / code.chunk;
    const chunk_place place = code.place[number];
    const unsigned char* const words = values + place.unit() * code.chunk * entry.words();
    const slot_t first = map.first(slot - number * code.chunk, entry.words());
    return chunk_words_ref<typename Entry::word, Item, cache>{
        words + first, place.is_coded() ? nullptr : reinterpret_cast<const Item*>(words) + first, code.table,
        (by_row ? entry.word_cols() : 1) * map.stride, (by_row ? 1 : entry.word_rows()) * map.stride};
  }
};

}  // namespace compound
