// The kernels of one plan on a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "backend.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

/// Whether products by A add to y whatever the pattern: rows are left out, or several workers add to one.
inline bool adds_always(const Plan& plan) { return plan.layout.row_list || plan.schedule.carries == Carries::atomic; }

/// The kernel of y = A x by a plan: where it does not visit all rows, it adds to what was set before.
struct PlainProduct {
  explicit PlainProduct(const Plan& plan)
      : update(adds_always(plan) ? Update::add : Update::assign), reordered(may_reorder(plan.layout)) {}
  Update update;
  bool reordered;
};

inline std::string plain_source(const Plan& plan, const Problem& problem) {
  const PlainProduct plain(plan);
  return product_source(plan, problem, Op::none, plain.update, false, plain.reordered, true);
}

/// The kernels of one plan, compiled when first asked for, and the counter of its dynamic schedule.
class CudaCode final : public Code {
 public:
  CudaCode(const Plan& plan, const Problem& problem)
      : plan_(plan),
        problem_(problem),
        family_(&family_of(plan.layout)),
        vector_access_(vector_access(plan, problem)) {}
  ~CudaCode() override {
    release(counter_);
    release(carries_);
  }

  const void* product(Op op, Update update, bool shares_values, bool reordered, bool aligned) {
    if (op == Op::hermitian && problem_.scalar.field == Field::real) op = Op::transpose;  // the same
    std::size_t at = static_cast<std::size_t>(op);
    for (const bool bit : {update == Update::add, shares_values, reordered, aligned}) at = 2 * at + bit;
    const void*& kernel = products_[at];
    if (!kernel) kernel = kernel_of(product_source(plan_, problem_, op, update, shares_values, reordered, aligned));
    return kernel;
  }
  /// Whether blocks of a vector may be read and written in wide accesses: one that begins elsewhere would end the
  /// context. VecGetSubVector() gives vectors that begin anywhere.
  bool is_aligned(const void* vector) const {
    return vector_access_ == 0 || reinterpret_cast<std::uintptr_t>(vector) % vector_access_ == 0;
  }
  const LayoutFamily& family() const { return *family_; }
  /// What packing and products by A need.
  void prepare() {
    const PlainProduct plain(plan_);
    if (!words_are_blocks(plan_, problem_)) pack();
    product(Op::none, plain.update, false, plain.reordered, true);
  }
  const void* pack() { return once(pack_, pack_source); }
  const void* regroup() { return once(regroup_, regroup_source); }
  const void* diagonal() { return once(diagonal_, diagonal_source); }
  const void* inverse() { return once(inverse_, inverse_source); }

  const void* carries_kernel(Op op) {
    const void*& kernel = carries_kernels_[op != Op::none];
    if (!kernel) kernel = kernel_of(carries_source(plan_, problem_, op));
    return kernel;
  }

  /// So many scalars that live as long as the code; null for none.
  void* carries(slot_t scalars) {
    const std::size_t bytes = scalars * bytes_of(problem_.scalar);
    if (bytes > carry_bytes_) {
      release(carries_);
      carries_ = nullptr;
      carry_bytes_ = 0;
      carries_ = allocate(bytes);
      carry_bytes_ = bytes;
    }
    return carries_;
  }

  unsigned* counter(cudaStream_t stream) {
    if (plan_.schedule.balance != Balance::counted) return nullptr;
    if (!counter_) {
      counter_ = static_cast<unsigned*>(allocate(2 * sizeof(unsigned)));
      check(cudaMemsetAsync(counter_, 0, 2 * sizeof(unsigned), stream), "clearing a counter");
    }
    return counter_;
  }

 private:
  const void* once(const void*& kernel, std::string (*source)(const Plan&, const Problem&)) {
    if (!kernel) kernel = kernel_of(source(plan_, problem_));
    return kernel;
  }

  Plan plan_;
  Problem problem_;
  const LayoutFamily* family_;
  std::uintptr_t vector_access_;
  std::array<const void*, 3 * 2 * 2 * 2 * 2> products_ = {};
  const void *pack_ = nullptr, *regroup_ = nullptr, *diagonal_ = nullptr, *inverse_ = nullptr;
  std::array<const void*, 2> carries_kernels_ = {};
  unsigned* counter_ = nullptr;
  void* carries_ = nullptr;
  std::size_t carry_bytes_ = 0;
};

}  // namespace compound::cuda
