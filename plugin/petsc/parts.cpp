#include "petsc/parts.hpp"

#include <algorithm>

#include "petsc/agree.hpp"

namespace compound::plugin {

namespace {

bool same(const PartArrays& a, const PartArrays& b) {
  const BlockArrays &p = a.blocks, &q = b.blocks;
  if (p.rows != q.rows || p.block != q.block || p.entries() != q.entries()) return false;
  if (a.columns.has_value() != b.columns.has_value() || (a.columns && !std::ranges::equal(*a.columns, *b.columns)))
    return false;
  return p.rows == 0 ||
         (std::equal(p.start, p.start + p.rows + 1, q.start) && std::equal(p.column, p.column + p.entries(), q.column));
}

}  // namespace

std::size_t PartArrays::scalars() const {
  return static_cast<std::size_t>(blocks.entries()) * static_cast<std::size_t>(blocks.scalars_of_entry());
}

/// FNV-1a in as many lanes as a core multiplies at a time: one would wait for each product before the next.
std::uint64_t PartArrays::pattern() const {
  constexpr std::size_t lanes = 8;
  constexpr std::uint64_t prime = 1099511628211ull;
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&](std::span<const PetscInt> integers) {
    std::uint64_t lane[lanes];
    for (std::size_t k = 0; k < lanes; ++k) lane[k] = hash + k;
    std::size_t n = 0;
    for (; n + lanes <= integers.size(); n += lanes)
      for (std::size_t k = 0; k < lanes; ++k) lane[k] = (lane[k] ^ static_cast<std::uint64_t>(integers[n + k])) * prime;
    for (; n < integers.size(); ++n) hash = (hash ^ static_cast<std::uint64_t>(integers[n])) * prime;
    for (const std::uint64_t of_lane : lane) hash = (hash ^ of_lane) * prime;
  };
  if (blocks.rows > 0) add({blocks.start, static_cast<std::size_t>(blocks.rows) + 1});
  add({blocks.column, static_cast<std::size_t>(blocks.entries())});
  if (columns) add(*columns);
  return hash;
}

PetscErrorCode parts_of(Mat A, std::vector<PartArrays>* parts) {
  PetscFunctionBegin;
  Mat mats[2] = {A, nullptr};
  const PetscInt* columns = nullptr;
  if (type_of_matrix(A).is_mpi) PetscCall(mpi_parts(A, &mats[0], &mats[1], &columns));
  for (Mat mat : mats) {
    if (!mat) continue;
    PartArrays p{mat, {}, A->rmap->rstart, 0, {}};
    PetscCall(block_arrays(mat, &p.blocks));
    if (parts->empty())
      p.first_column = A->cmap->rstart / p.blocks.block.cols;
    else
      p.columns = std::span(columns, static_cast<std::size_t>(p.blocks.cols));
    parts->push_back(p);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Whether same(parts of A, parts of B) holds on all processes. Collective.
template <class Same>
PetscErrorCode compare_parts(Mat A, Mat B, const Same& same, bool* yes) {
  bool differ = false;
  PetscFunctionBegin;
  const PetscErrorCode here = guarded(PETSC_COMM_SELF, [&] {
    PetscFunctionBegin;
    std::vector<PartArrays> a, b;
    PetscCall(parts_of(A, &a));
    PetscCall(parts_of(B, &b));
    differ = !same(a, b);
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  PetscCall(share_error(comm_of(A), here, &differ));
  *yes = !differ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool have_equal_columns(const PartArrays& of_blocks, const PartArrays& of_scalars) {
  const auto &blocks = *of_blocks.columns, &scalars = *of_scalars.columns;
  const auto bs = static_cast<std::size_t>(of_blocks.blocks.block.cols);
  if (scalars.size() != blocks.size() * bs) return false;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    if (scalars[k * bs] != blocks[k] * static_cast<PetscInt>(bs)) return false;
  return true;
}

}  // namespace

PetscErrorCode have_same_pattern(Mat A, Mat B, bool* yes) {
  return compare_parts(
      A, B, [](const auto& a, const auto& b) { return std::ranges::equal(a, b, same); }, yes);
}

PetscErrorCode have_same_columns(Mat A, Mat B, bool* yes) {
  return compare_parts(
      A, B, [](const auto& a, const auto& b) { return have_equal_columns(a.back(), b.back()); }, yes);
}

PetscErrorCode hash_of_pattern(Mat A, std::uint64_t* hash) {
  PetscFunctionBegin;
  std::vector<PartArrays> parts;
  PetscCall(parts_of(A, &parts));
  *hash = 0;
  for (const PartArrays& p : parts) *hash = *hash * 31 + p.pattern();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
