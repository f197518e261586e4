// Random changes of an sbaijcompound and of PETSc's sbaij, of any pattern and distribution, compared after each.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "operations.hpp"
#include "random_runs.hpp"

namespace {

using namespace petsc_test;

constexpr int length = 20;

/// Of the upper triangle. PETSc reads beyond arrays, or refuses to convert, where blocks of the diagonal are missing.
std::vector<Block> upper_blocks(Random& random, const Shape& shape, bool with_diagonal = true) {
  auto blocks = random_blocks(random, shape, 0.3, with_diagonal);
  std::erase_if(blocks, [](const Block& b) { return b.col < b.row; });
  return blocks;
}

/// Of a symmetric matrix. Each process sets those of its own rows, or some of any rows, which then travel.
void set_blocks(Mat A, const Shape& shape, const std::vector<Block>& blocks, std::uint64_t seed, InsertMode mode,
                bool travel = false) {
  allow_new_nonzeros(A);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const PetscInt row = blocks[k].row, col = blocks[k].col, bs = shape.bs;
    if (travel ? static_cast<int>(k) % size() != rank() : !shape.owns_row(blocks[k].row)) continue;
    std::vector<PetscScalar> values;
    for (PetscInt i = row * bs; i < (row + 1) * bs; ++i)
      for (PetscInt j = col * bs; j < (col + 1) * bs; ++j)
        values.push_back(value(seed, std::min(i, j), std::max(i, j)));
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, values.data(), mode));
  }
  assemble(A);
}

/// One of the twins.
struct Symmetric {
  bool is_tested;
  Shape shape;
  std::vector<Block> blocks = {};  ///< that it was filled with
  Matrix A = {};

  const char* type() const { return is_tested ? "sbaijcompound" : MATSBAIJ; }

  Matrix made(const std::vector<Block>& of, std::uint64_t seed, const std::string& options = "") const {
    auto B = empty_matrix(type(), is_tested ? options : "", shape);
    PETSC_OK(MatSetUp(B));
    set_blocks(B, shape, of, seed, INSERT_VALUES, seed % 2 == 0);
    return B;
  }
  Matrix copy() const {
    Matrix B;
    PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
    return B;
  }
  /// Where PETSc cannot take new ones later, those that are there: on several processes it writes beyond its arrays
  /// (3.18.5) or loses those that travel (3.26.1).
  std::vector<Block> some_blocks(Random& random, bool travel) const {
    if (size() == 1 || (PETSC_VERSION_GE(3, 26, 0) && !travel)) return upper_blocks(random, shape, false);
    auto some = blocks;
    std::erase_if(some, [&random](const Block&) { return random.chance(0.7); });
    return some;
  }
};

constexpr const char* layouts[] = {"csr", "ellr", "sell:3", "sell:8:64", "bellpack", "dia", "hdia", "ccoo"};

struct Change {
  const char* name;
  void (*run)(Symmetric& s, Random random);
  bool (*fits)(const Shape& shape) = [](const Shape&) { return true; };
};

bool on_one(const Shape&) { return size() == 1; }

void there_and_back(Symmetric& s, const char* type) {
  PETSC_OK(MatConvert(s.A, type, MAT_INPLACE_MATRIX, s.A.in_place()));
  PETSC_OK(MatSetOption(s.A, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(s.A, s.type(), MAT_INPLACE_MATRIX, s.A.in_place()));
}

void zero_rows_and_columns(Symmetric& s, Random random) {
  std::vector<PetscInt> rows;
  for (int row = 0; row < s.shape.block_rows() * s.shape.bs; ++row)
    if (random.chance(0.1) && row % size() == rank()) rows.push_back(row);
  PETSC_OK(MatZeroRowsColumns(s.A, static_cast<PetscInt>(rows.size()), rows.data(), 2.0, nullptr, nullptr));
}

void set_up_again(Symmetric& s, Random random) {
  s.blocks = upper_blocks(random, s.shape);
  PETSC_OK(MatSeqSBAIJSetPreallocation(s.A, s.shape.bs, 8, nullptr));
  PETSC_OK(MatMPISBAIJSetPreallocation(s.A, s.shape.bs, 8, nullptr, 8, nullptr));
  set_blocks(s.A, s.shape, s.blocks, random.next(), INSERT_VALUES);
}

void write_through_the_array(Symmetric& s, Random) {
  PetscScalar* values;
  PETSC_OK(MatSeqSBAIJGetArray(s.A, &values));
  values[0] += 5.0;
  PETSC_OK(MatSeqSBAIJRestoreArray(s.A, &values));
}

void take_own_rows(Symmetric& s, Random) {
  PetscInt begin, end;
  Indices own;
  Matrix B;
  PETSC_OK(MatGetOwnershipRange(s.A, &begin, &end));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, end - begin, begin, 1, own.out()));
  PETSC_OK(MatCreateSubMatrix(s.A, own, own, MAT_INITIAL_MATRIX, B.out()));
  s.A = std::move(B);
}

void grow_overlaps(Symmetric& s, Random) {
  const auto here = s.shape.rows[static_cast<std::size_t>(rank())];
  Indices rows;
  PETSC_OK(ISCreateStride(PETSC_COMM_SELF, here * s.shape.bs, s.shape.first_row() * s.shape.bs, 1, rows.out()));
  PETSC_OK(MatIncreaseOverlap(s.A, 1, rows.in_place(), 1));
}

const Change changes[] = {
    {"scaled", [](Symmetric& s, Random) { PETSC_OK(MatScale(s.A, 1.5)); }},
    {"shifted", [](Symmetric& s, Random) { PETSC_OK(MatShift(s.A, 0.75)); }},
    {"entries zeroed", [](Symmetric& s, Random) { PETSC_OK(MatZeroEntries(s.A)); }},
    {"real part", [](Symmetric& s, Random) { PETSC_OK(MatRealPart(s.A)); }},
    {"conjugated", [](Symmetric& s, Random) { PETSC_OK(MatConjugate(s.A)); }},
    {"diagonally scaled",
     [](Symmetric& s, Random random) {
       const auto d = right_vector(s.A, random.next());
       PETSC_OK(MatDiagonalScale(s.A, d, d));
     }},
    {"new values",
     [](Symmetric& s, Random random) {
       const auto blocks = s.some_blocks(random, false);
       set_blocks(s.A, s.shape, blocks, random.next(), INSERT_VALUES);
     }},
    {"added values of any process",
     [](Symmetric& s, Random random) {
       const auto blocks = s.some_blocks(random, true);
       set_blocks(s.A, s.shape, blocks, random.next(), ADD_VALUES, true);
     }},
    {"values of both triangles, of which one is ignored",
     [](Symmetric& s, Random random) {
       PETSC_OK(MatSetOption(s.A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
       set_blocks(s.A, s.shape, random_blocks(random, s.shape, 0.2, false), random.next(), INSERT_VALUES);
     },
     on_one},
    {"rows and columns zeroed", zero_rows_and_columns,
     [](const Shape&) { return size() == 1 || PETSC_VERSION_GE(3, 19, 0); }},  // PETSc has none
    {"a matrix of the same pattern added",
     [](Symmetric& s, Random) {
       const auto B = s.copy();
       PETSC_OK(MatScale(B, 0.25));
       PETSC_OK(MatAXPY(s.A, 0.5, B, SAME_NONZERO_PATTERN));
     },
     [](const Shape& shape) { return size() == 1 || shape.bs == 1; }},  // PETSc adds but one scalar a block
    {"a matrix of another pattern added",
     [](Symmetric& s, Random random) {
       const auto blocks = upper_blocks(random, s.shape, false);
       PETSC_OK(MatAXPY(s.A, 0.5, s.made(blocks, random.next()), DIFFERENT_NONZERO_PATTERN));
     }},
    {"duplicated", [](Symmetric& s, Random) { s.A = s.copy(); }},
    {"copied into a duplicate",
     [](Symmetric& s, Random) {
       Matrix B;
       PETSC_OK(MatDuplicate(s.A, MAT_DO_NOT_COPY_VALUES, B.out()));
       PETSC_OK(MatCopy(s.A, B, SAME_NONZERO_PATTERN));
       s.A = std::move(B);
     }},
    {"to aij and back", [](Symmetric& s, Random) { there_and_back(s, MATAIJ); }},
    {"to baij and back", [](Symmetric& s, Random) { there_and_back(s, s.is_tested ? "baijcompound" : MATBAIJ); }},
    {"to its base type and back",
     [](Symmetric& s, Random) {
       PETSC_OK(MatConvert(s.A, MATSBAIJ, MAT_INPLACE_MATRIX, s.A.in_place()));
       PETSC_OK(MatConvert(s.A, s.type(), MAT_INPLACE_MATRIX, s.A.in_place()));
     }},
    {"transposed in place",
     [](Symmetric& s, Random) { PETSC_OK(MatTranspose(s.A, MAT_INPLACE_MATRIX, s.A.in_place())); }},
    {"transposed",
     [](Symmetric& s, Random) {
       Matrix B;
       PETSC_OK(MatTranspose(s.A, MAT_INITIAL_MATRIX, B.out()));
       s.A = std::move(B);
     }},
    {"another layout",
     [](Symmetric& s, Random random) {
       if (s.is_tested) PETSC_OK(MatCompoundSetLayout(s.A, one_of(layouts, random)));
     }},
    {"made anew",
     [](Symmetric& s, Random random) {
       s.blocks = upper_blocks(random, s.shape);
       s.A = s.made(s.blocks, random.next());
     }},
    {"set up again", set_up_again},
    {"written through the array", write_through_the_array, on_one},
    {"its own rows taken out", take_own_rows},
    {"overlaps grown", grow_overlaps},
};

/// `what` begins the message of a failure.
testing::AssertionResult same_vectors(Vec found, Vec wanted, const char* what) {
  auto result = are_close(found, wanted, 1e-11, NORM_INFINITY);
  return result ? result : testing::AssertionFailure() << what << ": " << result.message();
}

testing::AssertionResult same_norm(Mat tested, Mat plain, NormType which) {
  PetscReal found, wanted;
  PETSC_OK(MatNorm(tested, which, &found));
  PETSC_OK(MatNorm(plain, which, &wanted));
  if (std::abs(found - wanted) <= 1e-11 * wanted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "norm " << which << " is " << found << ", not " << wanted;
}

testing::AssertionResult same_one(Mat tested, Mat plain, Random& random) {
  const auto seed = random.next();
  // PETSc's sums of columns (3.18) read beyond their arrays on several processes.
  if (random.chance(0.2)) return same_norm(tested, plain, size() == 1 && seed % 2 == 0 ? NORM_1 : NORM_FROBENIUS);
  if (random.chance(0.2)) {
    const auto found = right_vector(plain, 1), wanted = right_vector(plain, 2);
    PETSC_OK(MatGetDiagonal(tested, found));
    PETSC_OK(MatGetDiagonal(plain, wanted));
    return same_vectors(found, wanted, "the diagonal");
  }
  const auto product = one_of(all_products(), random);
  return same_vectors(product_of(tested, product, seed), product_of(plain, product, seed), product.name);
}

testing::AssertionResult run_sequence(std::uint64_t seed, std::string& history) {
  Random random(seed);
  const int bs = 1 + random.below(6), rows = 1 + random.below(12);
  const auto shape = random.chance(0.5) ? spread(bs, rows, rows) : scatter(random, bs, rows, rows);
  const std::string layout = random.chance(0.5) ? "" : std::string("-mat_compound_layout ") + one_of(layouts, random);
  const auto blocks = upper_blocks(random, shape);
  const auto values = random.next();
  Symmetric both[] = {{true, shape, blocks}, {false, shape, blocks}};
  for (auto& s : both) s.A = s.made(blocks, values, layout);
  history += "blocks of " + std::to_string(bs) + ", " + std::to_string(rows) + " rows " + layout;
  for (int step = 0; step < length; ++step) {
    const Change& change = changes[index_below(std::size(changes), random)];
    if (!change.fits(shape)) continue;
    history += std::string("\n  ") + change.name;
    const Random choices(random.next());
    PetscReal norm;
    PETSC_OK(MatNorm(both[1].A, NORM_FROBENIUS, &norm));
    for (auto& s : both) {
      if (norm > 1e6 || (norm > 0 && norm < 1e-6)) PETSC_OK(MatScale(s.A, 1 / norm));
      allow_new_nonzeros(s.A);
      change.run(s, choices);
    }
    for (int k = 1 + random.below(3); k > 0; --k)
      if (auto result = same_one(both[0].A, both[1].A, random); !result) return result;
    if (const auto type = type_of(both[0].A); !type.ends_with("sbaijcompound"))
      return testing::AssertionFailure() << "the type is " << type;
  }
  return testing::AssertionSuccess();
}

TEST(RandomSequences, OfSymmetricMatricesAgreeWithSbaij) {
  run_sequences(whole_tier() ? 300 : 120 / static_cast<std::uint64_t>(size()), run_sequence);
}

}  // namespace
