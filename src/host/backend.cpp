#include "host/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "host/diagonals.hpp"
#include "host/instruction_set.hpp"
#include "host/processor.hpp"
#include "host/products.hpp"

namespace compound {

namespace {

/// A cache line, so that slices' groups of words start on one; large arrays are mapped three times faster in huge pages
/// (docs/performance.md).
void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  void* const memory = allocate_in_pages(bytes, cache_line);
  if (!memory) throw std::bad_alloc();
  return memory;
}

class HostBackend final : public Backend {
 public:
  HostBackend() : Backend("host", Reach::in_place) {}
  Machine machine() const override {
    return {host::processor().name + ", " + std::string(name_of(host::instruction_set_in_use())), ""};
  }

  void* allocate(std::size_t bytes) override { return allocate_aligned(bytes); }
  void release(void* memory) noexcept override { std::free(memory); }
  void clear(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const override {
    return std::make_unique<host::HostCode>(plan, problem);
  }
  void pack(const PackTask& t) override { host::pack(t); }
  std::optional<count32> first_misfit(const FitTask& t) override {
    const BlockShape& b = t.problem.block;
    const auto kernels = host::find_kernels(t.entry, t.problem.scalar.precision, t.problem);
    const slot_t found = kernels->first_misfit(t.blocks, t.entries, b.rows, b.cols);
    if (found < 0) return {};
    return static_cast<count32>(found);
  }
  void multiply(const ProductTask& t) override { host::multiply(t); }
  void multiply_vectors(const ProductTask& t, const VectorsTask& vectors) override {
    if (!host::multiply_vectors(t, vectors)) Backend::multiply_vectors(t, vectors);
  }
  void sum(const SumTask& t) override { host::sum(t); }

 protected:
  std::optional<std::string> why_not(const Plan& plan, const Problem& problem) const override {
    host::instruction_set_in_use();  // throws if the environment asks for what is not there: not first in a product
    const Schedule& s = plan.schedule;
    if (!s.library.empty())
      return std::string(s.library) + " is a product of a device's library: it needs vectors there (-vec_type cuda)";
    if (s.traversal == Traversal::components) return "the host backend does not go by components";
    if (s.of_device() || s.unroll != 1 || s.blocks != 0 || s.balance != Balance::grid || s.cache != Cache::keep ||
        s.carries != Carries::ordered)
      return "threads=, blocks=, unroll=, static, dynamic, stream and carries=atomic are for devices";
    if (plan.schedule.lanes != 1) return "the host backend has one worker a row: lanes=1";
    if (host::find_kernels(plan, problem)) return {};
    if (entry_kind(plan.entry).user_defined)
      return "entry " + std::string(plan.entry) +
             " has no host kernels: register them (petsccompound/register_entry.hpp)";
    return "the host backend has dense blocks up to 32x32, the matrix has " + std::to_string(problem.block.rows) + "x" +
           std::to_string(problem.block.cols);
  }
};

}  // namespace

Backend* host_backend() {
  static HostBackend backend;
  return &backend;
}

}  // namespace compound
