// Sums of scalars by lists, without atomics: the order of additions is that of the lists.
#pragma once

#include "operation.hpp"
#include "scalar.hpp"

namespace compound {

/// to[place[s]] = [to[place[s]] +] sum of from[index[n]] for n in [first[s], first[s + 1]).
struct SumArgs {
  slot_t sums = 0;
  const slot_t* first = nullptr;  ///< [sums + 1]; null: list s has index[s] alone
  const slot_t* index = nullptr;
  const slot_t* place = nullptr;  ///< [sums]; null: s itself
  const void* from = nullptr;
  void* to = nullptr;
};

/// One of the sums.
template <class S, Update update>
COMPOUND_FN void sum_list(const SumArgs& a, slot_t s) {
  const S* const from = static_cast<const S*>(a.from);
  S* const to = static_cast<S*>(a.to) + (a.place ? a.place[s] : s);
  S sum{};
  const slot_t begin = a.first ? a.first[s] : s, end = a.first ? a.first[s + 1] : s + 1;
  for (slot_t n = begin; n < end; ++n) sum += from[a.index[n]];
  if constexpr (update == Update::add) sum += *to;
  *to = sum;
}

}  // namespace compound
