// Operations: everything PETSc lets one do to the values of an assembled BAIJ matrix.
#include "operations.hpp"

namespace petsc_test {

namespace {

/// A product with it is exact: twins stay equal bit by bit, on a device that fuses multiplication and addition, too.
/// None is the inverse of another, so that a sum with a multiple of a multiple does not vanish.
PetscScalar factor(Random& random) {
  constexpr PetscReal sizes[] = {-4, -2, 2, 4};
  const PetscScalar size = sizes[random.below(4)];
#if PetscDefined(USE_COMPLEX)
  if (random.chance(0.5)) return size * PETSC_i;
#endif
  return size;
}

void scaled(Side& side, Random& random) { PETSC_OK(MatScale(side, factor(random))); }

void shifted(Side& side, Random& random) {
  allow_new_nonzeros(side);
  PETSC_OK(MatShift(side, factor(random)));
}

/// A matrix of the same kind, with the pattern of A or a part of it, or any; sometimes its entries are of A's kind.
Matrix companion(const Side& side, Random& random, MatStructure structure) {
  const std::string kind = random.chance(0.5) ? side.kind : "";
  if (tested_is_of_scalars() && structure != DIFFERENT_NONZERO_PATTERN) {  // whose blocks may have gaps
    Matrix copy;
    PETSC_OK(MatDuplicate(side, MAT_COPY_VALUES, copy.out()));
    PETSC_OK(MatScale(copy, factor(random)));
    return copy;
  }
  if (structure == SAME_NONZERO_PATTERN) {
    Matrix copy;
    PETSC_OK(MatDuplicate(side, MAT_DO_NOT_COPY_VALUES, copy.out()));
    const Problem problem{side.shape, own_blocks(side), random.next(), kind};
    insert_blocks(copy, problem, problem.seed, INSERT_VALUES);
    assemble(copy);
    return copy;
  }
  Problem problem{side.shape, {}, random.next(), kind};
  if (structure != SUBSET_NONZERO_PATTERN) {
    problem.blocks = random_blocks(random, side.shape, 0.2, false);
    return side.make(problem);
  }
  Random mine(random.next() + static_cast<std::uint64_t>(rank()));
  for (const auto& block : own_blocks(side))
    if (mine.chance(0.5)) problem.blocks.push_back(block);
  return side.make(problem);
}

template <MatStructure structure>
void axpy(Side& side, Random& random) {
  allow_new_nonzeros(side);
  const auto a = factor(random);
  PETSC_OK(MatAXPY(side, a, companion(side, random, structure), structure));
}

template <MatStructure structure>
void aypx(Side& side, Random& random) {
  allow_new_nonzeros(side);
  const auto a = factor(random);
  PETSC_OK(MatAYPX(side, a, companion(side, random, structure), structure));
}

template <bool left, bool right>
void diagonally_scaled(Side& side, Random& random) {
  const auto seed = random.next();
  const auto l = left_vector(side, seed), r = right_vector(side, seed + 1);
  PETSC_OK(MatDiagonalScale(side, left ? static_cast<Vec>(l) : nullptr, right ? static_cast<Vec>(r) : nullptr));
}

/// A few rows, each named by one process, not always its owner.
std::vector<PetscInt> some_rows(const Side& side, Random& random) {
  const int rows = side.shape.block_rows() * side.shape.bs;
  std::vector<PetscInt> mine;
  for (int row = 0; row < rows; ++row) {
    const bool chosen = random.chance(0.15);
    if (random.below(size()) == rank() && chosen) mine.push_back(row);
  }
  return mine;
}

void rows_zeroed(Side& side, Random& random) {
  const auto rows = some_rows(side, random);
  PETSC_OK(MatZeroRows(side, static_cast<PetscInt>(rows.size()), rows.data(), 0.0, nullptr, nullptr));
}

void rows_zeroed_pattern_kept(Side& side, Random& random) {
  PETSC_OK(MatSetOption(side, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  rows_zeroed(side, random);
}

/// AIJ that keeps its pattern puts no new entry on the diagonal of rows that are zeroed.
void make_room_on_the_diagonal(Side& side) {
  allow_new_nonzeros(side);
  if (parent_type() == MATAIJ) PETSC_OK(MatShift(side, 1.0));
}

void rows_zeroed_with_diagonal(Side& side, Random& random) {
  make_room_on_the_diagonal(side);
  const auto rows = some_rows(side, random);
  const auto x = right_vector(side, 31), b = left_vector(side, 32);
  PETSC_OK(MatZeroRows(side, static_cast<PetscInt>(rows.size()), rows.data(), factor(random), x, b));
}

void rows_and_columns_zeroed(Side& side, Random& random) {
  allow_new_nonzeros(side);
  // A missing diagonal entry is an error of MatZeroRowsColumns.
  PETSC_OK(MatShift(side, 1.0));
  const auto rows = some_rows(side, random);
  const auto x = right_vector(side, 31), b = left_vector(side, 32);
  PETSC_OK(MatZeroRowsColumns(side, static_cast<PetscInt>(rows.size()), rows.data(), factor(random), x, b));
}

void local_rows_zeroed(Side& side, Random& random) {
  make_room_on_the_diagonal(side);
  const auto here = side.shape.rows[static_cast<std::size_t>(rank())];
  const auto bs = side.shape.bs;
  Indices own;
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, here * bs, side.shape.first_row() * bs, 1, own.out()));
  ISLocalToGlobalMapping map = nullptr;
  PETSC_OK(ISLocalToGlobalMappingCreateIS(own, &map));
  PETSC_OK(MatSetLocalToGlobalMapping(side, map, map));
  PETSC_OK(ISLocalToGlobalMappingDestroy(&map));
  Random mine(random.next() + static_cast<std::uint64_t>(rank()));
  std::vector<PetscInt> rows;
  for (PetscInt row = 0; row < here * bs; ++row)
    if (mine.chance(0.2)) rows.push_back(row);
  PETSC_OK(MatZeroRowsLocal(side, static_cast<PetscInt>(rows.size()), rows.data(), 1.5, nullptr, nullptr));
}

void conjugated(Side& side, Random&) { PETSC_OK(MatConjugate(side)); }
void real_part(Side& side, Random&) { PETSC_OK(MatRealPart(side)); }

/// Alone it would leave nothing to compare in real builds.
void imaginary_part(Side& side, Random& random) {
  PETSC_OK(MatImaginaryPart(side));
  PETSC_OK(MatAXPY(side, 1.0, companion(side, random, SAME_NONZERO_PATTERN), SAME_NONZERO_PATTERN));
}

void entries_zeroed(Side& side, Random&) { PETSC_OK(MatZeroEntries(side)); }

void chopped(Side& side, Random&) {
  allow_new_nonzeros(side);
#if PETSC_VERSION_GE(3, 20, 0)
  PETSC_OK(MatFilter(side, 0.4, PETSC_FALSE, PETSC_FALSE));
#else
  PETSC_OK(MatChop(side, 0.4));
#endif
}

void transposed_in_place(Side& side, Random&) {
  PETSC_OK(MatTranspose(side, MAT_INPLACE_MATRIX, side.matrix.in_place()));
}

/// A new matrix, in the layout asked for of the first.
void replace_by_transpose(Side& side, Matrix transpose) {
  side.matrix = std::move(transpose);
  side.shape = side.shape.transposed();
}

void transposed_anew(Side& side, Random&) {
  Matrix other;
  PETSC_OK(MatTranspose(side, MAT_INITIAL_MATRIX, other.out()));
  replace_by_transpose(side, std::move(other));
}

void transposed_again(Side& side, Random& random) {
  Matrix other;
  PETSC_OK(MatTranspose(side, MAT_INITIAL_MATRIX, other.out()));
  // A product in between, so that there is something that could go stale.
  (void)product_of(other, all_products().front(), 33);
  PETSC_OK(MatScale(side, factor(random)));
  PETSC_OK(MatTranspose(side, MAT_REUSE_MATRIX, other.in_place()));
  replace_by_transpose(side, std::move(other));
}

/// On a copy: BAIJ writes past its store when the matrix has grown since it was stored before.
void stored_and_retrieved(Side& side, Random& random) {
  Matrix copy;
  PETSC_OK(MatDuplicate(side, MAT_COPY_VALUES, copy.out()));
  PETSC_OK(MatSetOption(copy, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PETSC_OK(MatStoreValues(copy));
  PETSC_OK(MatScale(copy, factor(random)));
  (void)product_of(copy, all_products().front(), 34);
  PETSC_OK(MatRetrieveValues(copy));
  PETSC_OK(MatSetOption(copy, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));  // else MatConvert() of PETSc 3.18 loses entries
  side.matrix = std::move(copy);
}

#if PETSC_VERSION_GE(3, 20, 0)
void zeros_eliminated(Side& side, Random& random) {
  // BAIJ drops a block only when all of it is zero.
  const int bs = side.shape.bs;
  const std::vector<PetscScalar> zeros(static_cast<std::size_t>(bs * bs), 0.0);
  for (const auto& b : own_blocks(side)) {
    if (random.chance(0.6)) continue;
    const PetscInt row = b.row, col = b.col;
    PETSC_OK(MatSetValuesBlocked(side, 1, &row, 1, &col, zeros.data(), INSERT_VALUES));
  }
  assemble(side);
  PETSC_OK(MatEliminateZeros(side, PETSC_TRUE));
}
#endif

}  // namespace

const std::vector<Operation>& value_changes() {
  static const std::vector<Operation> all = {
    {"scaled", scaled},
    {"shifted", shifted, true},
    {"axpy_same", axpy<SAME_NONZERO_PATTERN>},
    {"axpy_different", axpy<DIFFERENT_NONZERO_PATTERN>},
    {"axpy_subset", axpy<SUBSET_NONZERO_PATTERN>},
    {"axpy_unknown", axpy<UNKNOWN_NONZERO_PATTERN>},
    {"aypx_same", aypx<SAME_NONZERO_PATTERN>},
    {"aypx_different", aypx<DIFFERENT_NONZERO_PATTERN>},
    {"diagonally_scaled_left", diagonally_scaled<true, false>},
    {"diagonally_scaled_right", diagonally_scaled<false, true>},
    {"diagonally_scaled", diagonally_scaled<true, true>},
    {"rows_zeroed", rows_zeroed},
    {"rows_zeroed_pattern_kept", rows_zeroed_pattern_kept},
    {"rows_zeroed_with_diagonal", rows_zeroed_with_diagonal, true, Sequences::assembled_after},
    {"rows_and_columns_zeroed", rows_and_columns_zeroed, true},
    {"local_rows_zeroed", local_rows_zeroed, true, Sequences::assembled_after},
    {"conjugated", conjugated},
    {"real_part", real_part},
    {"imaginary_part", imaginary_part},
    {"entries_zeroed", entries_zeroed},
    {"chopped", chopped},
    {"transposed_in_place", transposed_in_place, true},
    {"transposed_anew", transposed_anew},
    {"transposed_again", transposed_again, false, Sequences::sequential},
    {"stored_and_retrieved", stored_and_retrieved},
#if PETSC_VERSION_GE(3, 20, 0)
    {"zeros_eliminated", zeros_eliminated},
#endif
  };
  return all;
}

}  // namespace petsc_test
