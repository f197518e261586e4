// The entries compiled ahead for the host, per scalar type: a new kind of entry is one line here, and what
// CONTRIBUTING.md names. The first entry that serves a shape is taken, so dense blocks of other sizes fall to the last
// row.
#pragma once

#include <type_traits>

#include "device/entry/entries.hpp"

namespace compound {

template <class... Entries>
struct entry_list {};

template <class S, class... More>
using entries_with =
    entry_list<More..., quaternion<S>, unit_quaternion<S>, dual_quaternion<S>, diagonal_entry<S, dynamic>,
               scaled_identity<S, dynamic>, dense<S, 1, 1>, dense<S, 2, 2>, dense<S, 3, 3>, dense<S, 4, 4>,
               dense<S, 5, 5>, dense<S, 6, 6>, dense<S, 7, 7>, dense<S, 8, 8>, dense<S, dynamic, dynamic>>;

template <class S>
struct compiled_entries {
  using list = entries_with<S, complex_entry<S>>;
};
template <class T>
struct compiled_entries<complex_number<T>> {
  using list = entries_with<complex_number<T>>;
};

}  // namespace compound
