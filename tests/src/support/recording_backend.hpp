// The host's memory and kernels behind a name of its own, with a count of what it is asked for.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/value_work.hpp"
#include "host/backend.hpp"

namespace compound::test {

/// Not "host": like a device it never lies on the caller's arrays.
class RecordingBackend : public Backend {
 public:
  int allocations = 0, releases = 0, uploads = 0, packs = 0;
  int most_held = 0;  ///< allocations at a time
  int to_fail = 0;    ///< the allocation from now on for which there is no memory; 0: none

  explicit RecordingBackend(std::string_view name = "recording", Reach reach = Reach::copies,
                            const Extensions& extensions = {})
      : Backend(name, reach, extensions) {}
  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const override {
    return host_.code_for(plan, problem);
  }
  void* allocate(std::size_t bytes) override {
    fail_in_turn();
    std::set<void*> made{nullptr};  // its node is there before the memory is
    auto node = made.extract(made.begin());
    node.value() = host_.allocate(bytes);
    most_held = std::max(most_held, ++allocations - releases);
    return *held_.insert(std::move(node)).position;
  }
  /// Ends the program where the memory is not held.
  void release(void* memory) noexcept override {
    if (!memory) return;
    ++releases;
    if (held_.erase(memory) != 1) {
      std::fputs("recording backend: memory is released that is not held\n", stderr);
      std::abort();
    }
    host_.release(memory);
  }
  void clear(void* to, std::size_t bytes) override { host_.clear(to, bytes); }
  void upload(void* to, const void* from, std::size_t bytes) override { ++uploads, host_.upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { host_.download(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { host_.copy(to, from, bytes); }
  /// Of values in the order of rows, too, which devices pack as they are.
  void pack(const PackTask& task) override {
    ++packs;
    if (!task.start) return host_.pack(task);
    std::vector<std::byte> blocks(task.entries * bytes_of_block(task.problem));
    const Problem given{task.problem.block, task.problem.scalar, ValueOrder::rows};
    const auto entries = static_cast<count32>(task.entries);
    order_blocks(host_, {given, task.rows, entries, task.start, task.blocks, Memory::host, blocks.data()});
    PackTask of_blocks = task;
    of_blocks.blocks = blocks.data();
    of_blocks.start = nullptr;
    host_.pack(of_blocks);
  }
  std::optional<count32> first_misfit(const FitTask& task) override { return host_.first_misfit(task); }
  void multiply(const ProductTask& task) override { host_.multiply(task); }
  void sum(const SumTask& task) override { host_.sum(task); }

 protected:
  /// At each allocation.
  void fail_in_turn() {
    if (to_fail > 0 && --to_fail == 0) throw std::bad_alloc();
  }
  std::optional<std::string> why_not(const Plan& plan, const Problem& problem) const override {
    return host_.applicable(plan, problem);
  }

  Backend& host_ = *host_backend();

 private:
  std::set<void*> held_;
};

}  // namespace compound::test
