// A multigrid cycle on a device: a plan of its levels, and the kernels that run it, recorded once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend/cycle_work.hpp"
#include "storage/device_matrix.hpp"

namespace compound {

/// One step of a polynomial smoother: the next of its vectors is along x + keep before + scale M (b - A x), with the
/// last two of them as x and `before`. The first step has no `before`.
struct SmoothingStep {
  double along = 1, keep = 0, scale = 1;
};

/// Steps of Chebyshev's iteration of the first kind for eigenvalues of M A from `least` to `most`.
/// Source: Gutknecht, Roellin 2002 (The Chebyshev iteration revisited), in the form of PETSc's KSPCHEBYSHEV.
std::vector<SmoothingStep> chebyshev_steps(int steps, double least, double most);
/// Of the fourth kind for eigenvalues up to `most`; `weights` of the steps: 1 each, or those of the optimised kind.
/// Source: Lottes 2023 (Optimal polynomial smoothers for multigrid V-cycles). Nothing where this form cannot have
/// the weights: more than two steps of which not all weigh 1.
std::optional<std::vector<SmoothingStep>> fourth_kind_steps(int steps, double most, const double* weights);

struct CycleSmoother {
  std::vector<SmoothingStep> steps;
  int columns = 0;                ///< of the square blocks of M; 0: the identity
  const void* factors = nullptr;  ///< [columns][scalars] in the device's memory: of each block column k
  bool from_zero = false;         ///< it begins with 0 whatever the guess
};

/// All but the coarsest.
struct CycleLevel {
  DeviceMatrix A;
  DeviceMatrix interpolation;               ///< from the level below, with its transpose prepared
  std::optional<DeviceMatrix> restriction;  ///< nothing: the interpolation's transpose
  CycleSmoother down, up;
  int visits = 1;  ///< of the level below in one of its own
};

struct CyclePlan {
  ScalarType scalar;
  std::vector<CycleLevel> levels;        ///< the finest first; of several processes each has its rows of all
  slot_t coarse_scalars = 0;             ///< of the coarsest level, on this process
  bool has_coarse_inverse = false;       ///< else others solve
  const void* coarse_inverse = nullptr;  ///< [rows][rows] of the device, row by row; one process has all rows
  int cycles = 1;                        ///< an application
};

/// Cannot be copied or moved: recordings hold its addresses. Throws std::bad_alloc.
class Cycle {
 public:
  /// x = A^-1 b of the coarsest level, on vectors in the device's memory, queued like a product.
  using CoarseSolve = std::function<void(const void* b, void* x)>;

  /// The plan's matrices and arrays must live as long as this. `coarse` is called where the plan has no inverse.
  Cycle(Backend& on, CyclePlan plan, CoarseSolve coarse);
  Cycle(const Cycle&) = delete;

  /// Compiles and allocates whatever there is to.
  void prepare();
  /// x = B b without a recording. b and x are two vectors of the finest level, in the device's memory.
  void run(const void* b, void* x);
  /// The same as it was recorded. After prepare().
  void replay(const void* b, void* x);

  /// Another plan of the same matrices and sizes: steps and arrays. What was recorded is recorded anew.
  void take(CyclePlan plan);

  const CyclePlan& plan() const { return plan_; }
  /// Of an application: multiplications and additions, of real or complex scalars.
  double flops() const { return flops_; }
  /// Whether smoothing steps of a level are made in the kernel of their product.
  bool is_fused(std::size_t level) const;
  struct Shape {
    int graphs = 0;  ///< an application
    int size = 0;    ///< kernels, copies and clears of them together
  };
  Shape shape() const;

 private:
  struct LevelVectors {
    slot_t scalars = 0;
    Buffer<std::byte> b;  ///< not of the finest
    Buffer<std::byte> x[3], residual;
  };
  using Graphs = std::vector<std::unique_ptr<RecordedWork>>;
  /// Graphs for vectors at these addresses.
  struct Recorded {
    const void* b = nullptr;
    void* x = nullptr;
    Graphs graphs;
  };

  const void* apply(const void* b, void* x, const CoarseSolve& coarse);
  const void* visit(std::size_t level, const void* b, const void* x, void* out, const CoarseSolve& coarse);
  const void* smooth(std::size_t level, const CycleSmoother& by, const void* b, const void* x, void* out);
  void step(std::size_t level, const CycleSmoother& by, const SmoothingStep& step, const void* b, const void* x,
            const void* before, void* to);
  const void* residual(std::size_t level, const void* b, const void* x);
  const void* solve_coarsest(const void* b, void* out, const CoarseSolve& coarse);
  void* free_vector(std::size_t level, std::initializer_list<const void*> used) const;
  Recorded record(const void* b, void* x);
  void multiply(const DeviceMatrix& A, Op op, Update update, const void* x, const void* z, void* y);
  CycleWork& work() const { return *on_.extensions().cycle; }

  Backend& on_;
  CyclePlan plan_;
  CoarseSolve coarse_;
  std::vector<LevelVectors> vectors_;  ///< the coarsest's too
  Buffer<std::byte> copied_b_, copied_x_;
  double flops_ = 0;
  Recorded direct_, copied_;  ///< for the first vectors that came, and for others, which are copied
};

}  // namespace compound
