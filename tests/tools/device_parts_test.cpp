// What runs on a device do on the host: forms for cuSPARSE, names, columns of the table, estimates of memory.
#include <gtest/gtest.h>

#include <sstream>

#include "cusparse_kinds.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "report.hpp"
#include "scalar_formats.hpp"

namespace compound::bench {
namespace {

/// [[1 3 . .] [2 4 . .] [. . 5 7] [. . 6 8]] beside a full second row: blocks (0,0), (1,0), (1,1), by columns.
struct Small {
  PetscInt start[3] = {0, 1, 3}, column[3] = {0, 0, 1};
  PetscScalar values[12] = {1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.};
  BlockArrays arrays() {
    BlockArrays b;
    b.rows = b.columns = 2;
    b.start = start;
    b.column = column;
    b.values = values;
    return b;
  }
};

TEST(ScalarFormats, RowsOfBlocksBecomeRowsOfScalars) {
  Small m;
  const RowPattern rows = scalar_pattern(m.arrays(), {2, 2});

  EXPECT_EQ(rows.start, (std::vector<std::int32_t>{0, 2, 4, 8, 12}));
  EXPECT_EQ(rows.column, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(scalar_values(m.arrays(), m.values, {2, 2}),
            (std::vector<PetscScalar>{1., 3., 2., 4., 5., 7., 9., 11., 6., 8., 10., 12.}));
}

TEST(ScalarFormats, BlocksAreTransposed) {
  Small m;
  EXPECT_EQ(blocks_by_row(m.values, 1, {2, 2}), (std::vector<PetscScalar>{1., 3., 2., 4.}));
}

TEST(ScalarFormats, BlocksMayBeLongerThanWide) {
  Small m;
  m.start[2] = 2;
  const RowPattern rows = scalar_pattern(m.arrays(), {3, 2});

  EXPECT_EQ(rows.start, (std::vector<std::int32_t>{0, 2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(rows.column, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(scalar_values(m.arrays(), m.values, {3, 2}),
            (std::vector<PetscScalar>{1., 4., 2., 5., 3., 6., 7., 10., 8., 11., 9., 12.}));
  EXPECT_EQ(blocks_by_row(m.values, 1, {3, 2}), (std::vector<PetscScalar>{1., 4., 2., 5., 3., 6.}));
}

TEST(ScalarFormats, SlicesArePaddedToTheirLongestRowAndToTheirHeight) {
  Small m;
  const RowPattern rows = scalar_pattern(m.arrays(), {2, 2});
  const SlicePattern slices = slice_pattern(rows, 3);
  const auto values = slice_values(rows, slices, scalar_values(m.arrays(), m.values, {2, 2}));

  EXPECT_EQ(slices.start, (std::vector<std::int32_t>{0, 12, 24}));
  EXPECT_EQ(std::vector<std::int32_t>(slices.column.begin(), slices.column.begin() + 12),
            (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, -1, -1, 2, -1, -1, 3}));
  EXPECT_EQ(values[5], PetscScalar(7.));
  EXPECT_EQ(values[6], PetscScalar(0.));
}

TEST(Cusparse, ScalarsHaveNoBlockFormsAndLargeMatricesNoRows) {
  const CusparseKind &blocks = *find_cusparse("bsr-row"), &rows = *find_cusparse("csr");

  EXPECT_NE(why_not_cusparse(blocks, {1, 1}, 10)->find("csr and sell"), std::string::npos);
  EXPECT_FALSE(why_not_cusparse(blocks, {3, 3}, 300000000));
  EXPECT_FALSE(why_not_cusparse(rows, {1, 1}, 10));
  EXPECT_TRUE(why_not_cusparse(rows, {3, 3}, 300000000));
  EXPECT_TRUE(why_not_cusparse(blocks, {3, 2}, 10));
  EXPECT_FALSE(why_not_cusparse(rows, {3, 2}, 10));
  EXPECT_EQ(find_cusparse("ell"), nullptr);
}

TEST(Cusparse, ComplexNumbersAreMadeOfRealBlocks) {
  const CusparseKind& kind = *find_cusparse("complex-csr");

  EXPECT_EQ(why_not_cusparse(kind, {2, 2}, 10).has_value(), sizeof(PetscScalar) == 16);
  EXPECT_TRUE(why_not_cusparse(kind, {3, 3}, 10));
}

Record candidate(const char* name, const char* kind, double seconds) {
  Record c = record_of_samples({seconds}, 1);
  c.update({{"name", name}, {"kind", kind}, {"compulsory_bytes", 100}});
  return c;
}

Record device_case() {
  const Record quartiles = {{"least", 1}, {"lower", 1}, {"median", 1}, {"upper", 1}, {"most", 1}};
  Record r = {{"row_lengths", quartiles}, {"row_bandwidths", quartiles}, {"ordering", "natural"}};
  r["candidates"] = {candidate("aijcusparse", "type", 1), candidate("cusparse csr", "cusparse", 6),
                     candidate("cusparse sell", "cusparse", 4), candidate("core auto", "core", 2)};
  for (const auto& [name, bytes] : {std::pair{"read", 400}, std::pair{"copy", 200}}) {
    r[name] = record_of_samples({1}, 1);
    r[name]["bytes"] = bytes;
  }
  return r;
}

std::string printed_case(Record r) {
  relate(r, 0);
  std::ostringstream out;
  print_case(out, r, {});
  return out.str();
}

TEST(DeviceTable, RatiosAreToTheBestOfCusparseAlone) {
  Record r = device_case();
  relate(r, 0);
  const Record& ours = r["candidates"][3];

  EXPECT_EQ(best_of_cusparse(r)->at("name"), "cusparse sell");
  EXPECT_EQ(best_of_ours(r)->at("name"), "core auto");
  EXPECT_EQ(r["best_of_cusparse"], "cusparse sell");
  EXPECT_EQ(ours.at("times_best_cusparse"), 2);
  EXPECT_EQ(ours.at("times_baseline"), 0.5);
  EXPECT_EQ(ours.at("share_of_copy"), 0.25);
  EXPECT_EQ(ours.at("share_of_read"), 0.125);
}

TEST(DeviceTable, ShowsWhatWasAskedForAndWhatWasLeftOut) {
  Record r = device_case();
  r["left_out"].push_back({{"name", "cusparse bsr-row"}, {"why", "refused"}});
  r["candidates"][3]["graph_median_s"] = 0.5;
  const std::string out = printed_case(r);

  for (const char* part : {"graph us", "% copy", "x cusparse", "left out: cusparse bsr-row: refused",
                           "best of cuSPARSE: cusparse sell; of this plugin: core auto, 2.00 times as fast"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " in\n" << out;
  EXPECT_EQ(out.find("cold us"), std::string::npos);
}

TEST(Table, ShowsWhatFewerWordsAndTheirFindingAreWorth) {
  Record r = device_case();
  r["candidates"][0]["plan"] = "entry=dense csr";
  r["candidates"][3]["plan"] = "entry=quaternion csr";
  r["entry_check"] = {{"entry", "quaternion"}, {"median_s", 0.5}};
  const std::string out = printed_case(r);

  EXPECT_EQ(times(*best_of_dense(r), r["candidates"][3]), 0.5);
  for (const char* part : {"x dense",
                           "blocks are of format quaternion: found in 500000.0 us, 0.50 products of "
                           "aijcusparse, 0.25 products of core auto"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " in\n" << out;
}

TEST(Table, NamesACandidateOnceAndNoTimeOfZeroProducts) {
  Record r = device_case();
  r["candidates"][3]["plan"] = "entry=dense csr";
  r["entry_check"] = {{"entry", "dense"}, {"median_s", 1e-6}};
  const std::string out = printed_case(r);

  EXPECT_NE(out.find("found in 1.0 us, less than 0.01 products of core auto\n"), std::string::npos) << out;
}

TEST(Table, HasNoSuchColumnForWholeBlocksAlone) {
  Record r = device_case();
  r["candidates"][3]["plan"] = "entry=dense csr";

  EXPECT_EQ(printed_case(r).find("x dense"), std::string::npos);
}

TEST(DeviceMemory, FormsAreSharedAndTooLargeCasesRefused) {
  const CaseSize size{1e6, 27e6, {3, 3}};
  Options one, three;
  one.cusparse = {"csr"};
  three.cusparse = {"csr", "csr-alg1", "csr-alg2"};
  const double values = 27e6 * 9 * sizeof(PetscScalar);

  EXPECT_GE(estimated_device_bytes(size, one, 1), values);
  EXPECT_LE(estimated_device_bytes(size, three, 1), estimated_device_bytes(size, one, 1) + 0.2 * values);
  EXPECT_NO_THROW(check_device_memory(size, one, 1, 140e9));
  EXPECT_THROW(check_device_memory(size, one, 1, 2e9), usage_error);
}

}  // namespace
}  // namespace compound::bench
