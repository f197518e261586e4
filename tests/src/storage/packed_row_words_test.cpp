// Values that come in the order of rows (words=rows, or packed by any other plan): what is beyond the products that the
// property runner draws.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/order_blocks.hpp"
#include "plan/value_order.hpp"
#include "planner/entry_choice.hpp"
#include "support/entry_cases.hpp"
#include "support/errors.hpp"
#include "support/recording_backend.hpp"
#include "support/row_words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

Plan rows_plan(ScalarType scalar, const char* flags = "") {
  Plan base;
  base.values = scalar.precision;
  return parse_plan("csr words=rows" + std::string(flags), base);
}

const BlockShape shapes[] = {{1, 1}, {1, 4}, {5, 1}, {3, 3}, {3, 6}, {6, 2}, {7, 5}, {32, 32}};

struct RowWordsCase {
  BlockShape shape;
  ScalarType scalar;
};

void PrintTo(const RowWordsCase& c, std::ostream* out) {
  *out << text_of(c.shape) << (c.scalar.field == Field::complex ? " complex " : " real ")
       << name_of(c.scalar.precision);
}

std::vector<RowWordsCase> row_words_cases() {
  std::vector<RowWordsCase> all;
  for (const ScalarCase& s : scalar_cases())
    for (const BlockShape shape : shapes) all.push_back({shape, s.vectors});
  return all;
}

/// Rows of 0 to some entries, of which large blocks fill more than is gathered at once.
const Pattern& uneven() {
  static const Pattern p = random_pattern(11, 70, 60, test_seed());
  return p;
}

class RowWords : public testing::TestWithParam<RowWordsCase> {};

INSTANTIATE_TEST_SUITE_P(Shapes, RowWords, testing::ValuesIn(row_words_cases()),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

TEST_P(RowWords, ArePackedByOtherPlans) {
  SCOPED_TRACE(seed_text());
  RecordingBackend other;
  with_scalar(GetParam().scalar, [&]<class S>(S) {
    Random random;
    const Pattern p = random_pattern(40, 31, 7, test_seed());
    const Operands<S> operands =
        Operands<S>(p, "dense", GetParam().shape, random).for_codes_of(parse_plan("csr codes=chunks8 words=1", {}));
    const auto values = in_rows(p, GetParam().shape, operands.blocks);
    Plan base;
    base.values = GetParam().scalar.precision;
    for (const char* line : {"csr", "csr rowlist", "csr words=1:row", "sell:8", "sell:32:all words=all", "hdia:32",
                             "ccoo:32", "sell:8 longest=3 + ccoo:32", "ellr width=3 + ccoo:32"})
      for (Backend* on : {&backend("host"), static_cast<Backend*>(&other)}) {
        const Plan plan = parse_plan(line, base);

        const PackedMatrix A = packed_from_rows(operands, plan, values, *on);

        EXPECT_EQ(A.lies_on_blocks(),
                  GetParam().shape.rows == 1 && on->reads_in_place() && words_are_blocks(plan, A.problem()))
            << line;
        for (const Op op : ops)
          EXPECT_TRUE(agrees(multiplied(A, operands, op, Form::assign),
                             reference_product(operands, base.values, op, Form::assign)))
              << line << " on " << on->name();
      }
  });
}

/// By each instruction set: the property runner has the best of the machine.
TEST_P(RowWords, AreMultipliedAsTheyLie) {
  SCOPED_TRACE(seed_text());
  with_scalar(GetParam().scalar, [&]<class S>(S) {
    Random random;
    const Pattern p = random_pattern(23, 31, 7, test_seed());
    const Operands<S> operands(p, "dense", GetParam().shape, random);
    const auto values = in_rows(p, GetParam().shape, operands.blocks);
    const PackedMatrix A = packed_from_rows(operands, rows_plan(GetParam().scalar), values);
    for (const Op op : ops)
      for (const Form form : {Form::assign, Form::add})
        EXPECT_TRUE(agrees(multiplied(A, operands, op, form),
                           reference_product(operands, GetParam().scalar.precision, op, form)))
            << static_cast<int>(op) << " " << static_cast<int>(form);
  });
}

TEST_P(RowWords, ComeBlockByBlock) {
  const BlockShape shape = GetParam().shape;
  const Pattern p = random_pattern(40, 31, 7, test_seed());
  with_scalar(GetParam().scalar, [&]<class S>(S) {
    Random random;
    const Operands<S> operands(p, "dense", shape, random);
    const auto values = in_rows(p, shape, operands.blocks);
    const std::size_t words = scalars_in(shape);
    std::vector<S> some((p.start[30] - p.start[11]) * words);

    to_blocks(p.view(), given_in_rows(operands.problem()), values.data(), some.data(), 11, 30);

    EXPECT_TRUE(std::equal(some.begin(), some.end(), operands.blocks.begin() + p.start[11] * words));
    to_blocks(p.view(), operands.problem(), operands.blocks.data(), some.data(), 11, 30);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), operands.blocks.begin() + p.start[11] * words));
  });
}

/// The device's text, worker by worker.
TEST_P(RowWords, ComeBlockByBlockOnADevice) {
  const BlockShape shape = GetParam().shape;
  for (const Pattern& p : {random_pattern(40, 31, 7, test_seed()), pattern_of(3, {{}, {}, {}}), uneven()})
    with_scalar(GetParam().scalar, [&]<class S>(S) {
      Random random;
      const Operands<S> operands(p, "dense", shape, random);
      const auto values = in_rows(p, shape, operands.blocks);
      std::vector<S> found(values.size());
      const order_args args{p.start.data(), p.rows, shape.rows, shape.cols, values.data(), found.data()};

      for (slot_t worker = 0; worker < args.workers(); ++worker) order_blocks<S>(args, worker);

      EXPECT_TRUE(found == operands.blocks) << seed_text();
    });
}

TEST(RowWordsOfOneMatrix, AreReadAnewByEachProduct) {
  Random random;
  const Pattern p = random_pattern(20, 20, 5, test_seed());
  Operands<double> operands(p, "dense", {3, 6}, random);
  auto values = in_rows(p, {3, 6}, operands.blocks);
  PackedMatrix A = packed_from_rows(operands, rows_plan({}), values);
  const auto stamp = A.stamp();

  for (double& v : operands.blocks) v *= 3;
  for (double& v : values) v *= 3;

  EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                     reference_product(operands, Precision::double_, Op::none, Form::assign)));
  A.update_values(values.data());
  EXPECT_EQ(A.stamp(), stamp);
  const auto elsewhere = values;
  A.update_values(elsewhere.data());
  EXPECT_NE(A.stamp(), stamp) << "what was made for the old array must not be used";
}

TEST(RowWordsOfOneMatrix, AreTakenAnewByPackedCopies) {
  Random random;
  const Pattern p = random_pattern(20, 20, 5, test_seed());
  Operands<double> operands(p, "dense", {3, 3}, random);
  auto values = in_rows(p, {3, 3}, operands.blocks);
  PackedMatrix A = packed_from_rows(operands, parse_plan("sell:8", {}), values);
  for (double& v : operands.blocks) v *= 3;
  for (double& v : values) v *= 3;

  A.update_values(values.data());

  EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                     reference_product(operands, Precision::double_, Op::none, Form::assign)));
}

TEST(RowWordsOfOneMatrix, CostStartsAndColumnsAlone) {
  const Pattern p = random_pattern(200, 200, 9, test_seed());
  const Problem problem = given_in_rows({{3, 3}, {}});

  for (const char* line :
       {"csr words=rows", "csr words=rows rowlist", "csr", "sell:8", "sell:8 longest=3 + csr", "ellr width=3 + ccoo"})
    for (const PatternLifetime lifetime : {PatternLifetime::temporary, PatternLifetime::outlives}) {
      const Plan plan = parse_plan(line, {});
      const Footprint counted = bytes_of(p.view(), problem, plan, backend("host"), lifetime);
      const PackedMatrix A(p.view(), problem, plan, backend("host"), lifetime);

      EXPECT_EQ(counted.allocated.words, A.bytes().words) << line;
      EXPECT_EQ(counted.allocated.integers, A.bytes().integers) << line;
    }
  EXPECT_EQ(bytes_of(p.view(), problem, parse_plan("csr words=rows", {}), backend("host"), PatternLifetime::outlives)
                .allocated.total(),
            0u);
}

TEST(RowWordsOfOneMatrix, OfNoEntriesGiveZeroOrZ) {
  Random random;
  const Pattern p = pattern_of(3, {{}, {}});
  const Operands<double> operands(p, "dense", {3, 2}, random);
  for (const char* line : {"csr words=rows", "sell:8"}) {
    const PackedMatrix A = packed_from_rows(operands, parse_plan(line, {}), {});
    EXPECT_EQ(multiplied(A, operands, Op::none, Form::assign), std::vector<double>(6));
    EXPECT_EQ(multiplied(A, operands, Op::none, Form::add), operands.rows_z);
  }
}

TEST(RowWordsOfOneMatrix, HaveTheDiagonalsOfTheirBlocks) {
  for (const Pattern& p : {random_pattern(30, 30, 9, test_seed()), pattern_of(3, {{0, 1, 0}, {1}, {2, 2, 0, 2}}),
                           pattern_of(4, {{3, 0}, {1, 0}, {3, 2, 1}, {3}}), pattern_of(4, {{0}, {}, {2}, {}})})
    for (const ScalarCase& c : scalar_cases()) {
      if (c.vectors.precision != parse_plan(std::string("csr") + c.values, {}).values) continue;
      with_scalar(c.vectors, [&]<class S>(S) {
        for (const int n : {1, 2, 3, 6, 11})
          for (const char* flags : {"", " rowlist"}) {
            SCOPED_TRACE(std::to_string(n) + flags + ", " + seed_text());
            Random random;
            const Operands<S> operands(p, "dense", {n, n}, random);
            const auto values = in_rows(p, {n, n}, operands.blocks);
            const PackedMatrix A = packed_from_rows(operands, rows_plan(c.vectors, flags), values),
                               B = packed(operands, parse_plan("csr" + std::string(c.values), {}));
            std::vector<S> diagonal(std::size_t(p.rows) * n), wanted(diagonal), inverse(diagonal.size() * n),
                wanted_inverse(inverse);

            A.diagonal(diagonal.data());
            B.diagonal(wanted.data());
            EXPECT_EQ(A.invert_diagonal(inverse.data()), B.invert_diagonal(wanted_inverse.data()));

            EXPECT_TRUE(same_bits(diagonal, wanted));
            EXPECT_TRUE(same_bits(inverse, wanted_inverse));
          }
      });
    }
}

TEST(RowWordsOfOneMatrix, OfAKindOfEntryAreFoundAndPacked) {
  const Pattern p = random_pattern(900, 800, 9, test_seed());
  SCOPED_TRACE(seed_text());
  RecordingBackend device;
  Random random;
  for (const EntryCase& c : square_entry_cases()) {
    const BlockShape shape = c.in(Field::real);
    if (entry_kind(c.entry).shape(Field::real, shape).words == 0 || entry_kind(c.entry).approximate) continue;
    const Operands<double> operands(p, c.entry, shape, random);
    const Problem given = given_in_rows(operands.problem());
    auto values = in_rows(p, shape, operands.blocks);
    const auto found = [&](Backend& on, Memory in) { return cheapest_entry(p.view(), given, on, values.data(), in); };
    const auto wanted = cheapest_entry(operands.problem(), backend("host"), operands.blocks.data(), p.view().entries());

    EXPECT_EQ(found(backend("host"), Memory::host), wanted);
    EXPECT_EQ(found(device, Memory::backend), wanted);
    EXPECT_EQ(device.releases, device.allocations);

    const PackedMatrix A = packed_from_rows(operands, parse_plan("csr entry=" + std::string(c.entry), {}), values);
    EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                       reference_product(operands, Precision::double_, Op::none, Form::assign)));
    if (wanted == "dense" || shape.rows == 1) continue;
    values[values.size() - scalars_in(shape)] += 1e3;  // of the last block row
    EXPECT_EQ(found(backend("host"), Memory::host), "dense") << c.entry;
    EXPECT_EQ(found(device, Memory::backend), "dense") << c.entry;
  }
}

TEST(RowWordsOfOneMatrix, TellTheBlockThatIsOfAnotherKind) {
  Random random;
  const Pattern p = random_pattern(20, 20, 5, test_seed());
  const Operands<double> operands(p, "complex", {2, 2}, random);
  const count32 bad = p.start[10];
  auto blocks = operands.blocks;
  blocks[4 * bad] += 1;
  const auto values = in_rows(p, {2, 2}, blocks);
  PackedMatrix A(p.view(), given_in_rows(operands.problem()), parse_plan("csr entry=complex", {}), backend("host"));

  EXPECT_EQ(A.try_update_values(values.data()), bad);
}

std::string reason(const char* line, const Problem& problem, Backend& on = backend("host")) {
  return why_not(parse_plan(line, {}), problem, on).value_or("");
}

TEST(WordsInRows, SayWhatTheyDoNotGoWith) {
  const Problem rows = given_in_rows({{3, 3}, {}});
  const std::string words = "words=rows are the values of a matrix as it stores them, scalar row by scalar row";
  RecordingBackend copying;

  EXPECT_EQ(reason("csr words=rows rowlist", rows), "");
  EXPECT_EQ(reason("csr words=rows", {{3, 3}, {}}),
            words + ", and this one stores them block by block (BAIJ); use words=1");
  const std::string only = words + ": with ", instead = "; use words=1";
  EXPECT_EQ(reason("sell:8 words=rows", rows), only + "layout csr alone, not with sell" + instead);
  EXPECT_EQ(reason("ccoo words=rows", rows), only + "layout csr alone, not with ccoo" + instead);
  EXPECT_EQ(reason("csr words=rows entry=diagonal", rows), only + "entry=dense alone, not entry=diagonal" + instead);
  EXPECT_EQ(reason("csr codes=scalars8 words=rows", rows), only + "codes=none alone, not codes=scalars8" + instead);
  EXPECT_EQ(reason("csr words=rows values=float", rows), only + "values=double alone, not values=float" + instead);
  EXPECT_EQ(reason("csr words=rows columns=16", rows), only + "columns=32 alone, not columns=16" + instead);
  EXPECT_EQ(reason("csr words=rows vectors=32", rows), only + "vectors=1 alone, not vectors=32" + instead);
  EXPECT_EQ(reason("csr words=rows longest=3 + ccoo", rows),
            "words=rows are all of a matrix's values, as it stores them: they make a plan of one part; use words=1");
  EXPECT_EQ(reason("csr longest=3 + csr words=rows", rows),
            "words=rows are all of a matrix's values, as it stores them: they make a plan of one part; use words=1");
  EXPECT_EQ(reason("csr words=rows", rows, copying),
            "words=rows reads scalars where the matrix has them, which backend recording cannot; use words=1");
}

TEST(WordsInRows, ArePrintedAndRead) {
  const Plan plan = parse_plan("csr words=rows xahead rowlist", {});

  EXPECT_EQ(to_string(plan),
            "entry=dense csr words=rows vectors=1 values=double columns=32 rowlist rows xahead lanes=1");
  EXPECT_EQ(parse_plan(to_string(plan), {}), plan);
  EXPECT_EQ(parse_plan("csr", plan).layout.word_group, 1);
  EXPECT_EQ(parse_plan("plain", plan).layout.word_group, group_rows);
  EXPECT_EQ(parse_plan("words=1", plan).layout.word_group, 1);
}

TEST(WordsInRows, AreLeftByALineThatDoesNotNameThem) {
  const Plan base = parse_plan("csr words=rows", {});
  for (const char* line :
       {"values=float", "columns=16", "vectors=32", "entry=diagonal", "codes=scalars8", "longest=4 + ccoo"})
    EXPECT_EQ(parse_plan(line, base).layout.word_group, 1) << line;
}

}  // namespace
}  // namespace compound::test
