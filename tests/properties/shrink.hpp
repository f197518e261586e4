// A smaller case that fails the same way.
#pragma once

#include <functional>

#include "case.hpp"

namespace compound::test {

struct Shrunk {
  Case smallest;
  int steps = 0;  ///< that made it smaller
  int tried = 0;
};

/// `fails`: whether a case fails as the first did; false once there is no time left.
Shrunk shrunk(const Case& from, const std::function<bool(const Case&)>& fails);

}  // namespace compound::test
