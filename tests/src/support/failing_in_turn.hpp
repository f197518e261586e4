// Memory that fails at each allocation in turn.
#pragma once

#include <new>

namespace compound::test {

/// work() after fail(n), for n = 1, 2, ... until nothing of it fails; fail(0) ends that. How often it did.
template <class Fail, class Work>
int failures_in_turn(const Fail& fail, const Work& work) {
  for (int n = 1;; ++n) {
    bool failed = false;
    fail(n);
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    fail(0);
    if (!failed) return n - 1;
  }
}

}  // namespace compound::test
