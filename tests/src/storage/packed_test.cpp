// Packed matrices: ownership of arrays, new values, and refused plans. Their products are in packed_*_test.cpp.
#include "storage/packed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "planner/default_plan.hpp"
#include "support/dots.hpp"
#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

using S = double;

constexpr BlockShape quaternion_block{4, 4};

const char* const plans[] = {"csr",
                             "hdia:32",
                             "ccoo:32",
                             "csr words=1:row",
                             "sell:32 words=1:padded entry=unit_quaternion",
                             "csr rowlist",
                             "ellr",
                             "ellr words=all",
                             "sell:8:16",
                             "sell:32 presence",
                             "sell:8 rowlist",
                             "csr entry=quaternion",
                             "sell:32 entry=quaternion"};

class PackedPlans : public testing::TestWithParam<const char*> {
 protected:
  PackedPlans() : plan(parse_plan(GetParam(), {})), operands(pattern, plan.entry, quaternion_block, random) {}

  Random random;
  Pattern pattern = random_pattern(40, 30, 6, test_seed());
  Plan plan;
  Operands<S> operands;
  testing::ScopedTrace trace{__FILE__, __LINE__, seed_text()};

  testing::AssertionResult is_product_of(const Operands<S>& o, const PackedMatrix& A) const {
    return agrees(multiplied(A, o, Op::none, Form::assign), reference_product(o, plan.values, Op::none, Form::assign));
  }
};

INSTANTIATE_TEST_SUITE_P(Plans, PackedPlans, testing::ValuesIn(plans));

TEST_P(PackedPlans, TakeNewValues) {
  PackedMatrix A = packed(operands, plan);

  operands.blocks = random_blocks<S>(plan.entry, quaternion_block, pattern.view().entries(), random);
  A.update_values(operands.blocks.data());

  EXPECT_TRUE(is_product_of(operands, A));
}

TEST_P(PackedPlans, KeepTheirIntegersUnderNewValues) {
  RecordingBackend device;
  PackedMatrix A(pattern.view(), operands.problem(), plan, device);
  const int allocations = device.allocations, uploads = device.uploads;

  A.update_values(operands.blocks.data());
  operands.blocks = random_blocks<S>(plan.entry, quaternion_block, pattern.view().entries(), random);
  A.update_values(operands.blocks.data());

  EXPECT_EQ(device.packs, 2);
  EXPECT_EQ(device.allocations, allocations);
  EXPECT_EQ(device.uploads, uploads);
  EXPECT_TRUE(is_product_of(operands, A));
}

TEST_P(PackedPlans, GiveAllMemoryBack) {
  RecordingBackend device;
  {
    PackedMatrix A(pattern.view(), operands.problem(), plan, device);
    A.update_values(operands.blocks.data());
    PackedMatrix moved = std::move(A);
    EXPECT_TRUE(is_product_of(operands, moved));
  }

  EXPECT_GT(device.allocations, 0);
  EXPECT_EQ(device.releases, device.allocations);
}

TEST_P(PackedPlans, OutliveATemporaryPattern) {
  auto temporary = std::make_unique<Pattern>(pattern);
  PackedMatrix A(temporary->view(), operands.problem(), plan, backend("host"), PatternLifetime::temporary);
  A.update_values(operands.blocks.data());

  std::fill(temporary->column.begin(), temporary->column.end(), -1);
  std::fill(temporary->start.begin(), temporary->start.end(), 0u);
  temporary.reset();

  EXPECT_TRUE(is_product_of(operands, A));
}

TEST_P(PackedPlans, MultiplyOnAPatternThatOutlivesThem) {
  PackedMatrix A(pattern.view(), operands.problem(), plan, backend("host"), PatternLifetime::outlives);
  A.update_values(operands.blocks.data());

  EXPECT_TRUE(is_product_of(operands, A));
}

TEST_P(PackedPlans, KeepTheirOwnCopyOfValuesUnlessTheyLieOnThem) {
  PackedMatrix A = packed(operands, plan);
  const auto before = multiplied(A, operands, Op::none, Form::assign);

  for (S& s : operands.blocks) s *= 2;
  const auto after = multiplied(A, operands, Op::none, Form::assign);

  EXPECT_EQ(same_bits(before, after), !A.lies_on_blocks());
  EXPECT_EQ(A.bytes().words == 0, A.lies_on_blocks());
}

TEST_P(PackedPlans, RefuseProductsBeforeTheyHaveValues) {
  const PackedMatrix A(pattern.view(), operands.problem(), plan, backend("host"));
  std::vector<S> x(operands.cols_vector), y(operands.rows_vector.size());

  EXPECT_ERROR(A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data()), ErrorKind::argument, "no values yet");
}

TEST_P(PackedPlans, CountTheirEntriesAndSlots) {
  const PackedMatrix A(pattern.view(), operands.problem(), plan, backend("host"));

  EXPECT_EQ(A.entries(), pattern.view().entries());
  EXPECT_EQ(A.slots(), encode(pattern.view(), plan.layout).slots);
  EXPECT_EQ(A.plan(), plan);
}

bool lies(std::string_view line, const Problem& problem, Backend& on = backend("host")) {
  Plan base;
  base.values = problem.scalar.precision;
  return PackedMatrix(pattern_of(1, {{0}}).view(), problem, parse_plan(line, base), on).lies_on_blocks();
}

TEST(LiesOnBlocks, WhereCompressedRowsHoldTheCallersWordsInTheirOrder) {
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};

  EXPECT_TRUE(lies("csr", problem));
  EXPECT_TRUE(lies("csr rowlist vectors=32", problem));
  EXPECT_TRUE(lies("csr", {{2, 2}, {Field::complex, Precision::single}}));
}

TEST(LiesOnBlocks, NotWhereAnythingIsMovedOrConverted) {
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};
  RecordingBackend device;

  EXPECT_FALSE(lies("csr words=1:row", problem));
  EXPECT_FALSE(lies("csr words=2", problem));
  EXPECT_FALSE(lies("csr words=1:padded", {{3, 3}, {Field::real, Precision::double_}}));
  EXPECT_FALSE(lies("csr words=all", problem));
  EXPECT_FALSE(lies("csr values=float", problem));
  EXPECT_FALSE(lies("csr entry=complex", problem));
  EXPECT_FALSE(lies("sell:2 words=1", problem));
  EXPECT_FALSE(lies("csr", problem, device));
}

TEST(PatternLifetime, OutlivesLetsCompressedRowsOwnNothing) {
  const Pattern pattern = random_pattern(40, 30, 6, 1);
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};

  const PackedMatrix A(pattern.view(), problem, {}, backend("host"), PatternLifetime::outlives);

  EXPECT_EQ(A.bytes().total(), 0u);
}

TEST(PatternLifetime, OutlivesStillCopiesWhatTheLayoutChanges) {
  const Pattern pattern = random_pattern(40, 30, 6, 1);
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};
  RecordingBackend device;

  const auto integers = [&](const char* line, Backend& on) {
    return PackedMatrix(pattern.view(), problem, parse_plan(line, {}), on, PatternLifetime::outlives).bytes().integers;
  };

  EXPECT_GT(integers("csr rowlist", backend("host")), 0u);
  EXPECT_GT(integers("sell:8", backend("host")), 0u);
  EXPECT_GT(integers("csr", device), 0u);
}

TEST(PackedMatrix, MovesWithItsValues) {
  Random random;
  const Pattern pattern = random_pattern(40, 30, 6, test_seed());
  const Operands<S> operands(pattern, "dense", {3, 3}, random);
  PackedMatrix A = packed(operands, parse_plan("sell:8", {}));
  const auto y = multiplied(A, operands, Op::none, Form::assign);

  PackedMatrix other = packed(operands, parse_plan("ellr", {}));
  other = std::move(A);

  EXPECT_TRUE(same_bits(multiplied(other, operands, Op::none, Form::assign), y)) << seed_text();
}

TEST(PackedMatrix, RefusesAPlanThatIsNotApplicableWithTheReason) {
  const Pattern pattern = pattern_of(1, {{0}});
  const Problem problem{{3, 3}, {Field::real, Precision::double_}};
  const auto make = [&](const char* line) {
    PackedMatrix(pattern.view(), problem, parse_plan(line, {}), backend("host"));
  };

  EXPECT_ERROR(make("csr entry=quaternion"), ErrorKind::argument, "entry quaternion needs blocks of 4x4");
  EXPECT_ERROR(make("csr lanes=4"), ErrorKind::argument, "the host backend has one worker a row");
}

class Misfit : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Plans, Misfit, testing::Values("csr", "csr rowlist", "ellr", "sell:8:16", "sell:32 presence"));

TEST_P(Misfit, IsNamedAndLeavesTheOldValuesWorking) {
  Random random;
  const Pattern pattern = random_pattern(40, 30, 6, test_seed());
  const Operands<S> operands(pattern, "quaternion", quaternion_block, random);
  PackedMatrix A = packed(operands, parse_plan("entry=quaternion", parse_plan(GetParam(), {})));
  const auto y = multiplied(A, operands, Op::none, Form::assign);
  auto broken = random_blocks<S>("quaternion", quaternion_block, pattern.view().entries(), random);
  broken[17 * 16 + 6] += 1;
  broken[19 * 16 + 3] += 1;

  EXPECT_ERROR(A.update_values(broken.data()), ErrorKind::argument,
               "block 17 of the matrix is not of block format 'quaternion'; use entry=dense");
  EXPECT_TRUE(same_bits(multiplied(A, operands, Op::none, Form::assign), y)) << seed_text();
}

TEST(Misfit, OfNaNIsNeverHidden) {
  const Pattern pattern = pattern_of(1, {{0}});
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};
  PackedMatrix A(pattern.view(), problem, parse_plan("csr entry=complex", {}), backend("host"));
  const auto nan = not_a_number<double>();
  const double block[] = {nan, 1, -1, nan};

  EXPECT_ERROR(A.update_values(block), ErrorKind::argument, "block 0");
}

TEST(Misfit, IsNotWhatTwoZeroSignsMake) {
  const Pattern pattern = pattern_of(1, {{0}});
  const Problem problem{{2, 2}, {Field::real, Precision::double_}};
  PackedMatrix A(pattern.view(), problem, parse_plan("csr entry=complex", {}), backend("host"));
  const double block[] = {1.0, 0.0, 0.0, 1.0};

  EXPECT_NO_THROW(A.update_values(block));
}

TEST(Dots, FollowProductsOnDevicesAlone) {
  const Pattern pattern = random_pattern(20, 20, 3, 1);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const PackedMatrix A = packed(operands, parse_plan("csr", {}));
  EXPECT_ERROR(multiplied_with_dot(A, operands, Op::none, Form::assign, Follow::dot, random_vector<double>(60, random)),
               ErrorKind::unsupported, "a dot product that follows a product on the host");
}

}  // namespace
}  // namespace compound::test
