// BAIJ as a base type: names, arrays, parts, preallocation.
#pragma once

#include "petsc/base_type.hpp"

namespace compound::plugin {

extern const BaseType baij;

}  // namespace compound::plugin
