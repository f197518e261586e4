// What a matrix was asked to do: by options, by a pinned type name, or through the C API.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "petsc/guard.hpp"
#include "planner/default_plan.hpp"
#include "planner/search.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// `automatic` follows the vectors, `petsc` leaves products to the base type.
enum class BackendChoice { automatic, petsc, host, cuda };

/// How processes exchange ghosts between devices: themselves where they can, by NCCL, or by PETSc's scatter.
enum class ExchangeChoice { automatic, peers, nccl, petsc };

/// How the size of packed blocks is found: by the bytes that products read, by their time as the model has it (devices
/// only), by their time.
enum class BlockEffort { bytes, model, measure };

/// Of packed blocks.
struct BlockSize {
  enum Way { of_matrix, to_find, given } way = of_matrix;
  BlockShape shape{};                   ///< the given one
  BlockEffort by = BlockEffort::bytes;  ///< of one to find
};

struct Settings {
  BackendChoice backend = BackendChoice::automatic;
  BlockSize block_size;
  ExchangeChoice exchange = ExchangeChoice::automatic;
  double exchange_patience = 30;  ///< seconds; of the first matrix of a communicator
  std::string entry;              ///< empty: to be found
  std::string entry_file;
  std::string layout;                                          ///< empty: default heuristic
  double megabytes = std::numeric_limits<double>::infinity();  ///< that packed storage may own
  double most_padding = 4;                                     ///< slots over entries
  std::string plan;
  ValuePrecision precision;  ///< not set: as vectors
  TransposedValues transpose = TransposedValues::copy;
  Effort tune = Effort::rule;
  std::optional<std::string> wisdom;  ///< not set: the user's file; empty: none
  double tune_seconds = 10;
  double memory_weight = 0;  ///< from 0, where tuning looks at time alone, to 1
  std::string library;       ///< whose products tuning tries, too; empty: no library
  double expected_products = std::numeric_limits<double>::infinity();
  bool reproducible = true;   ///< products of libraries must give the same bits each time
  bool tune_monitor = false;  ///< print the best plan so far while tuning
  bool view = false;          ///< print the plan once, when first packed
  bool viewed = false;
  bool warn = true;  ///< warnings on stderr about this matrix

  std::string printed_plan;  ///< what MatCompoundGetPlan() lends
  bool options_read = false;
  int version = 0;  ///< rises with every change, so that packed copies know when they are of old settings

  /// Whether products are left to the base type.
  bool parent_only() const { return backend == BackendChoice::petsc; }
  bool may_use_device() const { return backend == BackendChoice::automatic || backend == BackendChoice::cuda; }
  /// By the default heuristic, or for the layout that was asked for.
  Plan plan_of_layout(const PatternStatistics& numbers, const Problem& problem, std::string_view on,
                      std::string_view kind) const;
  /// The plan line that was given for one part; empty where there is none.
  std::string_view plan_of_part(bool off_diagonal) const;
  /// Whether the kind of entry of a part is to be found: none was named, and a plan that was given for it would mean
  /// dense.
  bool finds_entry(bool off_diagonal) const { return entry.empty() && plan_of_part(off_diagonal).empty(); }
  /// Whether a kind of entry that blocks may not be of was asked for by name.
  bool names_kind() const { return !entry.empty() && entry != "dense"; }
  /// The same, or by a plan of any part.
  bool names_entry() const { return names_kind() || plan.find("entry=") != std::string::npos; }
  /// Whether a layout that may be refused was asked for.
  bool names_layout() const { return !layout.empty() || !plan.empty(); }
  /// Of plans that are packed on the matrix's own arrays where the core's integers are as wide as PETSc's.
  PlanLimits limits() const;
  SearchOptions search_options() const;
  /// Of packed blocks, where the matrix's are of size `given`; that, where the size is to be found.
  BlockShape packed_block(int given) const {
    return block_size.way == BlockSize::given ? block_size.shape : BlockShape{given, given};
  }
};

}  // namespace compound::plugin
