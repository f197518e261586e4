// Rows in another order, and what their lengths and bandwidths are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "candidate.hpp"
#include "scalar_formats.hpp"

namespace compound::bench {
namespace {

BlockRows three_rows() {
  BlockRows rows;
  rows.all_rows = rows.all_columns = 3;
  rows.start = {0, 2, 3, 5};
  rows.column = {0, 2, 1, 0, 2};
  rows.values = {1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5};  // blocks of 2x1
  return rows;
}

TEST(Renumbered, PermutesRowsColumnsAndBlocks) {
  const std::array<PetscInt, 3> order{2, 0, 1};

  const BlockRows to = renumbered(three_rows(), order, {2, 1});

  EXPECT_EQ(to.start, (std::vector<PetscInt>{0, 2, 4, 5}));
  EXPECT_EQ(to.column, (std::vector<PetscInt>{0, 1, 0, 1, 2}));
  EXPECT_EQ(to.values, (std::vector<PetscScalar>{5.0, 5.5, 4.0, 4.5, 2.0, 2.5, 1.0, 1.5, 3.0, 3.5}));
}

TEST(CoordinatePattern, HasTheRowOfEachEntry) {
  const CoordinatePattern p = coordinate_pattern({{0, 2, 2, 5}, {4, 5, 0, 1, 2}});

  EXPECT_EQ(p.row, (std::vector<std::int32_t>{0, 0, 2, 2, 2}));
  EXPECT_EQ(p.column, (std::vector<std::int32_t>{4, 5, 0, 1, 2}));
}

// Collective calls on one process; the program's tests have several ranks.
class RowStatistics : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    int begun;
    MPI_Initialized(&begun);
    if (!begun) MPI_Init(nullptr, nullptr);
    mine = !begun;
  }
  static void TearDownTestSuite() {
    if (mine) MPI_Finalize();
  }
  static inline bool mine = false;
};

Record five(int least, int lower, int median, int upper, int most) {
  return {{"least", least}, {"lower", lower}, {"median", median}, {"upper", upper}, {"most", most}};
}

TEST_F(RowStatistics, QuartilesAreNumbersThatAreThere) {
  EXPECT_EQ(quartiles(MPI_COMM_SELF, {}), five(0, 0, 0, 0, 0));
  EXPECT_EQ(quartiles(MPI_COMM_SELF, {7}), five(7, 7, 7, 7, 7));
  EXPECT_EQ(quartiles(MPI_COMM_SELF, {40, 10, 30, 20}), five(10, 10, 20, 30, 40));
  EXPECT_EQ(quartiles(MPI_COMM_SELF, {5, 1, 2, 4, 3}), five(1, 2, 3, 4, 5));
}

TEST_F(RowStatistics, LengthsAndBandwidthsTakeBothPartsOfARow) {
  const std::vector<PetscInt> start{0, 2, 2, 3}, column{0, 2, 1}, ghost_start{0, 0, 0, 1}, ghost_column{0}, ghosts{90};
  BlockArrays diagonal, off;
  diagonal.rows = off.rows = 3;
  diagonal.start = start.data();
  diagonal.column = column.data();
  diagonal.first_column = 10;
  off.start = ghost_start.data();
  off.column = ghost_column.data();
  off.global_column = ghosts.data();

  const Record q = row_quartiles(MPI_COMM_SELF, {diagonal, off});

  EXPECT_EQ(q.at("row_lengths"), five(0, 0, 2, 2, 2));
  EXPECT_EQ(q.at("row_bandwidths"), five(0, 0, 2, 79, 79));
}

}  // namespace
}  // namespace compound::bench
