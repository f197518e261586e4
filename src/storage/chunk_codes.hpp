// Values coded chunk by chunk: `codes=chunks8`.
#pragma once

#include "backend/backend.hpp"
#include "device/layout/chunk_words.hpp"

namespace compound {

/// Words as they are packed without a code, in a backend's memory.
struct WordsOfChunks {
  const void* words = nullptr;
  slot_t slots = 0;
  int words_of_entry = 0;
  idx group = 1;          ///< of words; divides a chunk
  std::size_t bytes = 0;  ///< of a word
  idx chunk = 0;          ///< slots of one
};

struct ChunkedValues {
  Buffer<std::byte> table;     ///< words, the most frequent first
  Buffer<chunk_place> places;  ///< [chunks]
  Buffer<std::byte> values;
};

/// The table is of the words that are most frequent among 2^18 that are drawn evenly, so of all where they are no more.
/// Chunks whose words are all in it have codes, the others keep their words.
ChunkedValues code_chunks(Backend& on, const WordsOfChunks& words);

/// Up to `most` different items of `count`, of so many bytes each, those that come most often first; of equally many
/// the one that comes first.
std::vector<std::byte> most_frequent(const void* items, slot_t count, std::size_t bytes, std::size_t most);

}  // namespace compound
