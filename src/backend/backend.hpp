// Backend: memory and products of one place. The tasks below are all it is told; it knows neither PETSc nor tuning.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/chunk_codes.hpp"
#include "device/operation.hpp"
#include "device/product_dot.hpp"
#include "device/sparse_product.hpp"
#include "layout/layout.hpp"
#include "plan/device_policy.hpp"
#include "plan/partition.hpp"

namespace compound {

/// What a backend keeps for the products of one packed matrix: its compiled kernels.
class Code {
 public:
  virtual ~Code() = default;
  /// Of the backend's memory that products by a library work in.
  virtual std::size_t bytes() const { return 0; }
};

struct Machine {
  std::string device;     ///< "NVIDIA H200"; the processor and the instruction set in use
  std::string software;   ///< of others, that may change how fast it is: a driver
  std::string slot = {};  ///< of a device, which one of this computer: its PCI bus id
};

/// Whose memory a pointer is of.
enum class Memory { host, backend };

template <class T>
class Buffer;

/// Are full blocks, in pattern order, all of a kind of entry?
struct FitTask {
  std::string_view entry;
  const Problem& problem;
  const void* blocks = nullptr;  ///< [entries][cols][rows]
  count32 entries = 0;
  Memory blocks_in = Memory::host;
};

/// Which items are the same, bit by bit.
struct CodeTask {
  const ValueCode& code;
  const void* items = nullptr;  ///< [count], each of `bytes` bytes, a multiple of 4
  slot_t count = 0;
  std::size_t bytes = 0;
  Memory items_in = Memory::host;
  void* codes = nullptr;  ///< [count] each of code.bytes, in the backend's memory
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

/// A dot product with what a product adds to y, made as it is made: always the same bits. On the host for assign alone.
struct ProductDot {
  Follow kind = Follow::nothing;
  const void* w = nullptr;  ///< in the order of y
  void* result = nullptr;   ///< a scalar in the backend's memory
  /// Device: an integer in its memory. Where it is not 0 when its turn comes, the product leaves y; or null.
  const int* stop = nullptr;
  bool adds = false;  ///< device: to what `result` is, where products before have the rest of y
};

/// y = [z +] op(A) x on vectors in the backend's memory; z may be y.
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
};

/// Of the vector that a product writes.
inline slot_t scalars_of_y(const ProductTask& t) {
  const BlockShape& b = t.problem.block;
  const idx group = t.plan.layout.vector_group;
  return t.op == Op::none ? vector_scalars(t.rows, b.rows, group) : vector_scalars(t.cols, b.cols, group);
}
inline std::size_t bytes_of_y(const ProductTask& t) { return bytes_of(t.problem.scalar) * scalars_of_y(t); }

/// Words of A in the order of a layout of A^T's pattern: to(slot) = values(value_slot[slot]).
struct RegroupTask {
  const Plan& from;  ///< of A's values; those of A^T are in the words of the plan that `code` is of
  slot_t slots = 0;  ///< of the layout of A^T
  slot_t value_slots = 0;
  const count32* value_slot = nullptr;
  const void* values = nullptr;
  void* to = nullptr;
  Code* code = nullptr;
};

/// The diagonal blocks of a square packed matrix, A itself (no transposed pattern), or of one of its parts.
struct DiagonalTask {
  const Plan& plan;
  const Problem& problem;
  const layout_args& layout;  ///< arrays in the backend's memory
  idx rows = 0;
  const void* values = nullptr;
  const void* codes = nullptr;  ///< as of a product
  const void* table = nullptr;
  void* to = nullptr;  ///< in the backend's memory
  Code* code = nullptr;
};

/// to[place[s]] = [to[place[s]] +] sum of from[index[n]] for n in [first[s], first[s + 1]), in that order.
struct SumTask {
  ScalarType scalar;
  slot_t sums = 0;
  const slot_t* first = nullptr;  ///< [sums + 1]; null: list s has index[s] alone
  const slot_t* index = nullptr;
  const slot_t* place = nullptr;  ///< [sums]; null: s itself
  const void* from = nullptr;
  void* to = nullptr;
  Update update = Update::assign;
};

/// blocks [entries][cols][rows] <- `values` in the order of rows (ValueOrder::rows).
struct OrderTask {
  const Problem& problem;
  idx rows = 0;  ///< block rows
  count32 entries = 0;
  const count32* start = nullptr;  ///< [rows + 1], in the backend's memory
  const void* values = nullptr;
  Memory values_in = Memory::host;
  void* blocks = nullptr;  ///< in the backend's memory
};

/// C = A B, or Q^T B (`transposed`), of sparse matrices of full blocks; arrays in the backend's memory.
struct SparseProductTask {
  ScalarType scalar;
  BlockShape a;   ///< of A; of Q^T: its own, not those of Q
  int width = 1;  ///< columns of a block of B
  bool transposed = false;
  const sparse_product_args& args;
};

class KrylovLoop;
class KrylovPasses;
struct KrylovProblem;
enum class VectorPass;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Whether its memory is out of the host's reach, so that vectors must lie there and work is queued.
  virtual bool is_device() const { return false; }
  /// Whether its products read the caller's arrays where they lie, so that what needs no packing is not copied.
  virtual bool reads_in_place() const { return false; }
  virtual DeviceTraits traits() const { return {}; }
  /// What times hang on beside the matrix and the plan, for people and as a key.
  virtual Machine machine() const { return {}; }

  /// What this backend cannot do of a plan that is right in itself; empty if it can.
  std::optional<std::string> applicable(const Plan& plan, const Problem& problem) const {
    return first_of_parts(plan, [&](const Plan& part) -> std::optional<std::string> {
      if (part.layout.word_group == group_rows && !reads_in_place())
        return "words=rows are read where the matrix has them, which backend " + std::string(name()) +
               " cannot; use words=1";
      return why_not(part, problem);
    });
  }

  /// The code that multiplies with an applicable plan, for people: "avx512", "plain".
  virtual std::string_view code(const Plan& plan, const Problem& problem) const = 0;

  /// Throws std::bad_alloc when there is no memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void clear(void* to, std::size_t bytes) = 0;
  /// From host memory and back; both have happened when the call returns.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// upload() of what may be large: a device has it by way of pinned memory. All is read when the call returns.
  virtual void upload_large(void* to, const void* from, std::size_t bytes) { upload(to, from, bytes); }
  /// Within its memory, queued like a product.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  /// Where there are several devices: the one for this process, the n-th of its node. Before anything is allocated.
  virtual void choose_device(int) {}
  /// Device: work is queued on this stream (cudaStream_t) from now on; null is the default stream.
  virtual void use_queue(void*) {}
  /// Device: waits for what was queued.
  virtual void synchronize() {}

  /// The code for this plan, handed in with each task; its kernels are compiled when first needed, or by compile().
  virtual std::unique_ptr<Code> code_for(const Plan&, const Problem&) { return nullptr; }
  /// Compiles what packing and products by A need: products that add, of a later part of a plan, and packing of some of
  /// the entries, `of_part`.
  virtual void compile(Code&, Update, bool /*of_part*/) {}
  /// The same for plans that may be asked for next, on all cores. What does not compile is told when it is needed.
  virtual void compile_ahead(std::span<const Plan>, const Problem&) {}

  virtual void pack(const PackTask& task) = 0;
  /// The one way from one ValueOrder to the other: whatever packs or looks at blocks sees them in order `blocks`.
  virtual void order_blocks(const OrderTask& task) = 0;
  /// Codes for all items. Those that differ [number], by their first places, in the backend's memory; nothing where
  /// they are more than the code has.
  virtual std::optional<Buffer<std::byte>> code_items(const CodeTask& task);
  /// One step of code_chunks() (chunk_codes.hpp), all in the backend's memory. Here by the host.
  virtual void code_chunks(ChunkStep step, const chunk_code_args& args);
  /// Index of the first block that is not of the kind; empty if all are.
  virtual std::optional<count32> first_misfit(const FitTask& task) = 0;
  virtual void multiply(const ProductTask& task) = 0;
  /// For a device alone: the host's transposed products scatter over A's own layout.
  virtual void regroup(const RegroupTask&) {}

  /// Of one matrix: a task for each part, the first of which may visit rows of the others. to: [rows][block rows]
  /// scalars of the diagonal; 0 where a row has no diagonal block.
  virtual void diagonal(std::span<const DiagonalTask> parts) = 0;
  /// to: [rows][cols][rows] inverses of the diagonal blocks. The first row whose block is missing or singular; empty if
  /// none is.
  virtual std::optional<idx> invert_diagonal(std::span<const DiagonalTask> parts) = 0;
  /// Gathers and adds up scalars by lists, without atomics: all arrays in the backend's memory.
  virtual void sum(const SumTask& task) = 0;
  /// For a device alone: the host has products of its own (sparse_product.hpp). Throws `unsupported` there.
  virtual void multiply_sparse(const SparseProductTask& task);

  /// A Krylov method that this backend runs by itself (krylov_loop.hpp), or null: it runs none.
  virtual std::unique_ptr<KrylovLoop> krylov_loop(const KrylovProblem& problem);
  /// The same of passes over its vectors; inner products of CG are bilinear, or hermitian.
  virtual std::unique_ptr<KrylovPasses> krylov_passes(ScalarType scalar, std::span<const VectorPass> passes,
                                                      bool hermitian);

 protected:
  /// Of a plan of one part.
  virtual std::optional<std::string> why_not(const Plan& part, const Problem& problem) const = 0;
};

/// Why a plan cannot serve a problem on a backend, in words for the user: what is wrong in itself, or what this backend
/// cannot do; empty if it can serve.
std::optional<std::string> why_not(const Plan& plan, const Problem& problem, const Backend& on);

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
