// Backend: memory and products of one place. The tasks below are all it is told; it knows neither PETSc nor tuning.
// Interfaces that only some backends have: value_work.hpp, contributions.hpp, sparse_products.hpp, multigrid.hpp,
// cycle_work.hpp, krylov_loop.hpp, peers.hpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/operation.hpp"
#include "device/product_dot.hpp"
#include "device/smoothing.hpp"
#include "layout/layout.hpp"
#include "plan/partition.hpp"

namespace compound {

struct Machine {
  std::string device;     ///< "NVIDIA H200"; the processor and the instruction set in use
  std::string software;   ///< of others, that may change how fast it is: a driver
  std::string slot = {};  ///< of a device, which one of this computer: its PCI bus id
};

/// Whose memory a pointer is of.
enum class Memory { host, backend };

class Code;

/// Are full blocks, in pattern order, all of a kind of entry?
struct FitTask {
  std::string_view entry;
  const Problem& problem;
  const void* blocks = nullptr;  ///< [entries][cols][rows]
  count32 entries = 0;
  Memory blocks_in = Memory::host;
};

/// values <- blocks: [entries][cols][rows] full blocks in pattern order. Where the plan codes blocks `blocks` are their
/// codes, in the backend's memory.
struct PackTask {
  const Plan& plan;
  const Problem& problem;
  const layout_args& layout;  ///< arrays in the backend's memory
  const void* blocks = nullptr;
  void* values = nullptr;
  Memory blocks_in = Memory::host;
  Code* code = nullptr;
  slot_t entries = 0;
  /// Where `layout` has a part of them: which ones, here and in the backend's memory.
  const EntryRuns* part = nullptr;
  entry_runs runs = {};
  /// Of a device: [rows + 1] of the whole pattern, in its memory, where `blocks` are there in the order of rows.
  const count32* start = nullptr;
  idx rows = 0;
};

/// Of a device: a dot product with what a product adds to y, made together with the product. Always the same bits.
struct ProductDot {
  Follow kind = Follow::nothing;
  const void* w = nullptr;  ///< in the order of y
  void* result = nullptr;   ///< a scalar in the backend's memory
  /// An integer in the device's memory, or null. Where it is not 0 when the product's turn comes, y stays as it is.
  const int* stop = nullptr;
  bool adds = false;  ///< to what `result` is, where products before have the rest of y
};

/// y = [z +] op(A) x on vectors in the backend's memory; z may be y. Or, on a device, a smoothing step with b = z,
/// which may be y, as may what was before.
struct ProductTask {
  const Plan& plan;
  const Problem& problem;
  const layout_args& layout;  ///< arrays in the backend's memory
  bool reordered = false;     ///< rows are in the order of a list
  idx rows = 0, cols = 0;     ///< block rows and columns of A
  const void* values = nullptr;
  const void* codes = nullptr;  ///< [layout.slots] items of `values`, where the plan codes blocks; columns with a bit;
                                ///< [chunks] chunk_place, where it codes chunks
  const void* table = nullptr;  ///< words that `values` are codes of, where it codes words
  /// With op(A) over a layout of A^T's pattern (a device): the slot of A that each slot stands for, or null where
  /// `values` are in the order of `layout`.
  const count32* value_slot = nullptr;
  slot_t value_slots = 0;  ///< of the layout that `values` are in
  Op op = Op::none;
  Update update = Update::assign;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
  ProductDot dot = {};
  Code* code = nullptr;
  smoothing_args smoothing = {};  ///< Update::smooth
};

/// Of the vector that a product writes.
inline slot_t scalars_of_y(const ProductTask& t) {
  const BlockShape& b = t.problem.block;
  const idx group = t.plan.layout.vector_group;
  return t.op == Op::none ? vector_scalars(t.rows, b.rows, group) : vector_scalars(t.cols, b.cols, group);
}
inline std::size_t bytes_of_y(const ProductTask& t) { return bytes_of(t.problem.scalar) * scalars_of_y(t); }

/// Vectors of a product with several, and scalars from one to the next; bytes from one result to the next where a dot
/// product with each follows.
struct VectorsTask {
  int count = 1;
  slot_t x_apart = 0, z_apart = 0, y_apart = 0, w_apart = 0;
  slot_t results_apart = 0;
};

/// Words of A in the order of a layout of A^T's pattern: to(slot) = values(value_slot[slot]).
struct RegroupTask {
  const Plan& from;  ///< of A's values; those of A^T are in the words of the plan of the code
  slot_t slots = 0;  ///< of the layout of A^T
  slot_t value_slots = 0;
  const count32* value_slot = nullptr;
  const void* values = nullptr;
  void* to = nullptr;
};

/// The diagonal of a packed matrix of square blocks, A itself (no transposed pattern), or of one of its parts. What the
/// layout does not have stays as it is.
struct DiagonalTask {
  const Plan& plan;
  const Problem& problem;
  const layout_args& layout;  ///< arrays in the backend's memory
  const void* values = nullptr;
  const void* codes = nullptr;  ///< as of a product
  const void* table = nullptr;
  void* to = nullptr;  ///< in the backend's memory: [rows][block rows] scalars
  /// [rows], set to 1 where a row's diagonal block could be inverted: `to` gets inverses, [rows][cols][rows]. Or null.
  unsigned char* inverted = nullptr;
};

/// Sums of blocks by lists, in the order of the lists: SumArgs (device/sum_lists.hpp) says what the arrays are.
struct SumTask {
  ScalarType scalar;
  slot_t sums = 0;
  const slot_t* first = nullptr;
  const slot_t* index = nullptr;
  const slot_t* place = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  Update update = Update::assign;
  int side = 1;
  const int* offset = nullptr;
  const unsigned char* shape = nullptr;
  const int* stride = nullptr;
};

/// Blocks of a device, of which a half is stored, beside their mirrored ones: symmetry_args (device/symmetry.hpp).
struct SymmetryTask {
  const layout_args& layout;
  entry_runs runs;
  const void* blocks = nullptr;
  const count32* mirrored = nullptr;
  const count32* diagonal = nullptr;
};

/// What a backend has for the products of one packed matrix by one plan: its kernels, which are compiled when they are
/// first needed.
class Code {
 public:
  virtual ~Code() = default;
  /// For people: "avx512", "plain", "built in".
  virtual std::string_view name() const = 0;
  /// For people: why products are slower than they could be, and what would mend it; mostly empty. Of what the code was
  /// made for.
  virtual std::string remark(const Plan&, const Problem&) const { return {}; }
  /// Of the backend's memory that products work in: those by a library, those of several vectors.
  virtual std::size_t bytes() const { return 0; }
  /// Blocks of threads of y = A x that a multiprocessor holds at once; 0 where there are none. Compiles its kernel.
  virtual int blocks_at_once() { return 0; }
  /// Compiles what packing and products by A need: products that add, of a later part of a plan, and packing of some of
  /// the entries, `of_part`.
  virtual void prepare(Update, bool /*of_part*/) {}
  /// The same of products by A of so many vectors, each of the numbers.
  virtual void prepare_vectors(std::span<const int> /*counts*/, Update, bool /*reordered*/, Follow) {}
  /// Sets what the layout of the task has of the diagonal.
  virtual void diagonal(const DiagonalTask& task) = 0;
  /// Needed where PackedMatrix::prepare_transposed() makes a layout: on devices.
  virtual void regroup(const RegroupTask&) {}
  /// Whether all pairs surely agree; what may not is for check_symmetry() on the host.
  virtual bool is_symmetric(const SymmetryTask&) { return false; }
};

/// What tells devices apart; 0: not known.
struct DeviceTraits {
  int multiprocessors = 0;
  std::size_t second_cache_bytes = 0;
  double bandwidth = 0;  ///< bytes a second, from memory, as its clock has it
};

/// One of several devices, its queue and its compiler.
class DeviceControl {
 public:
  virtual DeviceTraits traits() const = 0;
  /// For this process the n-th of its node. Before anything is allocated.
  virtual void choose_device(int n) = 0;
  /// Work is queued on this stream (cudaStream_t) from now on; null is the default stream.
  virtual void use_queue(void* stream) = 0;
  /// Code::prepare() of plans that may be asked for next, on all cores. `even_rows`: has_even_rows() of the pattern.
  /// What does not compile is reported when it is needed.
  virtual void compile_ahead(std::span<const Plan> plans, const Problem& problem, bool even_rows) = 0;

 protected:
  ~DeviceControl() = default;
};

class ContributionWork;
class CycleWork;
class Krylov;
class LayoutWork;
class MultigridWork;
class PeerWork;
class SparseProducts;
class ValueWork;

/// What a backend has beside the functions that all have; null where it has none.
struct Extensions {
  DeviceControl* control = nullptr;
  ValueWork* values = nullptr;
  SparseProducts* sparse_products = nullptr;
  Krylov* krylov = nullptr;
  ContributionWork* contributions = nullptr;
  MultigridWork* multigrid = nullptr;
  CycleWork* cycle = nullptr;
  LayoutWork* layouts = nullptr;
  PeerWork* peers = nullptr;
};

/// Where a backend's memory is: where products read the caller's arrays as they lie, where the host can write but
/// products want copies, or out of the host's reach, where vectors must be copied and work is queued.
enum class Reach { in_place, copies, device };

class Backend {
 public:
  Backend(std::string_view name, Reach reach, const Extensions& extensions = {})
      : name_(name), reach_(reach), extensions_(extensions) {}
  virtual ~Backend() = default;
  std::string_view name() const { return name_; }
  bool is_device() const { return reach_ == Reach::device; }
  bool reads_in_place() const { return reach_ == Reach::in_place; }
  const Extensions& extensions() const { return extensions_; }

  /// What times hang on beside the matrix and the plan, for people and as a key.
  virtual Machine machine() const { return {}; }

  /// What this backend cannot do of a plan that is right in itself; empty if it can.
  std::optional<std::string> applicable(const Plan& plan, const Problem& problem) const {
    return first_of_parts(plan, [&](const Plan& part) -> std::optional<std::string> {
      if (part.layout.word_group == group_rows && !reads_in_place())
        return "words=rows reads scalars where the matrix has them, which backend " + std::string(name()) +
               " cannot; use words=1";
      if (part.half != Half::none)
        if (const auto why = why_not_half(part)) return why;
      return why_not(part, problem);
    });
  }

  /// Throws std::bad_alloc when there is no memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void clear(void* to, std::size_t bytes) = 0;
  /// From host memory, all of which is read when the call returns; what is queued later finds it there.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  /// To host memory, where it is when the call returns.
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Within its memory, queued like a product.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Waits for what was queued.
  virtual void synchronize() {}

  /// The code for a plan of one part, which the tasks name.
  virtual std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const = 0;
  virtual void pack(const PackTask& task) = 0;
  virtual void multiply(const ProductTask& task) = 0;
  /// The same of several vectors, of which the task has the first; each has the bits of multiply().
  virtual void multiply_vectors(const ProductTask& task, const VectorsTask& vectors) {
    const std::size_t scalar = bytes_of(task.problem.scalar);
    const auto at = [&](const void* first, slot_t apart, int n) {
      return first ? static_cast<const std::byte*>(first) + n * apart * scalar : nullptr;
    };
    ProductTask one = task;
    for (int n = 0; n < vectors.count; ++n) {
      one.x = at(task.x, vectors.x_apart, n);
      one.z = at(task.z, vectors.z_apart, n);
      one.y = const_cast<std::byte*>(at(task.y, vectors.y_apart, n));
      one.dot.w = at(task.dot.w, vectors.w_apart, n);
      one.dot.result = task.dot.result ? static_cast<std::byte*>(task.dot.result) + n * vectors.results_apart : nullptr;
      multiply(one);
    }
  }
  /// Index of the first block that is not of the kind; empty if all are.
  virtual std::optional<count32> first_misfit(const FitTask& task) = 0;
  /// Gathers and adds up scalars by lists, without atomics: all arrays in the backend's memory.
  virtual void sum(const SumTask& task) = 0;

 protected:
  /// Of a plan of one part.
  virtual std::optional<std::string> why_not(const Plan& part, const Problem& problem) const = 0;

 private:
  std::optional<std::string> why_not_half(const Plan& part) const {
    const bool by_patches = part.layout.columns == columns_by_patches;
    if (is_device() && !by_patches)
      return "half= on a device is stored in patches of rows: sell:32:256 columns=patch, which half= brings where a "
             "plan names no layout; leave the layout and columns= out";
    if (!is_device() && by_patches) return "columns=patch is for devices; use csr for half= on the host";
    if (reach_ == Reach::copies)
      return "half= is for backends that read values in place, or for devices; backend " + std::string(name()) +
             " copies them: leave half= out";
    return {};
  }

  std::string_view name_;
  Reach reach_;
  Extensions extensions_;
};

/// Why a plan cannot serve a problem on a backend, in words for the user: what is wrong in itself, or what this backend
/// cannot do; empty if it can serve.
inline std::optional<std::string> why_not(const Plan& plan, const Problem& problem, const Backend& on) {
  auto reason = applicable(plan, problem);
  return reason ? reason : on.applicable(plan, problem);
}

/// Nothing of a backend that is no device.
inline DeviceTraits traits_of(const Backend& on) {
  const DeviceControl* const control = on.extensions().control;
  return control ? control->traits() : DeviceTraits{};
}

/// A name users may give, and the backend behind it or why there is none.
struct BackendRow {
  std::string_view name;
  Backend* (*get)();             ///< null result: missing now (no device); null function: missing in this build
  std::string (*why_missing)();  ///< in words
};

std::span<const BackendRow> backends();

/// Throws `argument` for an unknown name (listing the known), `unsupported` with the reason for a missing one.
Backend& backend(std::string_view name);

/// What is known of the device of a backend; nothing where it is missing, or has none.
DeviceTraits device_traits(std::string_view backend);

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
