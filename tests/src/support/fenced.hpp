// Arrays that nothing around may be touched of.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace compound::test {

/// An array that ends where its memory ends, and begins after memory that may not be touched either.
template <class S>
class Fenced {
 public:
  explicit Fenced(const std::vector<S>& from) {
    const std::size_t page = sysconf(_SC_PAGESIZE), bytes = from.size() * sizeof(S);
    const std::size_t inside = (bytes + page - 1) / page * page;
    size_ = inside + 2 * page;
    memory_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page, inside, PROT_READ | PROT_WRITE);
    data_ = reinterpret_cast<S*>(memory_ + page + inside - bytes);
    std::copy(from.begin(), from.end(), data_);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(memory_, size_); }
  S* data() const { return data_; }

 private:
  char* memory_;
  std::size_t size_;
  S* data_;
};

}  // namespace compound::test
