#include "petsc/huge_pages.hpp"

#include <cstring>

#include "base/huge_pages.hpp"
#include "petsc/guard.hpp"

/// PETSc's default, which no header of it declares.
PETSC_EXTERN PetscErrorCode PetscMallocAlign(size_t, PetscBool, int, const char[], const char[], void**);

namespace compound::plugin {

namespace {

#if defined(PETSC_HAVE_POSIX_MEMALIGN)

/// As PetscMallocAlign(), for PetscFreeAlign().
PetscErrorCode allocate(size_t bytes, PetscBool clear, int line, const char function[], const char file[],
                        void** memory) {
  if (bytes < large_array) return PetscMallocAlign(bytes, clear, line, function, file, memory);
  *memory = allocate_in_pages(bytes, PETSC_MEMALIGN);
  if (!*memory)
    return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL,
                      "Memory requested %.0f", static_cast<double>(bytes));
  if (clear) std::memset(*memory, 0, bytes);
  return PETSC_SUCCESS;
}

#else

constexpr auto allocate = PetscMallocAlign;

#endif

}  // namespace

HugePages::HugePages() : is_outermost_(PetscTrMalloc == PetscMallocAlign) {
  if (is_outermost_) PetscTrMalloc = allocate;
}

HugePages::~HugePages() {
  if (is_outermost_) PetscTrMalloc = PetscMallocAlign;
}

}  // namespace compound::plugin
