// BAIJ as a parent: names, arrays, parts, preallocation.
#pragma once

#include "edge/family.hpp"

namespace compound::plugin {

extern const Family baij;

}  // namespace compound::plugin
