#include "cusparse_kinds.hpp"

#include <petscsys.h>

#include <algorithm>
#include <limits>

namespace compound::bench {

namespace {

using Call = CusparseKind::Call;

constexpr CusparseKind all_cusparse_kinds[] = {
    {"bsrmv-row", CusparseForm::blocks_by_row, Call::bsrmv},
    {"bsrmv-column", CusparseForm::blocks_by_column, Call::bsrmv},
    {"bsr-row", CusparseForm::blocks_by_row, Call::bsr1},
    {"bsr-column", CusparseForm::blocks_by_column, Call::bsr1},
    {"csr", CusparseForm::rows, Call::automatic},
    {"csr-alg1", CusparseForm::rows, Call::csr1},
    {"csr-alg2", CusparseForm::rows, Call::csr2},
    {"sell", CusparseForm::slices, Call::sell1},
    {"coo", CusparseForm::coordinates, Call::coo1},
    {"coo-alg2", CusparseForm::coordinates, Call::coo2},
    {"complex-csr", CusparseForm::rows, Call::automatic, CusparseScalars::complex},
    {"complex-csr-alg1", CusparseForm::rows, Call::csr1, CusparseScalars::complex},
    {"complex-csr-alg2", CusparseForm::rows, Call::csr2, CusparseScalars::complex},
    {"complex-sell", CusparseForm::slices, Call::sell1, CusparseScalars::complex},
    {"complex-coo", CusparseForm::coordinates, Call::coo1, CusparseScalars::complex},
};

bool of_blocks(CusparseForm form) {
  return form == CusparseForm::blocks_by_row || form == CusparseForm::blocks_by_column;
}

}  // namespace

std::span<const CusparseKind> cusparse_kinds() { return all_cusparse_kinds; }

std::string cusparse_names() {
  std::string names;
  for (const CusparseKind& k : all_cusparse_kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

const CusparseKind* find_cusparse(std::string_view name) {
  const auto found = std::ranges::find(all_cusparse_kinds, name, &CusparseKind::name);
  return found == std::end(all_cusparse_kinds) ? nullptr : &*found;
}

std::optional<std::string> why_not_cusparse(const CusparseKind& kind, BlockShape block, std::int64_t blocks) {
  if (kind.scalars == CusparseScalars::complex) {
    if (sizeof(PetscScalar) == sizeof(PetscReal) && block == BlockShape{2, 2}) return {};
    return "its complex numbers are made of the 2x2 blocks of a real matrix";
  }
  if (of_blocks(kind.form)) {
    if (block.rows != block.cols) return "its blocks are square";
    if (block.rows == 1) return "blocks of 1x1 are scalars: csr and sell are their forms";
    return {};
  }
  if (static_cast<double>(blocks) * block.rows * block.cols > std::numeric_limits<std::int32_t>::max())
    return "more scalars than 32-bit row starts count; only the forms with blocks hold this matrix";
  return {};
}

}  // namespace compound::bench
