// Values coded chunk by chunk (layout/chunk_words.hpp): what is done for each word, on the host and on a device.
#pragma once

#include "code_items.hpp"
#include "layout/chunk_words.hpp"

namespace compound {

/// Some words drawn, those without a code noted, all written.
enum class ChunkStep { sample, note, write };

struct chunk_code_args {
  const bits32* words = nullptr;  ///< [count][bits32s] as packed without a code, in groups
  slot_t count = 0;               ///< the last group's padding among them
  int bits32s = 0;                ///< of a word
  slot_t slots = 0;
  int words_of_entry = 0;
  word_map<dynamic> map;
  slot_t words_of_chunk = 0;
  slot_t samples = 0;
  bits32* sample = nullptr;            ///< [samples][bits32s]
  item_table table;                    ///< of the most frequent words: numbers of them in `first`
  count32* full = nullptr;             ///< [chunks] set to 1 where a word has no code, 0 before
  const chunk_place* place = nullptr;  ///< [chunks]
  unsigned char* to = nullptr;

  COMPOUND_FN const bits32* word(slot_t w) const { return words + w * bits32s; }
  COMPOUND_FN count32 code_of(slot_t w) const { return table.first[table.place_of(word(w))]; }
};

COMPOUND_FN void copy_bits(const bits32* from, int n, bits32* to) {
  for (int k = 0; k < n; ++k) to[k] = from[k];
}

/// One of each of `samples` equal shares of the entries' words, at a place that nothing in the matrix repeats.
COMPOUND_FN void sample_word(const chunk_code_args& a, slot_t s) {
  const slot_t words = a.slots * a.words_of_entry, begin = s * words / a.samples;
  const slot_t share = (s + 1) * words / a.samples - begin;
  const slot_t at = begin + slot_t((s * 0x9e3779b97f4a7c15ull >> 33) % (unsigned long long)(share));
  const slot_t from = a.map.first(at / a.words_of_entry, a.words_of_entry) + at % a.words_of_entry * a.map.stride;
  copy_bits(a.word(from), a.bits32s, a.sample + s * a.bits32s);
}

/// Notes a word without a code. Workers of a chunk write the same.
COMPOUND_FN void note_word(const chunk_code_args& a, slot_t w) {
  const slot_t of_group = a.map.stride * a.words_of_entry, slot = w / of_group * a.map.stride + w % a.map.stride;
  if (slot < a.slots && a.code_of(w) == no_item) a.full[w / a.words_of_chunk] = 1;
}

/// Words beyond the last entry have any code.
COMPOUND_FN void write_word(const chunk_code_args& a, slot_t w) {
  const slot_t chunk = w / a.words_of_chunk, at = w % a.words_of_chunk;
  const chunk_place place = a.place[chunk];
  unsigned char* const to = a.to + place.unit() * a.words_of_chunk;
  if (!place.is_coded())
    copy_bits(a.word(w), a.bits32s, reinterpret_cast<bits32*>(to) + at * a.bits32s);
  else
    to[at] = static_cast<unsigned char>(a.code_of(w));
}

}  // namespace compound
