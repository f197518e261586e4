// What becomes of the list of kinds (device/entry/entries.hpp) on the host: entries that are compiled ahead, and a way
// to go through the kinds.
#pragma once

#include <utility>

#include "device/entry/entries.hpp"

namespace compound {

template <class... Entries>
struct entry_list {};

template <class... A, class... B>
constexpr entry_list<A..., B...> operator+(entry_list<A...>, entry_list<B...>) {
  return {};
}

/// f.operator()<Kind, Entry>() for every kind that matrices of S have; Entry takes blocks of all its shapes.
template <class S, class F, class... Kinds>
void for_each_kind(const F& f, kind_list<Kinds...>) {
  const auto visit = [&]<class Kind>(Kind) {
    using Entry = typename Kind::template entry<S>;
    if constexpr (Entry::exists) f.template operator()<Kind, Entry>();
  };
  (visit(Kinds{}), ...);
}
template <class S, class F>
void for_each_kind(const F& f) {
  for_each_kind<S>(f, built_in_kinds{});
}

/// The sizes that are known first: the first entry that serves a shape is taken.
template <class S, class Kind>
constexpr auto compiled_of(Kind) {
  using Entry = typename Kind::template entry<S>;
  if constexpr (!Entry::exists)
    return entry_list<>{};
  else
    return []<int... n>(std::integer_sequence<int, n...>) {
      return entry_list<typename Kind::template entry<S, n + 1>..., Entry>{};
    }
  (std::make_integer_sequence<int, Entry::known_sizes>{});
}

template <class S, class... Kinds>
constexpr auto compiled_of(kind_list<Kinds...>) {
  return (entry_list<>{} + ... + compiled_of<S>(Kinds{}));
}

/// The entries compiled ahead for the host's plain kernel, per scalar type.
template <class S>
struct compiled_entries {
  using list = decltype(compiled_of<S>(built_in_kinds{}));
};

}  // namespace compound
