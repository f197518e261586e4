// Which of many items are the same, bit by bit: a hash table of the first of each, on the host and on a device.
#pragma once

#include "target.hpp"

namespace compound {

inline constexpr count32 no_item = ~count32{0};

/// Places of a table for so many distinct items: a power of two, a quarter full at most.
COMPOUND_FN constexpr count32 places_of(slot_t most) {
  count32 places = 1;
  while (slot_t(places) < 4 * most) places *= 2;
  return places;
}

/// Items of `words` words of 32 bits each.
struct item_table {
  const bits32* items = nullptr;
  int words = 0;
  count32* first = nullptr;  ///< [mask + 1] an item, the first of its bits; or no_item
  count32 mask = 0;

  COMPOUND_FN const bits32* item(slot_t number) const { return items + number * words; }

  COMPOUND_FN count32 hash(const bits32* item) const {
    unsigned long long h = 0;
    for (int w = 0; w < words; ++w) h = ((h ^ item[w]) * 0x9e3779b97f4a7c15ull) ^ (h >> 29);
    return count32(h ^ (h >> 32)) & mask;
  }
  COMPOUND_FN bool same(const bits32* a, const bits32* b) const {
    for (int w = 0; w < words; ++w)
      if (a[w] != b[w]) return false;
    return true;
  }

  /// Where an item is, or the empty place that it would take.
  COMPOUND_FN count32 place_of(slot_t number) const { return place_of(item(number)); }
  COMPOUND_FN count32 place_of(const bits32* wanted) const {
    count32 place = hash(wanted);
    while (first[place] != no_item && !same(item(first[place]), wanted)) place = (place + 1) & mask;
    return place;
  }
};

struct code_args {
  item_table table;
  slot_t count = 0;
  count32 most = 0;
  count32* distinct = nullptr;    ///< a counter, 0 before
  const count32* code = nullptr;  ///< [mask + 1] of the item at each place
  void* codes = nullptr;          ///< [count]
};

/// to[n] = item `from[n]`.
struct gather_args {
  item_table table;
  slot_t count = 0;  ///< words of all
  const count32* from = nullptr;
  bits32* to = nullptr;
};

#if defined(__CUDA_ARCH__)

/// Notes an item; one worker each. Where more than `most` differ, `distinct` says so and the table is of no use. Of
/// items that are the same the first stays, in whatever order workers come.
__device__ inline void note_item(const code_args& a, slot_t number) {
  const item_table& t = a.table;
  const bits32* const wanted = t.item(number);
  volatile const count32* const distinct = a.distinct;
  for (count32 place = t.hash(wanted); *distinct <= a.most; place = (place + 1) & t.mask) {
    count32 there = *static_cast<volatile count32*>(t.first + place);
    if (there == no_item) {
      there = atomicCAS(t.first + place, no_item, count32(number));
      if (there == no_item) {
        atomicAdd(a.distinct, 1u);
        return;
      }
    }
    if (t.same(t.item(there), wanted)) {
      if (count32(number) < there) atomicMin(t.first + place, count32(number));
      return;
    }
  }
}

/// One worker an item.
template <class Code>
__device__ void write_code(const code_args& a, slot_t number) {
  static_cast<Code*>(a.codes)[number] = Code(a.code[a.table.place_of(number)]);
}

/// One worker a word.
__device__ inline void gather_word(const gather_args& a, slot_t at) {
  const int words = a.table.words;
  a.to[at] = a.table.item(a.from[at / words])[at % words];
}

#endif

}  // namespace compound
