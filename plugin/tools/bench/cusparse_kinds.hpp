// The products of cuSPARSE that are compared, by name; known in every build, so that options are checked alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "entry/kinds.hpp"

namespace compound::bench {

/// What a matrix is converted to: blocks with their scalars by rows or by columns, scalar compressed rows, slices,
/// coordinates sorted by rows.
enum class CusparseForm { blocks_by_row, blocks_by_column, rows, slices, coordinates };

/// What its scalars are: the matrix' own, or complex numbers made of 2x2 blocks [[a, -b], [b, a]] of a real one.
enum class CusparseScalars { own, complex };

struct CusparseKind {
  std::string_view name;
  CusparseForm form;
  enum class Call { bsrmv, automatic, bsr1, csr1, csr2, sell1, coo1, coo2 } call;
  CusparseScalars scalars = CusparseScalars::own;
};

std::span<const CusparseKind> cusparse_kinds();
std::string cusparse_names();

/// Null for an unknown name.
const CusparseKind* find_cusparse(std::string_view name);

/// What is clear before cuSPARSE is asked; empty if nothing speaks against it.
std::optional<std::string> why_not_cusparse(const CusparseKind& kind, BlockShape block, std::int64_t blocks);

}  // namespace compound::bench
