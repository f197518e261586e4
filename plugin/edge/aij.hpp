// AIJ as a parent: names, arrays, parts, preallocation.
#pragma once

#include "edge/family.hpp"

namespace compound::plugin {

extern const Family aij;

}  // namespace compound::plugin
