// Replacing some of a matrix's operations by ours and giving the parent's back, from one list of pairs.
#pragma once

#include "petsc_guard.hpp"

namespace compound::plugin {

/// `list(f)` calls f(&_MatOps::member, ours) for every operation a type overrides.
template <class List>
void install(Mat A, const List& list) {
  list([&](auto member, auto ours) { A->ops->*member = ours; });
}

template <class List>
void uninstall(Mat A, const _MatOps& parent, const List& list) {
  list([&](auto member, auto) { A->ops->*member = parent.*member; });
}

}  // namespace compound::plugin
