// Dot products that follow products on the host.
#pragma once

#include "backend/backend.hpp"

namespace compound::host {

/// result = w^H y or w^T y, of so many scalars; in one order whatever the machine.
void dot(const ProductDot& dot, ScalarType scalar, slot_t scalars, const void* y);

}  // namespace compound::host
