// The device that a run measures on: waiting, cold and replayed products, and the speed of its memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record.hpp"

namespace compound::bench {

/// A pass over memory that moves known bytes, to compare products with.
struct MemoryPass {
  double bytes = 0;
  std::function<void()> run;
};

class Device {
 public:
  virtual ~Device() = default;
  /// Its name, compute capability (90 for 9.0), memory, cache, and CUDA's versions as it writes them (13000).
  virtual Record facts() const = 0;
  virtual double free_bytes() const = 0;
  /// Until all that was queued is done.
  virtual void wait() = 0;
  /// Seconds of each of `count` products on the default queue, none of whose data lies in the device's cache: other
  /// memory is written before each.
  virtual std::vector<double> cold_seconds(const std::function<void()>& product, int count) = 0;
  /// What `body` puts in the queue it is given, as one replay; empty if it cannot be captured.
  virtual std::function<void()> captured(const std::function<void(void* queue)>& body) = 0;
  /// From one place on the device to another; bytes read and written.
  virtual MemoryPass copy() = 0;
  virtual MemoryPass read() = 0;
  /// Device memory with these contents.
  virtual std::shared_ptr<void> uploaded(const void* from, std::size_t bytes) = 0;
};

/// Null where this build or this machine has none.
Device* find_device();
/// Why, in words and with a remedy; empty if there is one.
std::string why_no_device();

/// The device of this run; null while it is the host's alone. Set once by -device.
inline Device*& used_device() {
  static Device* device = nullptr;
  return device;
}
/// Nothing without a device.
inline void wait_for_device() {
  if (used_device()) used_device()->wait();
}

}  // namespace compound::bench
