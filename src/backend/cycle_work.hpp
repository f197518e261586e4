// What a backend has for multigrid's cycles beside products (storage/cycle.hpp): passes over vectors, and work that is
// recorded once and queued as a whole.
#pragma once

#include <memory>

#include "device/cycle.hpp"
#include "plan/plan.hpp"

namespace compound {

class RecordedWork {
 public:
  virtual ~RecordedWork() = default;
  virtual void run() const = 0;
  /// Kernels, and copies and clears beside them.
  virtual int size() const = 0;
};

/// From its making on, work is recorded and does not run. Where it ends without finish(), nothing was recorded.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual std::unique_ptr<RecordedWork> finish() = 0;
};

class CycleWork {
 public:
  virtual void smooth(ScalarType scalar, const smoothing_pass_args& args) = 0;
  virtual void multiply_dense(ScalarType scalar, const dense_args& args) = 0;
  /// What is recorded must have run before: kernels are compiled and memory is allocated outside of recordings.
  virtual std::unique_ptr<Recording> record() = 0;

 protected:
  ~CycleWork() = default;
};

}  // namespace compound
