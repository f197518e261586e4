// The set-up of smoothed aggregation in a device's memory, and patterns of products there (device/aggregates.hpp,
// prolongator.hpp, product_pattern.hpp): a backend launches kernels, what follows what is the same for all.
#pragma once

#include <optional>
#include <vector>

#include "backend/sparse_products.hpp"
#include "device/aggregates.hpp"
#include "device/product_pattern.hpp"
#include "device/prolongator.hpp"

namespace compound {

/// Which blocks of a real matrix are edges of its graph: those whose scalars' absolute values, in sum and scaled by the
/// diagonal's, are above the threshold.
struct StrengthTask {
  ScalarType scalar;
  int size = 1;  ///< of a block's side
  const PlacedRows& pattern;
  const void* values = nullptr;  ///< in the order of rows
  unsigned components = ~0u;     ///< of a node that count, by bits
  bool symmetrize = false;       ///< adds the transposed block
  double threshold = 0;
};

class MultigridWork {
 public:
  /// Whether each entry has one across the diagonal.
  virtual bool is_symmetric(const PlacedRows& graph) = 0;
  virtual PlacedRows strong_edges(const StrengthTask& task) = 0;
  /// [nodes] the root of each node's aggregate, -1 for nodes without neighbours. No two roots are within `distance`, 1
  /// or 2, and no node that has neighbours is alone. `graph` is symmetric.
  virtual std::vector<idx> roots(const PlacedRows& graph, int distance) = 0;
  /// All in the backend's memory but for `work`, which it takes for a while.
  virtual void orthonormalize(ScalarType scalar, const basis_args& args, slot_t nodes) = 0;
  virtual void smooth(ScalarType scalar, const smooth_args& args) = 0;

 protected:
  ~MultigridWork() = default;
};

/// Kernels of a warp a node, by their names in device/aggregates.hpp.
enum class GraphStep { begin_states, find_nearest, decide, join_neighbours, join_the_rest, check_symmetry };
enum class StrengthStep { weigh_edges, count_kept, write_kept };

/// Tables of a warp each row, or of a block of threads for rows of more columns (device/product_pattern.hpp).
struct ColumnTable {
  int lanes, groups, slots;
  int threads() const { return lanes * groups; }
};
inline constexpr ColumnTable column_tables[] = {{32, 4, 256}, {256, 1, 8192}};
/// Threads that go through one row of the right operand.
inline constexpr int inner_lanes[] = {1, 8, 32};

/// One worker a row of A, and in the end a block of threads_of_transposed_row a row of A^T.
enum class TransposeStep { count, put, sort };
inline constexpr int threads_of_transposed_row = 256;

/// Queues kernels.
class MultigridKernels {
 public:
  virtual void run(GraphStep step, const aggregate_args& args) const = 0;
  virtual void run(StrengthStep step, ScalarType scalar, int size, const strength_args& args) const = 0;
  virtual void run(const ColumnTable& table, int inner, const product_pattern_args& args) const = 0;
  virtual void run(TransposeStep step, const transpose_args& args) const = 0;
  virtual void run(ScalarType scalar, const basis_args& args) const = 0;

 protected:
  ~MultigridKernels() = default;
};

std::optional<PlacedRows> product_pattern(Backend& on, const MultigridKernels& kernels, const PlacedRows& A,
                                          const PlacedRows& B, bool with_b);
std::optional<PlacedTransposed> transposed(Backend& on, const MultigridKernels& kernels, const PlacedRows& A);
bool is_symmetric(Backend& on, const MultigridKernels& kernels, const PlacedRows& graph);
PlacedRows strong_edges(Backend& on, const MultigridKernels& kernels, const StrengthTask& task);
std::vector<idx> roots(Backend& on, const MultigridKernels& kernels, const PlacedRows& graph, int distance);
void orthonormalize(Backend& on, const MultigridKernels& kernels, ScalarType scalar, const basis_args& args,
                    slot_t nodes);

}  // namespace compound
