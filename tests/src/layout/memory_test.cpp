// Bytes of layouts and packed matrices, against the counts that the papers print.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "storage/packed.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// MSF20 Table 9, column CSR/BSR: double words, 32-bit integers. `printed` in `unit` bytes, to one decimal.
struct PaperMatrix {
  const char* name;
  idx rows;
  count32 entries;
  const char* entry;
  BlockShape block;  ///< as a real matrix
  int words;
  double printed;
  double unit;
};

void PrintTo(const PaperMatrix& m, std::ostream* out) { *out << m.name; }

constexpr double KiB = 1024, MiB = 1024 * 1024;

const PaperMatrix paper_matrices[] = {
    {"mhd1280b", 1280, 22'778, "complex", {2, 2}, 2, 449.9, KiB},
    {"RFdevice", 74'104, 365'580, "complex", {2, 2}, 2, 7.3, MiB},
    {"fem_filter", 74'062, 1'731'206, "complex", {2, 2}, 2, 33.3, MiB},
    {"mono_500Hz", 169'410, 5'033'796, "complex", {2, 2}, 2, 96.7, MiB},
    {"bunny", 34'834, 243'410, "quaternion", {4, 4}, 4, 8.5, MiB},
    {"armadillo", 172'974, 1'210'806, "quaternion", {4, 4}, 4, 42.2, MiB},
    {"dragon", 435'545, 3'049'463, "quaternion", {4, 4}, 4, 106.4, MiB},
    {"buddha", 543'524, 3'805'882, "quaternion", {4, 4}, 4, 132.7, MiB},
    {"fem_armadillo", 1'016, 11'180, "dense", {3, 3}, 9, 833.7, KiB},
    {"fem_bunny2M", 27'112, 284'846, "dense", {3, 3}, 9, 20.7, MiB},
    {"nut_37k", 9'095, 112'685, "dense", {3, 3}, 9, 8.2, MiB},
    {"dragon_100K", 26'436, 315'006, "dense", {3, 3}, 9, 22.9, MiB},
    {"NX_MotorH67k", 66'840, 899'478, "dense", {3, 3}, 9, 65.4, MiB},
};

double to_one_decimal(double v) { return std::round(v * 10) / 10; }

class PaperBytes : public testing::TestWithParam<PaperMatrix> {
 protected:
  const PaperMatrix& m = GetParam();
  const Pattern pattern = even_pattern(m.rows, m.entries);
};

INSTANTIATE_TEST_SUITE_P(MSF20, PaperBytes, testing::ValuesIn(paper_matrices),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(PaperBytes, OfCompressedRowsAreThePapers) {
  const Layout l = encode(pattern.view(), parse_layout("csr"));
  const std::size_t bytes = l.bytes() + l.slots * m.words * 8;

  EXPECT_EQ(bytes, 4ull * (m.rows + 1) + m.entries * (4ull + 8ull * m.words));
  EXPECT_DOUBLE_EQ(to_one_decimal(bytes / m.unit), m.printed);
}

TEST_P(PaperBytes, OfAPackedMatrixAreThePapers) {
  const Problem problem{m.block, {Field::real, Precision::double_}};
  const Plan plan = parse_plan("csr words=1:row entry=" + std::string(m.entry), {});

  const PackedMatrix A(pattern.view(), problem, plan, backend("host"));

  EXPECT_EQ(A.bytes().words, m.entries * 8ull * m.words);
  EXPECT_DOUBLE_EQ(to_one_decimal(A.bytes().total() / m.unit), m.printed);
}

TEST_P(PaperBytes, AreCountedWithoutPacking) {
  const Problem problem{m.block, {Field::real, Precision::double_}};
  const Plan plan = parse_plan("csr words=1:row entry=" + std::string(m.entry), {});

  const Footprint bytes = bytes_of(pattern.view(), problem, plan, backend("host"));

  EXPECT_EQ(bytes.read.total(), 4ull * (m.rows + 1) + m.entries * (4ull + 8ull * m.words));
  EXPECT_DOUBLE_EQ(to_one_decimal(bytes.read.total() / m.unit), m.printed);
}

TEST(LayoutBytes, CountEachPartOfSlices) {
  // Slices (2, 0), (3): 5 units of 2 slots; see Encode.StoresTheDrawnExampleInSlicesOfTwo.
  const Layout l = encode(pattern_of(4, {{0, 2}, {}, {3, 1, 0}}).view(), parse_layout("sell:2"));

  EXPECT_EQ(l.bytes("start"), 3u * 4);
  EXPECT_EQ(l.bytes("length"), 3u * 4);
  EXPECT_EQ(l.bytes("column"), 10u * 4);
  EXPECT_EQ(l.bytes("presence"), 0u);
  EXPECT_EQ(l.bytes("row_of"), 0u);
  EXPECT_EQ(l.bytes("first_entry"), 3u * 4);  // where to pack from
  EXPECT_EQ(l.bytes(), 3u * 4 + 3u * 4 + 10u * 4 + 3u * 4);
}

TEST(LayoutBytes, CountPresenceBitsInsteadOfLengths) {
  LayoutSpec spec = parse_layout("sell:32");
  spec.occupancy = Occupancy::presence;

  const Layout l = encode(even_pattern(100, 300).view(), spec);

  EXPECT_EQ(l.bytes("length"), 0u);
  EXPECT_EQ(l.bytes("presence"), 4u * 3 * 4);
}

TEST(LayoutBytes, CountTheRowListAndItsStarts) {
  LayoutSpec spec = parse_layout("csr");
  spec.row_list = true;

  const Layout l = encode(pattern_of(9, {{}, {}, {5}, {}, {1, 2}, {}}).view(), spec);

  EXPECT_EQ(l.bytes("start"), 3u * 4);
  EXPECT_EQ(l.bytes("row_of"), 2u * 4);
}

TEST(LayoutBytes, AreThoseOfThePackedMatrix) {
  const Pattern p = random_pattern(100, 100, 7, 5);
  const Problem problem{{3, 3}, {Field::real, Precision::double_}};
  for (const auto line : {"csr rowlist words=1:row", "ellr words=1", "sell:8:64 words=8", "sell:32 presence words=32",
                          "hdia:32 words=32", "ccoo:32 words=1:row"}) {
    const Plan plan = parse_plan(line, {});
    const Layout l = encode(p.view(), plan.layout);

    const PackedMatrix A(p.view(), problem, plan, backend("host"));

    EXPECT_EQ(A.bytes().integers, l.bytes()) << line;
    EXPECT_EQ(A.bytes().words, l.slots * 9 * 8) << line;
  }
}

TEST(PackedBytes, CountWordGroupsWhole) {
  const Problem problem{{1, 1}, {Field::real, Precision::double_}};

  const PackedMatrix A(pattern_of(9, {{1, 2, 3}}).view(), problem, parse_plan("csr words=32", {}), backend("host"));

  EXPECT_EQ(A.bytes().words, 32u * 8);
}

TEST(PackedBytes, CountPaddingToWholeAccesses) {
  const auto bytes = [](const char* line, BlockShape block) {
    const Problem problem{block, {Field::real, Precision::double_}};
    return PackedMatrix(pattern_of(9, {{1, 2, 3}}).view(), problem, parse_plan(line, {}), backend("host"))
        .bytes()
        .words;
  };

  EXPECT_EQ(bytes("csr words=1:padded values=float", {3, 3}), 3u * 48);  // three times four numbers
  EXPECT_EQ(bytes("csr words=1:padded", {3, 3}), 3u * 80);
  EXPECT_EQ(bytes("csr words=1:padded", {1, 1}), 3u * 16);
}

TEST(PackedBytes, AreHalvedByFloatWords) {
  const Pattern p = even_pattern(10, 40);
  const Problem problem{{2, 2}, {Field::complex, Precision::double_}};

  const PackedMatrix narrow(p.view(), problem, parse_plan("csr values=float", {}), backend("host"));
  const PackedMatrix wide(p.view(), problem, parse_plan("csr words=1:row", {}), backend("host"));

  EXPECT_EQ(narrow.bytes().words, 40u * 4 * 2 * 4);
  EXPECT_EQ(wide.bytes().words, 40u * 4 * 2 * 8);
}

TEST(PackedBytes, OfQuaternionsInComplexMatricesAreFourRealWords) {
  const Problem problem{{2, 2}, {Field::complex, Precision::double_}};

  const PackedMatrix A(even_pattern(10, 40).view(), problem, parse_plan("csr entry=quaternion", {}), backend("host"));

  EXPECT_EQ(A.bytes().words, 40u * 4 * 8);
}

}  // namespace
}  // namespace compound::test
