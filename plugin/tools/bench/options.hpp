// What compound-bench was asked to do.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entry_kinds.hpp"
#include "grid.hpp"

namespace compound::bench {

enum class Operation { mult, multadd, transpose };

struct OperationName {
  Operation operation;
  std::string_view name;
};
inline constexpr OperationName operation_names[] = {
    {Operation::mult, "mult"}, {Operation::multadd, "multadd"}, {Operation::transpose, "transpose"}};
std::string_view name_of(Operation operation);

/// How large generated matrices are: by one of three measures.
enum class SizeBy { side, rows, megabytes };

struct Options {
  std::string file;                ///< empty: generate
  const GridKind* grid = nullptr;  ///< of a generated matrix
  SizeBy size_by = SizeBy::rows;
  std::vector<double> sizes;
  std::vector<BlockShape> blocks;  ///< empty with a file: as its .info says
  std::int64_t shuffle_window = 1;
  std::string entry = "dense";  ///< kind of the generated blocks
  std::uint64_t seed = 1;

  std::vector<std::string> types, plans, core_plans;
  bool on_device = false;             ///< -device cuda
  std::vector<std::string> cusparse;  ///< names of CusparseKind; empty: none
  bool cold = false, graph = false, coo = false;
  bool core_float = false;
  std::string baseline;  ///< empty: baij if it is there, else the first
  Operation operation = Operation::mult;

  int rounds = 7;
  int warm_up = 3;
  double min_time_s = 0.05;
  bool check = true;
  double memory_limit_bytes = 0;  ///< 0: 70 % of what is available
  std::string json;
};

/// Prints compound-bench's own options. For PetscSetHelpVersionFunctions(): PETSc calls it before it prints its own.
PetscErrorCode show_help(MPI_Comm comm);

/// Reads the options database. Throws usage_error.
Options read_options();

/// Throws usage_error for words on the command line that PETSc would silently drop: neither an option nor its value.
void check_words(int argc, const char* const* argv);

/// Throws usage_error for options that nothing has asked for. `early`: before the matrices exist, which read options of
/// their own; then only names that none of PETSc's can be.
void check_unused_options(bool early);

}  // namespace compound::bench
