// What compound-bench was asked to do.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entry/kinds.hpp"
#include "generated_rows.hpp"
#include "option_rows.hpp"
#include "value_rule.hpp"

namespace compound::bench {

enum class Operation { mult, multadd, transpose };

inline const OptionWords<Operation> operation_words = {
    {"mult", Operation::mult}, {"multadd", Operation::multadd}, {"transpose", Operation::transpose}};

/// A type of the plugin, by its name.
inline bool is_ours(std::string_view type) { return type.find("compound") != std::string_view::npos; }

/// How large generated matrices are: by one of three measures.
enum class SizeBy { sides, rows, megabytes };

/// A file's complex numbers: scalars of a complex PETSc, or 2x2 blocks [[a, -b], [b, a]] of a real one.
enum class ComplexAs { scalars, blocks };

/// "3x3"
inline std::string block_text(BlockShape b) { return std::to_string(b.rows) + "x" + std::to_string(b.cols); }

/// A Krylov method on a matrix type, "baijcompound/cgcompound".
struct Solver {
  std::string type, method;
};

struct Options {
  std::string file;                ///< empty: generate
  bool pattern_alone = false;      ///< of the file; its blocks are generated
  const GridKind* grid = nullptr;  ///< of a generated matrix
  SizeBy size_by = SizeBy::rows;
  std::vector<double> sizes;                     ///< rows or megabytes
  std::vector<std::vector<std::int64_t>> sides;  ///< of -n: one for all sides, or each
  std::vector<BlockShape> blocks;                ///< empty with a file: as its .info says
  std::vector<BlockShape> regrouped;             ///< in place of them, of the same scalars; empty: as they are
  std::int64_t shuffle_window = 1;
  LongRows long_rows;
  Values values = Values::random;
  std::vector<std::string> renumber{"natural"};  ///< names of PETSc's orderings
  ComplexAs complex_as = ComplexAs::scalars;
  std::string entry = "dense";  ///< kind of the generated blocks
  std::uint64_t seed = 1;

  std::vector<std::string> types, plans, core_plans;
  std::vector<std::string> inserted, assembled, of_dense;  ///< types of "TYPE/assembly", "TYPE/coo", "TYPE/dense"
  std::vector<int> columns = {1, 2, 4, 8, 16};             ///< of dense matrices
  std::vector<Solver> solvers, of_columns;                 ///< "TYPE/METHOD", "TYPE/METHOD/dense"
  std::vector<std::string> hamilton;                       ///< plans of a quaternion matrix' four real ones
  std::vector<std::string> layouts;                        ///< of the table of layouts
  bool on_device = false;                                  ///< -device cuda
  std::vector<std::string> cusparse;                       ///< names of CusparseKind; empty: none
  bool cold = false, graph = false;
  bool core_float = false;  ///< scalars of single precision where the core multiplies without PETSc
  std::string baseline;     ///< empty: baij if it is there, else the first
  Operation operation = Operation::mult;

  int rounds = 7;
  int warm_up = 3;
  double min_time_s = 0.05;
  bool check = true;
  double memory_limit_bytes = 0;  ///< 0: 70 % of what is available
  std::string json, csv;

  /// Whether any candidate runs the core without a PETSc matrix.
  bool wants_core() const { return !core_plans.empty() || !hamilton.empty() || !layouts.empty(); }
  /// The shapes that products see.
  const std::vector<BlockShape>& multiplied() const { return regrouped.empty() ? blocks : regrouped; }
  /// Whether one of -types is not for products alone.
  bool wants_more_of_types() const {
    return !inserted.empty() || !assembled.empty() || !of_dense.empty() || !solvers.empty();
  }
};

/// What describes a case (matrix, blocks, numbering, device, memory), and the files of results.
std::span<const OptionRow<Options>> case_option_rows();

/// Prints compound-bench's own options. For PetscSetHelpVersionFunctions(): PETSc calls it before it prints its own.
PetscErrorCode show_help(MPI_Comm comm);

/// Reads the options database. Throws usage_error.
Options read_options();

/// Throws usage_error for options that exclude each other; what was left out and depends on others is filled in.
void check_and_complete(Options& options);

OptionNames option_names();

}  // namespace compound::bench
