// BAIJ as a parent: names, arrays, parts, preallocation.
#pragma once

#include "family.hpp"

namespace compound::plugin {

extern const Family baij;

}  // namespace compound::plugin
