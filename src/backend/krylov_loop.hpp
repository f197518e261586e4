// A Krylov method that a device runs by itself: iterations are queued many at a time, and the host hears of their
// norms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "backend/backend.hpp"
#include "backend/peers.hpp"
#include "device/krylov.hpp"

namespace compound {

enum class KrylovMethod { cg, bcgs };

/// How a device runs iterations: as graphs of kernels that are queued many at a time, or all of them in one persistent
/// kernel, which small matrices gain by; not all layouts can. `persistent2` is a form of it for CG with two grid
/// synchronizations an iteration, not three, and a product that reads two vectors, which the smallest gain by.
enum class KrylovRunner { automatic, graphs, persistent, persistent2 };

/// What a loop takes out of whatever it has preconditioned.
struct NullSpace {
  bool constant = false;
  int vectors = 0;  ///< others: orthonormal, and orthogonal to the constant
  int size() const { return vectors + (constant ? 1 : 0); }
  bool operator==(const NullSpace&) const = default;
};

struct KrylovProblem {
  KrylovMethod method;
  ScalarType scalar;
  slot_t scalars = 0;  ///< of a vector, or of this process's part of it
  int columns = 0;     ///< of M's diagonal blocks, which are square: 1 is a diagonal, 0 no preconditioner
  KrylovNorm norm = KrylovNorm::preconditioned;
  bool hermitian = true;  ///< CG: inner products; else bilinear
  KrylovRunner runner = KrylovRunner::automatic;
  NullSpace null_space = {};  ///< most_null_vectors at most
  /// Of several processes: all of them run the loop, each with its part of the vectors and the same numbers. Null: one.
  Peers* peers = nullptr;
  slot_t all_scalars = 0;  ///< of several processes: of the whole vector
  bool operator==(const KrylovProblem&) const = default;
};

/// Blocks of a preconditioner must fit a warp.
inline constexpr int most_krylov_columns = 32;

/// How far a run may go.
struct KrylovLimits {
  double below = 0, above = 0;  ///< it ends with the first norm that is not between them
  int most = 0;                 ///< or with this iteration
};

struct KrylovRun {
  int iteration = 0;  ///< of the last norm
  KrylovStop stop = KrylovStop::not_yet;
};

/// What a loop is given besides A: a preconditioner M and a null space, both the caller's to fill.
class KrylovInput {
 public:
  virtual ~KrylovInput() = default;
  virtual const KrylovProblem& problem() const = 0;
  /// [columns][scalars] of the device: scalar i's of column k of the diagonal blocks of M.
  virtual void* factors() = 0;
  /// [null_space.vectors][scalars] of the device.
  virtual void* null_space() = 0;
  /// A vector that is 1 in component k of each of M's blocks, else 0: M's product with it is column k.
  virtual void set_unit(int k, void* to) = 0;
};

/// Vectors and scalars of a loop live here; x is handed in and out.
class KrylovLoop : public KrylovInput {
 public:
  /// A, by which to multiply: queues y = A x, and what is to follow. Of several processes: this one's rows, with this
  /// one's part of a dot product.
  struct Matrix {
    std::function<void(const void* x, void* y, const ProductDot& dot)> multiply;
    std::uint64_t stamp = 0;  ///< another one where what multiply() queues is another
    /// y = A x as one task, where it is one; of several processes by the columns of this one.
    std::function<std::optional<ProductTask>(const void* x, void* y)> task = {};
    std::size_t bytes = 0;  ///< that a product reads of the matrix
    /// Of several processes: y = B g of the other columns, whose values are g; null where this process has none.
    std::function<std::optional<ProductTask>(const void* g, void* y)> task_of_ghosts = {};
    const PeerExchange* exchange = nullptr;
  };
  /// Called with the result of each iteration, in order.
  using Report = std::function<void(int iteration, const krylov_news& news)>;

  /// Before start(): what go_on() will queue, `at_once` iterations before the host looks at their norms. Compiles and
  /// allocates whatever there is to, and nothing where it was prepared for the same.
  virtual void prepare(const Matrix& A, int at_once) = 0;

  /// From x (null: 0) with the residual r, which for BiCGSTAB is preconditioned, both copied; iteration 0.
  virtual KrylovRun start(const void* x, const void* r, const Report& report) = 0;
  virtual KrylovRun go_on(const KrylovLimits& limits, const Report& report) = 0;
  /// Copies x as it is after the last iteration.
  virtual void take_x(void* to) = 0;
  /// The same of the residual that the method updates, for BiCGSTAB the preconditioned one.
  virtual void take_residual(void* to) = 0;
  /// How iterations run: kernels (and memory set) an iteration, iterations a graph; or one kernel for all, with so
  /// many grid synchronizations an iteration.
  struct Shape {
    int kernels = 0, iterations = 0;
    bool one_kernel = false;
    int grid_syncs = 0;
  };
  virtual Shape shape() const = 0;
};

/// CG for several right-hand sides at once: an iteration has one product with the directions of all of them. A system
/// that has stopped takes no part in what an iteration does with vectors, and is left out of the products, too, as soon
/// as the others make half as many columns.
class KrylovSystems : public KrylovInput {
 public:
  /// A, by which to multiply: queues y = A x of several vectors, and what is to follow.
  struct Matrix {
    std::function<void(const VectorsTask& vectors, const void* x, void* y, const ProductDot& dot)> multiply;
    std::uint64_t stamp = 0;  ///< as KrylovLoop::Matrix has it
    /// Compiles multiply() with so many vectors, each of the numbers, all at once.
    std::function<void(std::span<const int> counts, Follow follow)> compile;
  };
  using Report = std::function<void(int system, int iteration, const krylov_news& news)>;

  virtual int systems() const = 0;
  /// Before start(), as KrylovLoop::prepare().
  virtual void prepare(const Matrix& A, int at_once) = 0;
  /// Before start(), system 0 first: where a system starts, from x (null: 0) with the residual r, both copied. A system
  /// that is not set has a residual of 0.
  virtual void set(int system, const void* x, const void* r) = 0;
  /// Iteration 0 of all systems.
  virtual void start(const Report& report) = 0;
  /// Until each system is at the end of its limits, once after each start(). Reports of a system come in order.
  virtual void go_on(std::span<const KrylovLimits> limits, const Report& report) = 0;
  virtual KrylovRun where(int system) const = 0;
  virtual void take_x(int system, void* to) = 0;
};

/// What an iteration does with vectors of a device while others multiply, precondition and add up over processes.
class KrylovPasses {
 public:
  virtual ~KrylovPasses() = default;
  struct Arguments {
    slot_t scalars = 0;  ///< of a vector
    std::array<void*, most_pass_vectors> vectors =
        {};                         ///< in the pass's order (device/vector_passes.hpp); not one another
    const void* numbers = nullptr;  ///< [most_pass_numbers] scalars of the host
    bool diagonal = false;          ///< whether the pass preconditions, by its first vector
  };
  /// Queues the pass, or where it has sums waits for them: `sums` of the host get always the same bits.
  virtual void run(VectorPass pass, const Arguments& arguments, void* sums) = 0;
};

/// Krylov methods that a backend runs by itself.
class Krylov {
 public:
  virtual std::unique_ptr<KrylovLoop> krylov_loop(const KrylovProblem& problem) = 0;
  /// Of [2, most_krylov_systems] systems, by CG.
  virtual std::unique_ptr<KrylovSystems> krylov_systems(const KrylovProblem& problem, int systems) = 0;
  /// Of passes over its vectors; inner products of CG are bilinear, or hermitian.
  virtual std::unique_ptr<KrylovPasses> krylov_passes(ScalarType scalar, std::span<const VectorPass> passes,
                                                      bool hermitian) = 0;

 protected:
  ~Krylov() = default;
};

}  // namespace compound
