// What the allocator has given out.
#pragma once

#include <malloc.h>
#include <petscsys.h>

namespace petsc_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_count = false;  // the sanitizer's allocator keeps none
#else
constexpr bool has_count = true;
#endif

/// Bytes of this process.
inline PetscInt64 allocated() {
  const auto now = mallinfo2();
  return static_cast<PetscInt64>(now.uordblks + now.hblkhd);
}

}  // namespace petsc_test
