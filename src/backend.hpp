// Backend: memory and products of one place. The tasks below are all it is told; it knows neither PETSc nor tuning.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/operation.hpp"
#include "layout.hpp"
#include "plan.hpp"

namespace compound {

/// Arrays of a Layout in the backend's memory, or borrowed from the pattern's owner.
struct LayoutArrays {
  idx height = 1;
  idx positions = 0;
  slot_t slots = 0;
  const count32* start = nullptr;
  const idx* length = nullptr;
  const idx* column = nullptr;
  const count32* presence = nullptr;
  const idx* row_of = nullptr;
  const count32* first_entry = nullptr;
};

/// values <- blocks: [entries][cols][rows] full blocks in pattern order, in the backend's memory.
struct PackTask {
  const Plan& plan;
  const Problem& problem;
  const LayoutArrays& layout;
  const void* blocks = nullptr;
  void* values = nullptr;
};

/// y = [z +] op(A) x on vectors in the backend's memory; z may be y.
struct ProductTask {
  const Plan& plan;
  const Problem& problem;
  const LayoutArrays& layout;
  idx rows = 0, cols = 0;  ///< block rows and columns of A
  const void* values = nullptr;
  Op op = Op::none;
  Update update = Update::assign;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  /// What this backend cannot do of a plan that is right in itself; empty if it can.
  virtual std::optional<std::string> applicable(const Plan& plan, const Problem& problem) const = 0;

  /// The code that multiplies with an applicable plan, for people: "avx512", "plain".
  virtual std::string_view code(const Plan& plan, const Problem& problem) const = 0;

  /// Throws std::bad_alloc when there is no memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// From host memory.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;

  virtual void pack(const PackTask& task) = 0;
  /// Index of the first entry whose block is not of the plan's kind; empty if all are.
  virtual std::optional<count32> first_misfit(const PackTask& task, count32 entries) = 0;
  virtual void multiply(const ProductTask& task) = 0;
};

/// A name users may give, and the backend behind it or why there is none.
struct BackendRow {
  std::string_view name;
  Backend* (*get)();
  std::string_view why_missing;
};

std::span<const BackendRow> backends();

/// Throws `argument` for an unknown name (listing the known), `unsupported` with the reason for a missing one.
Backend& backend(std::string_view name);

/// Memory of a backend, released with it. Empty by default.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Backend& on, std::size_t count)
      : memory_(static_cast<T*>(on.allocate(count * sizeof(T))), Release{&on}), count_(count) {}
  Buffer(Backend& on, std::span<const T> from) : Buffer(on, from.size()) {
    if (!from.empty()) on.upload(memory_.get(), from.data(), from.size_bytes());
  }
  T* data() const { return memory_.get(); }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  struct Release {
    Backend* on = nullptr;
    void operator()(T* p) const noexcept { on->release(p); }
  };
  std::unique_ptr<T, Release> memory_;
  std::size_t count_ = 0;
};

}  // namespace compound
