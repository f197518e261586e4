// Sums of blocks of scalars by lists, without atomics: the order of additions is that of the lists.
#pragma once

#include "operation.hpp"
#include "scalar.hpp"

namespace compound {

/// Sums of blocks of side x side scalars. The block of sum s is the sum of the contributions n in [first[s],
/// first[s + 1]), in that order. Contribution n begins at from[index[n]]; `offset` says where its other scalars are. A
/// block of `to` consists of lines (rows or columns) of `side` scalars; the lines are `stride` scalars apart.
struct SumArgs {
  slot_t sums = 0;
  const slot_t* first = nullptr;  ///< [sums + 1]; null: contribution s alone
  const slot_t* index = nullptr;  ///< [contributions]
  const slot_t* place = nullptr;  ///< [sums] where a block begins in `to`; null: s * side * side
  const void* from = nullptr;
  void* to = nullptr;
  int side = 1;
  const int* offset = nullptr;           ///< [shapes][side * side], in the order of `to`; null: one scalar
  const unsigned char* shape = nullptr;  ///< [contributions] which offsets; null: 0
  const int* stride = nullptr;           ///< [sums]; null: side
};

/// Scalar `word` of sum s. `known_side` is a.side where the compiler is told; otherwise 0.
template <class S, Update update, int known_side>
COMPOUND_FN void sum_word(const SumArgs& a, slot_t s, int word) {
  const int side = known_side > 0 ? known_side : a.side, words = side * side;
  const S* const from = static_cast<const S*>(a.from);
  S* const to = static_cast<S*>(a.to) + (a.place ? a.place[s] : s * words) +
                (a.stride ? slot_t(word / side) * a.stride[s] + word % side : word);
  S sum{};
  const slot_t begin = a.first ? a.first[s] : s, end = a.first ? a.first[s + 1] : s + 1;
  for (slot_t n = begin; n < end; ++n)
    sum += from[a.index[n] + (a.offset ? a.offset[(a.shape ? a.shape[n] * words : 0) + word] : 0)];
  if constexpr (update == Update::add) sum += *to;
  *to = sum;
}

/// One worker's: a scalar of a sum.
template <class S, Update update, int known_side>
COMPOUND_FN void sum_list(const SumArgs& a, slot_t worker) {
  const int side = known_side > 0 ? known_side : a.side, words = side * side;
  sum_word<S, update, known_side>(a, worker / words, static_cast<int>(worker % words));
}

}  // namespace compound
