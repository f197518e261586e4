#include "spgemm/block_sums.hpp"

#include <vector>

#include "spgemm/products_of_matrices.hpp"

namespace compound::plugin {

namespace {

/// [entries of X] those of Y that they are added to; empty where Y lacks one of them.
std::vector<PetscInt> places(const BlockArrays& x, const BlockArrays& y) {
  std::vector<PetscInt> place;
  place.reserve(static_cast<std::size_t>(x.entries()));
  for (PetscInt row = 0; row < x.rows; ++row) {
    PetscInt at = y.start[row];  // columns ascend in both
    for (PetscInt e = x.start[row]; e < x.start[row + 1]; ++e) {
      while (at < y.start[row + 1] && y.column[at] < x.column[e]) ++at;
      if (at == y.start[row + 1] || y.column[at] != x.column[e]) return {};
      place.push_back(at);
    }
  }
  return place;
}

/// Values in the order of rows.
void add(const BlockArrays& x, PetscScalar a, const std::vector<PetscInt>& place, const BlockArrays& y,
         PetscScalar* to) {
  const auto [height, width] = x.block;
  for (PetscInt row = 0; row < x.rows; ++row) {
    const std::ptrdiff_t x_step = std::ptrdiff_t{x.start[row + 1] - x.start[row]} * width,
                         y_step = std::ptrdiff_t{y.start[row + 1] - y.start[row]} * width;
    for (PetscInt e = x.start[row]; e < x.start[row + 1]; ++e) {
      const PetscInt at = place[static_cast<std::size_t>(e)];
      const PetscScalar* from =
          x.values + std::ptrdiff_t{x.start[row]} * height * width + std::ptrdiff_t{e - x.start[row]} * width;
      PetscScalar* sum = to + std::ptrdiff_t{y.start[row]} * height * width + std::ptrdiff_t{at - y.start[row]} * width;
      for (int i = 0; i < height; ++i, from += x_step, sum += y_step)
        for (int j = 0; j < width; ++j) sum[j] += a * from[j];
    }
  }
}

}  // namespace

PetscErrorCode add_full_blocks(Mat Y, PetscScalar a, Mat X, bool* done) {
  PetscFunctionBegin;
  BlockArrays x, y;
  bool full;
  std::vector<PetscInt> place;
  PetscScalar* to;
  *done = false;
  PetscCall(full_blocks_of(X, &x, &full));
  if (full) PetscCall(full_blocks_of(Y, &y, &full));
  if (!full || x.block != y.block || x.rows != y.rows || x.entries() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded(comm_of(Y), [&] { place = places(x, y); }));
  if (place.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArray(Y, &to));
  add(x, a, place, y, to);
  PetscCall(MatSeqAIJRestoreArray(Y, &to));
  PetscCall(PetscLogFlops(2.0 * double(x.entries()) * double(x.scalars_of_entry())));
  PetscCall(PetscInfo(Y, "A matrix is added to another block by block\n"));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
