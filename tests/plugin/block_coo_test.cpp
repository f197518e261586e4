// Coordinates of blocks, and coordinates of scalars that form blocks: both assemble what PETSc's aij assembles from the
// scalars.
#include <petsccompound.h>

#include "coo_entries.hpp"
#include "info.hpp"

namespace {

using namespace petsc_test;
using compound::test::Variable;

/// Calls of this plugin's: the tests run with PETSc's own types, too.
struct BlockCoo : Coo {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "PETSc's types take no coordinates of blocks";
  }
  int bs() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, BlockCoo, testing::Values(1, 2, 3, 5));

Matrix made_of_blocks(const Shape& shape, const Entries& blocks) {
  auto A = empty_matrix(tested_type(), "", shape);
  PETSC_OK(MatCompoundSetPreallocationCOO(A, blocks.size(), blocks.row.data(), blocks.column.data()));
  return A;
}

void expect_what_scalars_assemble(int bs) {
  Random random(5);
  for (const Shape& shape : {spread(bs, 11, 11), spread(bs, 7, 12), scatter(random, bs, 9, 9)}) {
    const auto blocks = random_blocks(1, shape, 150);
    const auto e = scalars_of(blocks, bs);
    const auto A = made_of_blocks(shape, blocks), aij = made_of(MATAIJ, shape, e);
    std::uint64_t seed = 2;
    for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES, ADD_VALUES, INSERT_VALUES}) {
      const auto v = whole_values(++seed, e);

      PETSC_OK(MatCompoundSetValuesCOO(A, v.data(), mode));
      set(aij, v, mode);

      ASSERT_TRUE(same_matrix(A, aij, seed));
      ASSERT_TRUE(counts_as_ours(A));
    }
  }
}

TEST_P(BlockCoo, AssemblesAsItsScalarsDo) { expect_what_scalars_assemble(bs()); }

TEST_P(BlockCoo, AssemblesAsItsScalarsDoInMemoryOfItsOwn) {
  const Variable set(values_apart, "1");
  expect_what_scalars_assemble(bs());
}

TEST_P(BlockCoo, NoValuesAreZerosAndNoBlocksAreNothing) {
  const auto blocks = random_blocks(7, square(), 60);
  const auto A = made_of_blocks(square(), blocks), nothing = made_of_blocks(square(), {});
  PETSC_OK(MatCompoundSetValuesCOO(A, whole_values(8, scalars_of(blocks, bs())).data(), INSERT_VALUES));

  PETSC_OK(MatCompoundSetValuesCOO(A, nullptr, INSERT_VALUES));
  PETSC_OK(MatCompoundSetValuesCOO(nothing, nullptr, INSERT_VALUES));

  for (Mat m : {Mat(A), Mat(nothing)}) {
    PetscReal norm;
    PETSC_OK(MatNorm(m, NORM_FROBENIUS, &norm));
    EXPECT_EQ(norm, 0);
  }
}

TEST_P(BlockCoo, DuplicatesTakeValuesToo) {
  const auto blocks = random_blocks(9, square(), 100);
  const auto e = scalars_of(blocks, bs());
  const auto v = whole_values(10, e);
  const auto A = made_of_blocks(square(), blocks), aij = made_of(MATAIJ, square(), e);
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy.out()));

  PETSC_OK(MatCompoundSetValuesCOO(copy, v.data(), INSERT_VALUES));
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(copy, aij, 11));
}

std::string kept_as(int bs) { return "are kept as blocks of " + std::to_string(bs) + " x " + std::to_string(bs); }

void expect_that_blocks_are_found(const Shape& shape) {
  for (const Order& order : orders) {
    SCOPED_TRACE(order.name);
    auto e = elements(12, shape, order);
    e.row.insert(e.row.end(), {1, -1});  // two that are ignored
    e.column.insert(e.column.end(), {-1, 1});
    const auto v = whole_values(13, e);
    const auto aij = made_of(MATAIJ, shape, e);
    Matrix A = empty_matrix(tested_type(), "", shape);

    const std::string info = info_during("block_coo", [&] { PETSC_OK(preallocate(A, e)); });
    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);

    EXPECT_NE(info.find(kept_as(shape.bs)), std::string::npos) << info;
    EXPECT_TRUE(same_matrix(A, aij, 14));
  }
}

TEST_P(BlockCoo, FindsTheBlocksOfElementMatrices) { expect_that_blocks_are_found(square()); }

TEST_P(BlockCoo, FindsTheBlocksOfElementMatricesInMemoryOfItsOwn) {
  const Variable set(values_apart, "1");
  expect_that_blocks_are_found(square());
}

/// One process has scalars that form no blocks: all keep scalars.
TEST_P(BlockCoo, KeepsScalarsThatFormNoBlocks) {
  if (bs() == 1) GTEST_SKIP() << "blocks of one scalar";
  auto e = elements(15, square(), orders[0]);
  if (rank() == 0) {
    e.row.push_back(0);  // one scalar more
    e.column.push_back(0);
  }
  const auto v = whole_values(16, e);
  const auto aij = made_of(MATAIJ, square(), e);
  Matrix A = empty_matrix(tested_type(), "", square());

  const std::string info = info_during("block_coo", [&] { PETSC_OK(preallocate(A, e)); });
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_NE(info.find(kept_as(1)), std::string::npos) << info;
  EXPECT_TRUE(same_matrix(A, aij, 17));
}

/// As many scalars as a block has, in the order of one, but in rows and columns of two.
TEST_P(BlockCoo, KeepsScalarsOfTwoBlocks) {
  if (bs() == 1) GTEST_SKIP() << "blocks of one scalar";
  Entries e;
  for (int k = 0; k < bs() * bs() && rank() == 0; ++k) {
    e.row.push_back(1 + k / bs());
    e.column.push_back(1 + k % bs());
  }
  const auto v = whole_values(18, e);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);

  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_scalars(A, aij));
}

/// Lists with a few scalars changed at random: blocks that lack one, have one twice, or have it elsewhere.
TEST_P(BlockCoo, AssemblesWhateverItIsGiven) {
  for (std::uint64_t seed = 20; seed < 60; ++seed) {
    Random random(seed + 1000 * static_cast<std::uint64_t>(rank()));
    auto e = elements(seed, square(), orders[seed % std::size(orders)]);
    for (int changes = random.below(4); changes > 0; --changes) {
      const auto at = [&] { return static_cast<std::size_t>(random.below(static_cast<int>(e.row.size()))); };
      switch (random.below(4)) {
        case 0:
          e.row[at()] = -1;
          break;
        case 1:
          e.column[at()] = random.below(11 * bs());
          break;
        case 2: {
          const std::size_t from = at(), to = at();
          e.row[to] = e.row[from];
          e.column[to] = e.column[from];
          break;
        }
        default: {
          const std::size_t from = at(), to = at();
          std::swap(e.row[from], e.row[to]);
          std::swap(e.column[from], e.column[to]);
        }
      }
    }
    const auto v = whole_values(seed + 1, e);
    const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);

    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);

    ASSERT_TRUE(same_scalars(A, aij)) << "seed " << seed;
  }
}

TEST_P(BlockCoo, GivesTheSameBitsEveryTime) {
  const auto blocks = random_blocks(61, square(), 300);
  std::vector<PetscScalar> v(blocks.row.size() * static_cast<std::size_t>(bs() * bs()));
  Random random(62);
  for (auto& s : v) s = random.real();
  const auto A = made_of_blocks(square(), blocks), B = made_of_blocks(square(), blocks);
  PetscBool same;
  PETSC_OK(MatCompoundSetValuesCOO(A, v.data(), INSERT_VALUES));

  PETSC_OK(MatCompoundSetValuesCOO(B, v.data(), INSERT_VALUES));

  PETSC_OK(MatEqual(A, B, &same));
  EXPECT_TRUE(same);
}

struct BlockMistakes : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "messages of our own";
  }
  static caught found_in(const Entries& blocks, const char* type = nullptr) {
    Matrix A = empty_matrix(type ? type : tested_type(), "", spread(2, 4, 4));
    return catch_error(
        [&] { return MatCompoundSetPreallocationCOO(A, blocks.size(), blocks.row.data(), blocks.column.data()); });
  }
  static void expect(const caught& found, PetscErrorCode code, const std::string& text) {
    EXPECT_EQ(found.code, code);
    EXPECT_NE(found.message.find(text), std::string::npos) << found.message;
  }
};

TEST_F(BlockMistakes, BeyondTheMatrixIsToldOnAllProcesses) {
  const int last = size() - 1;
  expect(found_in(rank() == last ? Entries{{1, 3}, {2, 4}} : Entries{}), PETSC_ERR_ARG_OUTOFRANGE,
         "block 1 on process " + std::to_string(last) +
             " is at block row 3, block column 4; the matrix has 4 block rows and 4 block columns");
}

TEST_F(BlockMistakes, OtherTypesTakeNoBlocks) {
  expect(found_in({}, MATBAIJ), PETSC_ERR_ARG_WRONG, "which takes no coordinates of blocks");
}

TEST_F(BlockMistakes, ValuesNeedCoordinatesOfBlocks) {
  Matrix A = empty_matrix(tested_type(), "", spread(2, 4, 4));
  PETSC_OK(MatSetUp(A));
  expect(catch_error([&] { return MatCompoundSetValuesCOO(A, nullptr, INSERT_VALUES); }), PETSC_ERR_ARG_WRONGSTATE,
         "call MatCompoundSetPreallocationCOO() first");

  const auto B = made_of(tested_type(), spread(2, 4, 4), {});
  expect(catch_error([&] { return MatCompoundSetValuesCOO(B, nullptr, INSERT_VALUES); }), PETSC_ERR_ARG_WRONGSTATE,
         "coordinates of scalars");
}

TEST_F(BlockMistakes, BlocksAreSquare) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSizes(A, 3, 2));
  PETSC_OK(MatSetType(A, tested_type().c_str()));

  expect(catch_error([&] { return MatCompoundSetPreallocationCOO(A, 0, nullptr, nullptr); }), PETSC_ERR_SUP,
         "blocks of 3 x 2");
}

TEST_F(BlockMistakes, ANumberOfBlocksHasCoordinates) {
  Matrix A = empty_matrix(tested_type(), "", spread(2, 4, 4));
  const PetscInt i = 0;
  expect(catch_error([&] { return MatCompoundSetPreallocationCOO(A, -1, &i, &i); }), PETSC_ERR_ARG_OUTOFRANGE,
         "-1 blocks");
  expect(catch_error([&] { return MatCompoundSetPreallocationCOO(A, 2, &i, nullptr); }), PETSC_ERR_ARG_NULL,
         "for 2 blocks");
}

}  // namespace
