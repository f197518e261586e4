// Huge pages for the arrays of matrices that PETSc allocates.
#pragma once

namespace compound::plugin {

/// While one lives, large arrays that PETSc allocates lie in huge pages, where the system gives any: it clears and maps
/// them in fewer steps, and products miss fewer translations of addresses. Such arrays are freed as all others are.
/// Nothing where PETSc allocates otherwise than it does by default (-malloc_debug), or not by posix_memalign().
class HugePages {
 public:
  HugePages();
  HugePages(const HugePages&) = delete;
  ~HugePages();

 private:
  bool is_outermost_;
};

}  // namespace compound::plugin
