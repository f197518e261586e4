// Operations: assembly again, in every way.
#include "operations.hpp"

#include <map>

namespace petsc_test {

std::vector<Block> own_blocks(Mat A) {
  PetscInt first = 0, last = 0, bs = 1;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetBlockSize(A, &bs));
  std::vector<Block> blocks;
  for (PetscInt row = first; row < last; row += bs) {
    std::map<PetscInt, PetscInt> scalars;  // of each block column
    for (PetscInt i = row; i < row + bs; ++i) {
      PetscInt n = 0;
      const PetscInt* col = nullptr;
      PETSC_OK(MatGetRow(A, i, &n, &col, nullptr));
      for (PetscInt k = 0; k < n; ++k) ++scalars[col[k] / bs];
      PETSC_OK(MatRestoreRow(A, i, &n, &col, nullptr));
    }
    for (const auto& [col, n] : scalars)
      if (n == bs * bs) blocks.push_back({static_cast<int>(row / bs), static_cast<int>(col)});
  }
  return blocks;
}

void allow_new_nonzeros(Mat A) {
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
}

void allow_new_nonzeros(Side& side) {
  if (parent_type() == MATAIJ && size() > 1) {
    Matrix copy;
    PETSC_OK(MatDuplicate(side, MAT_COPY_VALUES, copy.out()));
    side.matrix = std::move(copy);
  }
  allow_new_nonzeros(static_cast<Mat>(side));
}

namespace {

Problem own_pattern(const Side& side, Random& random) {
  const std::string kind = random.chance(0.5) ? side.kind : "";
  return {side.shape, own_blocks(side), random.next(), kind};
}

void insert_own(Side& side, Random& random, InsertMode mode) {
  const auto problem = own_pattern(side, random);
  insert_blocks(side, problem, problem.seed, mode);
}

void new_values(Side& side, Random& random) {
  insert_own(side, random, INSERT_VALUES);
  assemble(side);
}

void added_values(Side& side, Random& random) {
  insert_own(side, random, ADD_VALUES);
  assemble(side);
}

void flushes_in_between(Side& side, Random& random) {
  // Asked for now: rows cannot be read while the matrix is being assembled.
  const auto problem = own_pattern(side, random);
  insert_blocks(side, problem, random.next(), ADD_VALUES);
  assemble(side, MAT_FLUSH_ASSEMBLY);
  insert_blocks(side, problem, random.next(), INSERT_VALUES);
  assemble(side, MAT_FLUSH_ASSEMBLY);
  insert_blocks(side, problem, random.next(), ADD_VALUES);
  assemble(side);
}

void scalar_values(Side& side, Random& random) {
  const int bs = side.shape.bs;
  const auto seed = random.next();
  for (const auto& b : own_blocks(side)) {
    if (random.chance(0.5)) continue;
    const PetscInt row = b.row * bs + random.below(bs), col = b.col * bs + random.below(bs);
    const PetscScalar v = value(seed, row, col);
    PETSC_OK(MatSetValues(side, 1, &row, 1, &col, &v, INSERT_VALUES));
  }
  assemble(side);
}

/// By scalars: MatSetValuesBlocked() of PETSc 3.18 puts a new off-diagonal block of an assembled mpibaij into another
/// column
/// ((colmap[col] - 1) / bs is 0, not negative, for a column that is not there).
void new_nonzeros(Side& side, Random& random) {
  allow_new_nonzeros(side);
  const int bs = side.shape.bs;
  const auto blocks = random_blocks(random, side.shape, 0.1, false);
  const auto seed = random.next();
  for (const auto& b : blocks) {
    if (!side.shape.owns_row(b.row)) continue;
    const PetscInt row = b.row * bs + bs / 2, col = b.col * bs + bs - 1;
    const PetscScalar v = value(seed, row, col);
    PETSC_OK(MatSetValues(side, 1, &row, 1, &col, &v, ADD_VALUES));
  }
  assemble(side);
}

/// Every process adds to every row, so that most entries travel through the stash.
void off_process_values(Side& side, Random& random) {
  allow_new_nonzeros(side);
  const auto& shape = side.shape;
  if (shape.block_rows() == 0 || shape.block_cols() == 0) return assemble(side);
  Random mine(random.next() + static_cast<std::uint64_t>(rank()));
  for (int k = 0; k < 8; ++k) {
    const PetscInt row = mine.below(shape.block_rows() * shape.bs), col = mine.below(shape.block_cols() * shape.bs);
    // Sums that are exact in any order of arrival keep the twins equal bit by bit.
    const PetscScalar v = static_cast<PetscReal>(mine.below(64)) / 16;
    PETSC_OK(MatSetValues(side, 1, &row, 1, &col, &v, ADD_VALUES));
  }
  assemble(side);
}

void coordinates(Side& side, Random& random) {
  const auto& shape = side.shape;
  const int rows = shape.block_rows() * shape.bs, cols = shape.block_cols() * shape.bs;
  Random mine(random.next() + static_cast<std::uint64_t>(rank()));
  std::vector<PetscInt> row, col;
  std::vector<PetscScalar> words;
  for (int k = 0; k < 12 && rows > 0 && cols > 0; ++k) {
    row.push_back(mine.below(rows));
    col.push_back(mine.below(cols));
    words.push_back(static_cast<PetscReal>(mine.below(64)) / 16);
  }
  allow_new_nonzeros(side);
  PETSC_OK(MatSetPreallocationCOO(side, static_cast<PetscCount>(row.size()), row.data(), col.data()));
  if (parent_type() == MATAIJ)
    PETSC_OK(MatSetOption(side, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));  // as AIJ forgets it
  PETSC_OK(MatSetValuesCOO(side, words.data(), INSERT_VALUES));
  if (random.chance(0.5)) PETSC_OK(MatSetValuesCOO(side, words.data(), ADD_VALUES));
}

void written_through_the_array(Side& side, Random& random) {
  Mat block = nullptr;
  PETSC_OK(MatGetDiagonalBlock(side, &block));
  PetscScalar* words = nullptr;
  const bool of_scalars = parent_type() == MATAIJ;
  PETSC_OK(of_scalars ? MatSeqAIJGetArray(block, &words) : MatSeqBAIJGetArray(block, &words));
  MatInfo info;
  PETSC_OK(MatGetInfo(block, MAT_LOCAL, &info));
  const auto seed = random.next();
  for (PetscInt k = 0; k < static_cast<PetscInt>(info.nz_used); ++k) words[k] = value(seed, k);
  PETSC_OK(of_scalars ? MatSeqAIJRestoreArray(block, &words) : MatSeqBAIJRestoreArray(block, &words));
}

void other_options(Side& side, Random& random) {
  const MatOption options[] = {MAT_ROW_ORIENTED, MAT_KEEP_NONZERO_PATTERN, MAT_IGNORE_OFF_PROC_ENTRIES,
                               MAT_NO_OFF_PROC_ZERO_ROWS};
  const auto option = options[random.below(2)];
  const auto flag = random.chance(0.5) ? PETSC_TRUE : PETSC_FALSE;
  PETSC_OK(MatSetOption(side, option, flag));
  PETSC_OK(MatSetOption(side, MAT_SYMMETRIC, PETSC_FALSE));
  new_values(side, random);
}

void zeros_then_new_values(Side& side, Random& random) {
  PETSC_OK(MatZeroEntries(side));
  insert_own(side, random, ADD_VALUES);
  assemble(side);
}

}  // namespace

const std::vector<Operation>& assemblies() {
  static const std::vector<Operation> all = {
      {"new_values", new_values},
      {"added_values", added_values},
      {"flushes_in_between", flushes_in_between},
      {"scalar_values", scalar_values},
      {"new_nonzeros", new_nonzeros},
      {"off_process_values", off_process_values},
      {"coordinates", coordinates},
      {"written_through_the_array", written_through_the_array, true},
      {"other_options", other_options},
      {"zeros_then_new_values", zeros_then_new_values},
  };
  return all;
}

void apply(const Operation& operation, Twins& twins, std::uint64_t seed) {
  on_both(twins, [&](Side& side) {
    Random random(seed);
    operation.run(side, random);
  });
}

}  // namespace petsc_test
