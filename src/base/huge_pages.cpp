#include "base/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace compound {

void* allocate_in_pages(std::size_t bytes, std::size_t alignment) noexcept {
  const bool large = bytes >= large_array;
  void* memory = nullptr;
  if (posix_memalign(&memory, large ? huge_page : alignment, std::max<std::size_t>(bytes, 1)) != 0) return nullptr;
#if defined(MADV_HUGEPAGE)
  if (large) (void)madvise(memory, bytes, MADV_HUGEPAGE);  // advice: nothing is lost where it is not taken
#endif
  return memory;
}

}  // namespace compound
