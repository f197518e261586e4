// The kernels of one plan on a device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/diagonal_args.hpp"
#include "cuda/built_in.hpp"
#include "cuda/cusparse.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "device/kernels.hpp"
#include "device/symmetry.hpp"
#include "layout/family.hpp"
#include "plan/library_products.hpp"

namespace compound::cuda {

/// The kernel of y = A x by a plan, or of what a later part of one adds to y: where it does not visit all rows, it adds
/// to what was set before.
struct PlainProduct {
  PlainProduct(const Plan& plan, Update wanted, bool even_rows = false)
      : update(adds_always(plan) ? Update::add : wanted), reordered(!even_rows && may_reorder(plan.layout)) {}
  Update update;
  bool reordered;
};

inline std::string plain_source(const Plan& plan, const Problem& problem, Update update = Update::assign,
                                bool even_rows = false) {
  const PlainProduct plain(plan, update, even_rows);
  return product_source(plan, problem, Op::none, plain.update, false, plain.reordered, true);
}

/// What a product's kernel is told of the matrix and the vectors.
inline product_args args_of(const ProductTask& t) {
  const bool gathers = t.op == Op::none;
  product_args args;
  args.layout = t.layout;
  args.x_blocks = gathers ? t.cols : t.rows;
  args.y_blocks = gathers ? t.rows : t.cols;
  args.value_slots = t.value_slots;
  args.values = t.values;
  args.value_slot = t.value_slot;
  args.codes = t.codes;
  args.table = t.table;
  args.x = t.x;
  args.z = t.z;
  args.y = t.y;
  args.smoothing = t.smoothing;
  return args;
}

/// The kernels of one plan, compiled when first asked for, and the counter of its dynamic schedule.
class CudaCode final : public Code {
 public:
  /// `queue`: that of the backend, which may change.
  CudaCode(const Plan& plan, const Problem& problem, const cudaStream_t& queue)
      : queue_(queue),
        plan_(plan),
        problem_(problem),
        family_(&family_of(plan.layout)),
        vector_access_(vector_access(plan, problem)) {
    problem_.order = ValueOrder::blocks;  // which values are brought into before they are packed
  }

  const void* product(Op op, Update update, bool shares_values, bool reordered, bool aligned, Follow follow) {
    if (op == Op::hermitian && problem_.scalar.field == Field::real) op = Op::transpose;  // the same
    std::size_t at = follows * static_cast<std::size_t>(op) + static_cast<std::size_t>(follow);
    at = updates * at + static_cast<std::size_t>(update);
    for (const bool bit : {shares_values, reordered, aligned}) at = 2 * at + bit;
    const void*& kernel = products_[at];
    if (!kernel)
      kernel = kernel_of(product_source(plan_, problem_, op, update, shares_values, reordered, aligned, follow));
    return kernel;
  }
  /// The first kernel of a product by patches.
  const void* patches(Op op, bool reordered, bool is_stoppable) {
    if (op == Op::hermitian && problem_.scalar.field == Field::real) op = Op::transpose;
    const void*& kernel = patches_[2 * (2 * static_cast<std::size_t>(op) + reordered) + is_stoppable];
    if (kernel) return kernel;
    const Follow follow = is_stoppable ? Follow::stoppable : Follow::nothing;
    kernel = kernel_of(patches_source(plan_, problem_, op, reordered, follow));
    // As much as there is: plans of several matrices share a kernel.
    const auto shared_bytes = static_cast<int>(current_device().shared_bytes);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "asking for shared memory");
    return kernel;
  }
  const void* several(int vectors, Op op, Update update, bool reordered, bool aligned, Follow follow) {
    if (op == Op::hermitian && problem_.scalar.field == Field::real) op = Op::transpose;
    std::size_t at = static_cast<std::size_t>(vectors - 1);
    at = ops * at + static_cast<std::size_t>(op);
    at = follows * at + static_cast<std::size_t>(follow);
    for (const bool bit : {update == Update::add, reordered, aligned}) at = 2 * at + bit;
    const void*& kernel = several_.at(at);
    if (!kernel) kernel = kernel_of(vectors_source(plan_, problem_, op, update, reordered, aligned, vectors, follow));
    return kernel;
  }
  int most_vectors(Op op) const { return cuda::most_vectors(plan_, problem_, op); }
  /// Whether blocks of a vector may be read and written in wide accesses: one that begins elsewhere would end the
  /// context. VecGetSubVector() gives vectors that begin anywhere.
  bool is_aligned(const void* vector) const { return is_aligned(reinterpret_cast<std::uintptr_t>(vector)); }
  /// The same of so many bytes from one vector to the next.
  bool is_aligned(std::uintptr_t bytes) const { return vector_access_ == 0 || bytes % vector_access_ == 0; }
  /// Whether a library makes this product: y = [z +] A x that nothing follows. What begins off a whole access is left
  /// to our kernels, which know of such vectors.
  bool is_by_library(const ProductTask& t) const {
    constexpr std::uintptr_t access = 16;
    const auto begins_whole = [](const void* v) { return reinterpret_cast<std::uintptr_t>(v) % access == 0; };
    return !plan_.schedule.library.empty() && t.op == Op::none &&
           (t.update == Update::assign || t.update == Update::add) && t.dot.kind == Follow::nothing &&
           t.layout.slots != 0 && begins_whole(t.x) && begins_whole(t.y);
  }
  CusparseMatrix& library_matrix() {
    if (!library_) library_ = cusparse_matrix(*find_library_product(plan_.schedule.library), plan_, problem_);
    return *library_;
  }
  std::string_view name() const override {
    if (!plan_.schedule.library.empty()) return library_of(plan_);
    return is_built_in(plain_source(plan_, problem_), current_device().capability) ? "built in" : "nvrtc";
  }
  std::size_t bytes() const override {
    return (library_ ? library_->bytes() : 0) + (goes_by_patches(plan_) ? carries_.bytes() : 0);
  }
  const LayoutFamily& family() const { return *family_; }
  int blocks_at_once() override {
    int blocks = 0;
    const PlainProduct plain(plan_, Update::assign);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, product(Op::none, plain.update, false, plain.reordered, true, Follow::nothing),
              plan_.schedule.threads, 0),
          "asking how many blocks of threads run at once");
    return blocks;
  }
  void prepare(Update update, bool of_part) override {
    const PlainProduct plain(plan_, update);
    if (value_code(plan_.codes).in != CodesIn::nowhere) {
      if (of_part)
        pack_part();
      else if (!words_are_blocks(plan_, problem_))
        pack();
    }
    if (goes_by_patches(plan_))
      compile_ahead({patches_source(plan_, problem_, Op::none, plain.reordered, Follow::nothing),
                     plain_source(plan_, problem_, update)});
    if (plan_.schedule.library.empty())  // else few products want one: it is compiled when the first does
      product(Op::none, plain.update, false, plain.reordered, true, Follow::nothing);
  }
  void prepare_vectors(std::span<const int> counts, Update update, bool reordered, Follow follow) override {
    std::vector<std::string> sources;
    for (const int count : counts)
      if (count == 1)
        sources.push_back(product_source(plan_, problem_, Op::none, update, false, reordered, true, follow));
      else if (count <= most_vectors(Op::none))
        sources.push_back(vectors_source(plan_, problem_, Op::none, update, reordered, true, count, follow));
    compile_ahead(sources);
  }
  const void* pack() { return once(pack_, pack_source); }
  const void* pack_part() { return once(pack_part_, pack_part_source); }
  const void* pack_sums() { return once(pack_sums_, pack_sums_source); }
  const void* unpack() { return once(unpack_, unpack_source); }
  /// Values of A in the words of this plan, which is of A^T: there is one A to such code.
  void regroup(const RegroupTask& t) override {
    if (!regroup_) regroup_ = kernel_of(regroup_source(t.from, plan_, problem_));
    launch_workers(regroup_, t.slots, regroup_args{t.slots, t.value_slots, t.value_slot, t.values, t.to}, queue_);
  }
  void diagonal(const DiagonalTask& t) override {
    const void* const kernel = t.inverted ? once(inverse_, inverse_source) : once(diagonal_, diagonal_source);
    launch_workers(kernel, t.layout.positions, diagonal_args(t), queue_);
  }

  bool is_symmetric(const SymmetryTask& t) override {
    const Pinned memory(sizeof(unsigned));
    auto* const may_differ = static_cast<unsigned*>(memory.data());
    *may_differ = 0;
    launch_workers(once(symmetry_, symmetry_source), workers_of_symmetry(t.layout.positions),
                   symmetry_args{t.layout, t.runs, t.blocks, t.mirrored, t.diagonal, may_differ}, queue_);
    check(cudaStreamSynchronize(queue_), "comparing blocks with their mirrored ones");
    return *may_differ == 0;
  }

  const void* carries_kernel(Op op, Follow follow) {
    const void*& kernel = carries_kernels_[follows * (op != Op::none) + static_cast<std::size_t>(follow)];
    if (!kernel) kernel = kernel_of(carries_source(plan_, problem_, op, follow));
    return kernel;
  }

  /// So many scalars that live as long as the code; null for none.
  void* carries(slot_t scalars) { return carries_.of(scalars * bytes_of(problem_.scalar)); }

  unsigned* counter(cudaStream_t stream) {
    if (plan_.schedule.balance != Balance::counted) return nullptr;
    return static_cast<unsigned*>(counter_.of(2 * sizeof(unsigned), &stream));
  }

  /// For sums over kernels of so many blocks, and over each of them.
  grid_sum_args sums(slot_t all_blocks, slot_t most_blocks, cudaStream_t stream) {
    return {partials_.of(partials_of(all_blocks) * bytes_of(problem_.scalar)),
            static_cast<unsigned*>(tickets_.of(tickets_of(most_blocks) * sizeof(unsigned), &stream))};
  }

 private:
  static constexpr std::size_t follows = 4, updates = 4, ops = 3;

  /// Memory that grows with what products ask for; null for nothing. What it was before stays: graphs may name it.
  class Grown {
   public:
    /// All bytes are 0 where it is new and a stream is named.
    void* of(std::size_t bytes, const cudaStream_t* cleared_on = nullptr) {
      if (bytes <= bytes_) return all_.empty() ? nullptr : all_.back().get();
      all_.push_back(OwnedMemory(allocate(bytes)));
      bytes_ = bytes;
      if (cleared_on) check(cudaMemsetAsync(all_.back().get(), 0, bytes, *cleared_on), "clearing a counter");
      return all_.back().get();
    }

    std::size_t bytes() const { return bytes_; }

   private:
    std::vector<OwnedMemory> all_;
    std::size_t bytes_ = 0;
  };

  const void* once(const void*& kernel, std::string (*source)(const Plan&, const Problem&)) {
    if (!kernel) kernel = kernel_of(source(plan_, problem_));
    return kernel;
  }

  const cudaStream_t& queue_;
  Plan plan_;
  Problem problem_;
  const LayoutFamily* family_;
  std::uintptr_t vector_access_;
  std::array<const void*, ops* follows* updates* 2 * 2 * 2> products_ = {};
  std::array<const void*, most_vectors_at_once* ops* follows* 2 * 2 * 2> several_ = {};
  const void *pack_ = nullptr, *pack_part_ = nullptr, *pack_sums_ = nullptr, *unpack_ = nullptr, *regroup_ = nullptr,
             *diagonal_ = nullptr, *inverse_ = nullptr, *symmetry_ = nullptr;
  std::array<const void*, 2 * follows> carries_kernels_ = {};
  std::array<const void*, 2 * 2 * ops> patches_ = {};
  Grown counter_, carries_, partials_, tickets_;
  std::unique_ptr<CusparseMatrix> library_;
};

}  // namespace compound::cuda
