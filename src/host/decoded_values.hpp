// Lists of rows whose values are coded, as kernels that know no codes read them.
#pragma once

#include <vector>

#include "../device/layout/chunk_words.hpp"
#include "../device/layout/listed_rows.hpp"
#include "../device/layout/words.hpp"
#include "plan/plan.hpp"

namespace compound::host {

/// As of a ProductTask.
struct CodedValues {
  const void* values;
  const void* codes;
  const void* table;
  idx chunk;  ///< slots of one, where the layout has chunks
};

class DecodedValues {
 public:
  /// `map`: of the words in `coded.values`.
  DecodedValues(const Plan& plan, const Problem& problem, const CodedValues& coded, const word_map<dynamic>& map);

  /// The same lists with slots of words(), until the next call.
  row_lists decoded(const row_lists& lists);
  const void* words() const { return words_; }
  const word_map<dynamic>& map() const { return map_; }

  /// The words of so many slots, entry after entry, until the next call. Where they are neither of blocks nor of a
  /// table, they lie so.
  const void* in_order(slot_t first, slot_t slots);

  /// The words of slots in groups of `together`, 8 or 32: of those given since clear(). Slots come in whole groups, and
  /// so do those of the layout.
  void clear() { filled_ = 0; }
  void append_groups(slot_t first, slot_t slots, int together);
  const void* groups() const { return copied_.data(); }

 private:
  void look_up(const row_lists& lists);
  template <class Copy>
  void copy_words(const row_lists& lists, const Copy& copy);
  void copy_coded_words(const row_lists& lists);
  void copy_words_of_chunks(const row_lists& lists);
  void copy_blocks_in_order(slot_t first, slot_t slots);
  template <std::size_t bytes, int together>
  void append(slot_t first, slot_t slots, std::byte* to);

  const ValueCode& code_;
  CodedValues coded_;
  word_map<dynamic> coded_map_, map_;
  int words_of_entry_;
  std::size_t bytes_of_word_;
  const void* words_;
  std::vector<slot_t> slot_;
  std::vector<std::byte> copied_;
  std::size_t filled_ = 0;  ///< bytes of `copied_` that append_groups() has given words
};

}  // namespace compound::host
