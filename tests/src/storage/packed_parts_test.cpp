// Plans of several parts: which entries go where, where their values come from, and what parts without rows cost.
// Products, diagonals and transposes of them are drawn by the property runner.
#include <gtest/gtest.h>

#include "device/pack_values.hpp"
#include "plan/partition.hpp"
#include "support/device_forms.hpp"
#include "support/errors.hpp"
#include "support/problems.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// As a device packs parts: chunk by chunk of the matrix' blocks, row by row or slot by slot.
TEST(PackedParts, LetDevicesPackAPartFromChunksOfTheWhole) {
  using Words = matrix_words<1, WordOrder::column>;
  const dense<double, 2, 2> entry;
  Random random;
  const Pattern p = random_pattern(90, 50, 9, test_seed());
  SCOPED_TRACE(seed_text());
  const slot_t entries = p.view().entries(), in_chunk = 37;
  const auto blocks = random_blocks<double>("dense", {2, 2}, static_cast<count32>(entries), random);
  for (const char* line :
       {"sell:8:16 longest=4 + csr", "hdia longest=6 + sell:32 presence", "csr longest=2 + ellr",
        "ccoo:32 longest=3 + ccoo:64", "ellr width=3 + ccoo:32", "sell:8:16 width=2 + hdia width=2 + csr"})
    for (const PatternPart& part : parts_of(p.view(), parse_plan(line, {}))) {
      const Layout l = encode(part.rows.view(), part.plan.layout);
      const AnyLayout layout(part.plan.layout, l.args());
      const entry_runs runs = part.entries.args();
      std::vector<double> values(l.slots * 4, 0), expected(values);
      const bool by_entries = family_of(part.plan.layout).slots_are_entries;
      for (slot_t from = 0; from < entries; from += in_chunk) {
        const slot_t to = std::min(entries, from + in_chunk);
        const packing<dense<double, 2, 2>, double, Words> chunk{
            entry, {}, blocks.data() + from * 4, values.data(), from};
        if (by_entries)
          for (slot_t slot = part.entries.first_from(from); slot < part.entries.first_from(to); ++slot)
            pack_slot(chunk, slot, slot + runs.shift(slot));
        else
          for (idx position = 0; position < l.positions; ++position)
            pack_row_part(chunk, layout, position, from, to, runs.shift(layout.first_entry[position]));
      }
      Plan plan = part.plan;
      plan.layout.word_group = 1;
      const auto code = backend("host").code_for(plan, {{2, 2}, {}});
      backend("host").pack({plan,
                            {{2, 2}, {}},
                            l.args(),
                            blocks.data(),
                            expected.data(),
                            Memory::host,
                            code.get(),
                            p.view().entries(),
                            &part.entries,
                            runs});
      EXPECT_EQ(values, expected) << line << ", part " << part.number;
    }
}

/// Counts products.
class CountingBackend final : public RecordingBackend {
 public:
  mutable int products = 0;
  mutable int codes = 0;
  void multiply(const ProductTask& t) override { ++products, RecordingBackend::multiply(t); }
  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const override {
    return ++codes, RecordingBackend::code_for(plan, problem);
  }
};

TEST(PackedParts, WithoutRowsCostNoLaunchAndNoCode) {
  struct Case {
    std::vector<idx> lengths;
    int parts;
  };
  for (const Case& c : {Case{{1, 2, 3}, 1}, {{9, 8}, 1}, {{1, 9}, 2}, {{1, 5, 9}, 3}, {{0, 0}, 1}, {{5, 9}, 2}}) {
    CountingBackend device;
    const Pattern pattern = pattern_of_lengths(c.lengths);
    Random random;
    const Operands<double> operands(pattern, "dense", {3, 3}, random);
    const PackedMatrix A = packed(operands, parse_plan("sell:2 longest=3 + csr longest=6 + ccoo", {}), device);
    EXPECT_EQ(device.codes, c.parts);
    EXPECT_EQ(device.packs, c.parts);
    for (const Form form : forms) {
      device.products = 0;
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, form),
                         reference_product(operands, Precision::double_, Op::none, form)));
      EXPECT_EQ(device.products, c.parts);
    }
  }
}

TEST(PackedParts, SpareThePaddingThatLongRowsCause) {
  std::vector<idx> lengths(1000, 4);
  lengths[10] = lengths[500] = 4000;
  const Pattern pattern = pattern_of_lengths(lengths);
  const auto slots = [&](std::string_view line) {
    return PackedMatrix(pattern.view(), real_1x1, parse_plan(line, {}), backend("host")).slots();
  };
  EXPECT_EQ(slots("ellr"), 1024 * 4000);
  EXPECT_EQ(slots("ellr longest=4 + ccoo"), 1024 * 4 + 2 * 4000);
  EXPECT_EQ(slots("sell:32 longest=4 + sell:2 longest=64 + csr"), 1024 * 4 + 2 * 4000 - 24 * 4 + 24 * 4);
  EXPECT_EQ(slots("ellr width=4 + ccoo"), 1024 * 4 + 2 * 3996);
  EXPECT_EQ(slots("ellr width=auto + ccoo"), 3 * 4000 - 4000 + 998 * 4) << "all in coordinates";
}

/// The hybrid format of Bell and Garland, array by array: slots column by column, then rows and columns of the rest.
TEST(PackedParts, HaveTheArraysOfTheHybridFormat) {
  const Pattern p = pattern_of(9, {{1, 2, 3, 4, 5}, {}, {6}, {7, 8}});
  std::vector<double> values(8);
  std::iota(values.begin(), values.end(), 10.0);
  RecordingBackend device;
  PackedMatrix A(p.view(), real_1x1, parse_plan("ellr words=1 width=2 + ccoo:32 words=1", {}), device);
  A.update_values(values.data());

  EXPECT_EQ(A.slots(), 32 * 2 + 3);
  const auto parts = parts_of(p.view(), A.plan());
  const Layout slices = encode(parts[0].rows.view(), parts[0].plan.layout);
  const layout_args args = slices.args();
  const auto* const columns = args.get<idx>(slices_arrays::columns);
  const std::vector<std::pair<slot_t, idx>> slots_and_columns = {{0, 1}, {32, 2}, {2, 6}, {3, 7}, {35, 8}};
  for (const auto& [slot, column] : slots_and_columns) EXPECT_EQ(columns[slot], column) << slot;
  EXPECT_EQ(parts[1].rows.column, (std::vector<idx>{3, 4, 5}));
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<double> y(4, -1);
  A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
  EXPECT_EQ(y, (std::vector<double>{10 * 2 + 11 * 3 + 12 * 4 + 13 * 5 + 14 * 6, 0, 15 * 7, 16 * 8 + 17 * 9}));
}

/// A width that all rows have leaves one part, and one launch.
TEST(PackedParts, AreOneWhereTheWidthIsThatOfTheLongestRow) {
  for (const auto& [line, parts] : {std::pair{"ellr width=5 + ccoo", 1}, {"ellr width=4 + ccoo", 2}}) {
    CountingBackend device;
    const Pattern pattern = pattern_of_lengths({3, 5, 0, 5});
    Random random;
    const Operands<double> operands(pattern, "dense", {3, 3}, random);
    const PackedMatrix A = packed(operands, parse_plan(line, {}), device);
    EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                       reference_product(operands, Precision::double_, Op::none, Form::assign)));
    EXPECT_EQ(device.products, parts) << line;
  }
}

TEST(PackedParts, TellOfPaddingByThePart) {
  std::vector<idx> lengths(20000, 40);
  for (idx r = 0; r < 20000; r += 100) lengths[r] = 41 + r % 7;
  lengths[7] = 20000;
  const Pattern pattern = pattern_of_lengths(lengths);
  const auto why = [&](std::string_view line) {
    return too_much_padding(pattern.view(), real_3x3, parse_plan(line, {}), 4).value_or("");
  };
  EXPECT_NE(why("ellr").find("layout ellr would have"), std::string::npos);
  EXPECT_NE(why("ellr longest=40 + ellr").find("layout ellr would have 4480000 slots"), std::string::npos)
      << why("ellr longest=40 + ellr");
  EXPECT_EQ(why("ellr longest=60 + ellr"), "");
  EXPECT_EQ(why("ellr longest=60 + csr"), "");
}

/// The plan is asked for whatever the matrix; where no row is too long nothing is copied.
TEST(PackedParts, LieOnTheBlocksWhereTheFirstHasAllRows) {
  const Plan plan = parse_plan("csr longest=4 + ccoo", {});
  EXPECT_TRUE(PackedMatrix(pattern_of_lengths({1, 4, 2}).view(), real_1x1, plan, backend("host")).lies_on_blocks());
  EXPECT_FALSE(PackedMatrix(pattern_of_lengths({1, 5, 2}).view(), real_1x1, plan, backend("host")).lies_on_blocks());
}

TEST(PackedParts, TakeNewValuesWithoutNewIntegers) {
  const Pattern pattern = random_pattern(200, 100, 12, 3);
  for (const char* line : {"sell:32 longest=4 + csr longest=8 + ccoo", "csr longest=4 + sell:8",
                           "sell:32 codes=scalars8 longest=4 + csr longest=8 + ccoo",
                           "hdia codes=blocks8 longest=5 + sell:8", "csr codes=blocks16 longest=5 + ccoo",
                           "ellr width=5 + ccoo", "ellr codes=scalars8 width=3 + sell:8 width=2 + ccoo"}) {
    Random random;
    const Plan plan = parse_plan(line, {});
    RecordingBackend recording;
    for (Backend* on : {&backend("host"), static_cast<Backend*>(&recording)}) {
      auto operands = Operands<double>(pattern, "dense", {3, 3}, random).for_codes_of(plan);
      PackedMatrix A = packed(operands, plan, *on);
      const std::size_t integers = A.bytes().integers;
      auto* const counted = dynamic_cast<RecordingBackend*>(on);
      const int uploads = counted ? counted->uploads : 0;
      for (double& v : operands.blocks) v = -2 * v;

      A.update_values(operands.blocks.data());

      EXPECT_EQ(A.bytes().integers, integers);
      if (counted && plan.codes == "none") {
        EXPECT_EQ(counted->uploads, uploads);
      }
      for (const Op op : {Op::none, Op::transpose})
        EXPECT_TRUE(agrees(multiplied(A, operands, op, Form::add),
                           reference_product(operands, Precision::double_, op, Form::add)))
            << line;
    }
  }
}

TEST(PackedParts, KeepTheOldValuesWhereACodeHasNoRoomForTheNew) {
  const Pattern pattern = pattern_of_lengths({200, 300});  // a part each, with room for the first's values
  for (const char* codes : {"codes=scalars8", "codes=blocks8"}) {
    Random random;
    const Plan coded = parse_plan(std::string(codes) + " csr longest=250 + ccoo", {});
    auto operands = Operands<double>(pattern, "dense", {1, 1}, random).for_codes_of(coded);
    PackedMatrix A = packed(operands, coded);
    const auto before = multiplied(A, operands, Op::none, Form::assign);
    std::vector<double> more(500);
    for (std::size_t n = 0; n < more.size(); ++n) more[n] = double(n);

    EXPECT_ERROR(A.update_values(more.data()), ErrorKind::argument, "has room for 256 different");
    EXPECT_EQ(multiplied(A, operands, Op::none, Form::assign), before);
  }
}

TEST(PackedParts, NameTheFirstMisfitOfTheWholeMatrix) {
  const Pattern pattern = pattern_of_lengths({3, 1, 1});
  PackedMatrix A(pattern.view(), {{2, 2}, {}}, parse_plan("entry=complex csr longest=1 + ccoo", {}), backend("host"));
  std::vector<double> blocks;
  for (int e = 0; e < 5; ++e)
    for (const double v : {1.0, 2.0, -2.0, 1.0}) blocks.push_back(v);
  EXPECT_FALSE(A.try_update_values(blocks.data()));
  blocks[4 * 4 + 1] = 7;  // in the first part
  EXPECT_EQ(A.try_update_values(blocks.data()), 4u);
  blocks[2 * 4 + 1] = 7;  // in the second
  EXPECT_EQ(A.try_update_values(blocks.data()), 2u);
}

TEST(PackedParts, ChangeTheScheduleOfTheFirst) {
  const Pattern pattern = pattern_of_lengths({1, 9, 2, 7});
  Random random;
  const Operands<double> operands(pattern, "dense", {2, 2}, random);
  for (const char* line : {"csr longest=4 + ccoo", "csr longest=1 + ccoo:32"}) {
    PackedMatrix A = packed(operands, parse_plan(line, {}));
    auto other = A.scheduled(parse_plan("csr plain", {}).schedule);
    A.swap(other);

    EXPECT_FALSE(A.plan().schedule.simd);
    EXPECT_TRUE(A.plan().later.front().schedule.simd);
    EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::add),
                       reference_product(operands, Precision::double_, Op::none, Form::add)));
  }
}

}  // namespace
}  // namespace compound::test
