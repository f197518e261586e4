// Memory in huge pages for large arrays: the system clears and maps it in fewer steps, and loops over it miss fewer
// translations of addresses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace compound {

/// Bytes from which on an array lies in huge pages, where the system gives any.
inline constexpr std::size_t huge_page = std::size_t{2} << 20, large_array = 2 * huge_page;

/// At a multiple of `alignment`, to be freed by std::free(); null where there is no memory.
void* allocate_in_pages(std::size_t bytes, std::size_t alignment) noexcept;

/// Of vectors whose numbers are all written before they are read: they are not set to 0 first.
template <class T>
struct PageAllocator {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;
  PageAllocator() = default;
  template <class Other>
  PageAllocator(const PageAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    void* const memory = allocate_in_pages(count * sizeof(T), alignof(std::max_align_t));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    if constexpr (sizeof...(Args) > 0) std::construct_at(at, std::forward<Args>(args)...);
  }
  bool operator==(const PageAllocator&) const = default;
};

/// A vector of numbers in huge pages. resize() leaves new ones undefined.
template <class T>
using LargeVector = std::vector<T, PageAllocator<T>>;

}  // namespace compound
