// What a packed matrix asks of a device: transposes by a layout of A^T's pattern, and other schedules of the same copy.
// The device is a pretended one on the host.
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>

#include "backend/layout_work.hpp"
#include "backend/sparse_products.hpp"
#include "device/layout/compressed_rows.hpp"
#include "device/layout/slices.hpp"
#include "planner/default_plan.hpp"
#include "storage/packed.hpp"
#include "support/device_forms.hpp"
#include "support/errors.hpp"
#include "support/failing_in_turn.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/row_words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Whether a device fills layouts and transposes patterns.
enum class Fills { no, yes };

/// Multiplies by gathering over the layout it is given, blocks of one scalar in words=1 only.
class PretendedDevice final : public RecordingBackend, public LayoutWork, public SparseProducts {
 public:
  int fills = 0;
  mutable int regroups = 0, codes = 0;
  bool shared_values = false;  ///< whether the last product read A's own values
  Plan last;                   ///< of the last product

  explicit PretendedDevice(std::string_view name = "recording", Fills does = Fills::no)
      : RecordingBackend(name, Reach::device,
                         does == Fills::yes ? Extensions{.sparse_products = this, .layouts = this} : Extensions{}) {}
  /// What is read before it was written shows.
  void* allocate(std::size_t bytes) override { return std::memset(RecordingBackend::allocate(bytes), 0xff, bytes); }
  std::unique_ptr<Code> code_for(const Plan&, const Problem&) const override {
    return ++codes, std::make_unique<PretendedCode>(regroups);
  }

  void multiply(const ProductTask& t) override {
    shared_values = t.value_slot != nullptr;
    last = t.plan;
    // A layout of A^T's pattern is in the same family, with all rows.
    const AnyLayout l(t.plan.layout, t.layout);
    const auto *x = static_cast<const double*>(t.x), *z = static_cast<const double*>(t.z);
    auto* y = static_cast<double*>(t.y);
    const idx y_blocks = t.op == Op::none ? t.rows : t.cols;
    std::vector<double> begun(y_blocks, 0);  // rows that are not visited
    if (t.update == Update::add) begun.assign(z, z + y_blocks);
    std::copy(begun.begin(), begun.end(), y);
    for (idx p = 0; p < l.positions; p = l.next(p)) {
      double sum = 0;
      for (idx k = 0; k < l.count(p); ++k)
        if (const slot_t slot = l.first(p) + k * l.apart(); l.present(slot))
          sum += value(t, slot) * x[l.columns_of(p).at(slot)];
      y[l.row(p)] = sum + begun[l.row(p)];
    }
  }

  void fill_slots(const LayoutFamily& family, const slots_args& a) override {
    ++fills;
    using Slices = slices<dynamic, Occupancy::any, RowOrder::any, any_columns>;
    using Rows = compressed_rows<RowOrder::any, any_columns>;
    for (slot_t worker = 0; worker < a.workers(); ++worker)
      family.interleaved ? compound::fill_slots<Slices>(a, worker) : compound::fill_slots<Rows>(a, worker);
  }
  std::optional<PlacedTransposed> transposed(const PlacedRows& A) override {
    const auto rows = static_cast<std::size_t>(A.rows);
    const Transposed t = compound::transposed(
        {A.rows, A.cols, {A.start.data(), rows + 1}, {A.column.data(), A.column.bytes() / sizeof(idx)}});
    return PlacedTransposed{placed(t.pattern), Buffer<count32>(*this, std::span<const count32>(t.entry_of))};
  }
  PlacedRows placed(const Pattern& p) {
    return {p.rows, p.cols, Buffer<count32>(*this, std::span<const count32>(p.start)),
            Buffer<idx>(*this, std::span<const idx>(p.column))};
  }
  std::optional<PlacedRows> product_pattern(const PlacedRows&, const PlacedRows&, bool) override { return {}; }
  void multiply_sparse(const SparseProductTask&) override {}

 protected:
  std::optional<std::string> why_not(const Plan&, const Problem&) const override { return {}; }

 private:
  struct PretendedCode final : Code {
    explicit PretendedCode(int& count) : regroups(count) {}
    std::string_view name() const override { return "pretended"; }
    void diagonal(const DiagonalTask&) override {}
    void regroup(const RegroupTask& t) override {
      ++regroups;
      for (slot_t s = 0; s < t.slots; ++s) {
        EXPECT_LT(t.value_slot[s], t.value_slots);
        static_cast<double*>(t.to)[s] = static_cast<const double*>(t.values)[t.value_slot[s]];
      }
    }
    int& regroups;
  };

  static double value(const ProductTask& t, slot_t slot) {
    const slot_t at = t.value_slot ? slot_t{t.value_slot[slot]} : slot;
    EXPECT_LT(at, t.value_slots);
    return static_cast<const double*>(t.values)[at];
  }
};

const char* const plans[] = {"csr",
                             "csr rowlist",
                             "ellr words=1",
                             "sell:8 words=1",
                             "sell:8:16 words=1",
                             "sell:32 words=1 presence",
                             "sell:8:all words=1 rowlist presence",
                             "hdia:32 words=1",
                             "ccoo:32 words=1",
                             "ccoo:64:2 words=32",
                             "sell:32 words=1 longest=2 + ccoo:32 words=1",
                             "csr longest=1 + csr longest=4 + sell:2 words=1",
                             "hdia:32 words=1 longest=3 + ellr words=1",
                             "ellr words=1 width=2 + ccoo:32 words=1"};

class DeviceMatrix : public testing::TestWithParam<std::tuple<const char*, ZooPattern, Fills>> {
 protected:
  const Plan plan = parse_plan(std::get<0>(GetParam()), {});
  const Pattern& pattern = std::get<1>(GetParam()).pattern;
  Random random;
  Operands<double> operands{pattern, "dense", {1, 1}, random};
  PretendedDevice device{"recording", std::get<2>(GetParam())};
  testing::ScopedTrace trace{__FILE__, __LINE__, seed_text()};

  PackedMatrix made(TransposedValues values) { return packed(operands, plan, device, values); }
  void expect_right(const PackedMatrix& A, Op op) const {
    for (const Form form : forms)
      EXPECT_TRUE(agrees(multiplied(A, operands, op, form), reference_product(operands, plan.values, op, form)))
          << product_name(op, form);
  }
  void new_values(PackedMatrix& A) {
    operands.blocks = random_blocks<double>("dense", {1, 1}, pattern.view().entries(), random);
    A.update_values(operands.blocks.data());
  }
};

INSTANTIATE_TEST_SUITE_P(Zoo, DeviceMatrix,
                         testing::Combine(testing::ValuesIn(plans), testing::ValuesIn(zoo()),
                                          testing::Values(Fills::no, Fills::yes)),
                         [](const auto& instance) {
                           std::string name = std::string(std::get<0>(instance.param)) + "__";
                           name += std::get<1>(instance.param).name;
                           if (std::get<2>(instance.param) == Fills::yes) name += " filled";
                           std::erase(name, ',');
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST_P(DeviceMatrix, TransposesByACopyOfItsValues) {
  PackedMatrix A = made(TransposedValues::copy);
  expect_right(A, Op::transpose);
  new_values(A);

  for (const Op op : ops) {
    expect_right(A, op);
    EXPECT_FALSE(device.shared_values && pattern.view().entries() != 0);
  }
}

TEST_P(DeviceMatrix, TransposesByItsOwnValues) {
  PackedMatrix A = made(TransposedValues::shared);
  new_values(A);

  for (const Op op : ops) {
    expect_right(A, op);
    EXPECT_EQ(device.shared_values, op != Op::none);
  }
  EXPECT_EQ(device.regroups, 0);
}

TEST_P(DeviceMatrix, ChangesItsWayToTransposeWhenAnotherIsAsked) {
  PackedMatrix A(pattern.view(), operands.problem(), plan, device);
  A.update_values(operands.blocks.data());
  const PackedBytes before = A.bytes();
  const auto prepare = [&](TransposedValues values) {
    A.prepare_transposed(pattern.view(), plan_of_transpose, values);
    expect_right(A, Op::transpose);
  };
  if (pattern.view().entries() == 0) return;

  prepare(TransposedValues::shared);
  EXPECT_EQ(A.bytes().words, before.words);
  EXPECT_GT(A.bytes().integers, before.integers);
  prepare(TransposedValues::copy);
  EXPECT_GT(A.bytes().words, before.words);
  prepare(TransposedValues::shared);
  EXPECT_EQ(A.bytes().words, before.words);
}

/// Every allocation fails in turn: an error each time, nothing is lost, and a matrix that is there is what it was.
TEST_P(DeviceMatrix, LosesNothingWhereverMemoryRunsOut) {
  const auto fail = [&](int n) { device.to_fail = n; };
  const auto fail_all = [&](int n) {
    fail(n);
    EXPECT_EQ(device.allocations, device.releases) << "before allocation " << n << " fails";
  };
  EXPECT_GT(failures_in_turn(fail_all, [&] { made(TransposedValues::copy); }), 2);

  PackedMatrix A(pattern.view(), operands.problem(), plan, device);
  A.update_values(operands.blocks.data());
  const auto fail_and_look = [&](int n) {
    fail(n);
    if (n == 0) expect_right(A, Op::none);
  };
  for (const TransposedValues values : {TransposedValues::copy, TransposedValues::shared})
    failures_in_turn(fail_and_look, [&] { A.prepare_transposed(pattern.view(), plan_of_transpose, values); });
  expect_right(A, Op::transpose);
}

/// What the encoder makes is made of the outline, whether the pattern lies there already or not.
TEST(DeviceLayout, IsFilledAsItIsEncoded) {
  for (const ZooPattern& of : zoo())
    for (const char* line : plans) {
      const Plan plan = parse_plan(line, {});
      const PatternView pattern = of.pattern.view();
      if (!plan.later.empty() || pattern.entries() == 0) continue;
      const Layout expected = encode(pattern, plan.layout);
      const std::vector<double> values(pattern.entries(), 1);
      for (const bool lies_there : {false, true}) {
        SCOPED_TRACE(std::string(of.name) + ", " + line + (lies_there ? ", there" : ""));
        PretendedDevice device("recording", Fills::yes);
        const PlacedRows there = device.placed(of.pattern);
        PackedMatrix A(pattern, {{1, 1}, {Field::real, Precision::double_}}, plan, device, PatternLifetime::temporary,
                       lies_there ? &there : nullptr);
        const bool fills = has_outline(plan.layout) && (lies_there || family_of(plan.layout).interleaved);
        EXPECT_EQ(device.fills, fills ? 1 : 0);
        EXPECT_EQ(A.bytes().integers, expected.bytes());
        A.update_values(values.data());
        const layout_args made = A.task(nullptr, nullptr)->layout;
        for (int a = 0; a < most_layout_arrays; ++a) {
          const auto bytes = expected.arrays[a].bytes();
          ASSERT_EQ(made.array[a] == nullptr, bytes.empty()) << a;
          if (!bytes.empty()) {
            EXPECT_EQ(std::memcmp(made.array[a], bytes.data(), bytes.size()), 0) << a;
          }
        }
      }
    }
}

/// Of all parts' layouts of A^T.
std::size_t slots_of_transpose(const Pattern& pattern, const char* layout) {
  std::size_t slots = 0;
  for (const PatternPart& part : parts_of(pattern.view(), parse_plan(layout, {}))) {
    LayoutSpec spec = part.plan.layout;
    spec.row_list = false;
    slots += count(transposed(part.view(pattern.view())).pattern.view(), spec).slots;
  }
  return slots;
}

Operands<double> one_by_one(const Pattern& pattern) {
  Random random;
  return {pattern, "dense", {1, 1}, random};
}

TEST(DeviceTranspose, IsMadeOnceForAWay) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  const auto operands = one_by_one(pattern);
  PretendedDevice device;
  for (const TransposedValues values : {TransposedValues::copy, TransposedValues::shared}) {
    PackedMatrix A = packed(operands, parse_plan("csr", {}), device, values);
    const int allocations = device.allocations, regroups = device.regroups;

    A.prepare_transposed(pattern.view(), plan_of_transpose, values);

    EXPECT_EQ(device.allocations, allocations);
    EXPECT_EQ(device.regroups, regroups);
  }
  EXPECT_EQ(device.releases, device.allocations);
}

/// A prolongator: A^T has few and long rows.
TEST(DeviceTranspose, GoesByTheRulesPlanForItsOwnRowsWhereADoes) {
  std::vector<std::vector<idx>> rows;
  for (idx r = 0; r < 20000; ++r) rows.push_back({r / 200, 100 + r / 200});
  const Pattern pattern = pattern_of(200, rows), t = transposed(pattern.view()).pattern;
  const auto operands = one_by_one(pattern);
  const auto by_rule = [&](const Pattern& p) {
    return default_plan(statistics(p.view()), operands.problem(), "cuda", "dense", {}, Parts::one);
  };
  ASSERT_NE(by_rule(pattern), by_rule(t));
  Plan another = by_rule(pattern);
  another.schedule.blocks = 3;
  for (const TransposedValues values : {TransposedValues::copy, TransposedValues::shared})
    for (const Plan& plan : {by_rule(pattern), another}) {
      PretendedDevice device("cuda");
      const PackedMatrix A = packed(operands, plan, device, values);
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::transpose, Form::assign),
                         reference_product(operands, plan.values, Op::transpose, Form::assign)));
      const bool may = have_same_words(by_rule(t).layout, plan.layout) || values == TransposedValues::copy;
      EXPECT_EQ(device.last, may && plan != another ? by_rule(t) : plan) << to_string(device.last);
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                         reference_product(operands, plan.values, Op::none, Form::assign)));
      EXPECT_EQ(device.last, plan);
    }
}

/// One block for all: no slot of A^T needs to know which of A it stands for.
TEST(DeviceTranspose, ListsNoSlotsWhereThereIsOneBlock) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  PretendedDevice device;
  for (const char* layout : {"csr", "sell:8", "csr longest=2 + ccoo", "ellr width=2 + ccoo"}) {
    const auto integers = [&](const char* values) {
      const Plan plan = parse_plan(values + std::string(layout), {});
      PackedMatrix A(pattern.view(), {{1, 1}, {Field::real, Precision::double_}}, plan, device);
      A.prepare_transposed(pattern.view(), plan_of_transpose, TransposedValues::shared);
      return A.bytes().integers;
    };
    EXPECT_EQ(integers("codes=blocks0 ") + slots_of_transpose(pattern, layout) * sizeof(count32), integers(""))
        << layout;
  }
}

TEST(DeviceTranspose, IsAskedForBeforeItIsUsed) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  const auto operands = one_by_one(pattern);
  PretendedDevice device;
  PackedMatrix A(pattern.view(), operands.problem(), parse_plan("csr", {}), device);
  A.update_values(operands.blocks.data());

  EXPECT_FALSE(A.has_transposed());
  EXPECT_ERROR(A.multiply(Op::transpose, Update::assign, nullptr, nullptr, nullptr), ErrorKind::argument,
               "transposed product on a device without prepare_transposed()");
  A.prepare_transposed(pattern.view(), plan_of_transpose);
  EXPECT_TRUE(A.has_transposed());
}

TEST(DeviceTranspose, IsNotMadeWhereItPadsTooMuch) {
  std::vector<std::vector<idx>> rows(3000, {7});  // a full column: a full row among empty ones
  const Pattern pattern = pattern_of(3000, rows);
  PretendedDevice device;
  PackedMatrix A(pattern.view(), {{1, 1}, {Field::real, Precision::double_}}, parse_plan("ellr", {}), device);
  const int allocations = device.allocations;

  const auto why = A.prepare_transposed(pattern.view(), plan_of_transpose, TransposedValues::copy, 4);

  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find("layout ellr would have"), std::string::npos) << *why;
  EXPECT_FALSE(A.has_transposed());
  EXPECT_EQ(device.allocations, allocations);
}

TEST(DeviceTranspose, CostsTheHostNothing) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  const auto operands = one_by_one(pattern);
  RecordingBackend host;
  PackedMatrix A(pattern.view(), operands.problem(), parse_plan("sell:8", {}), host);
  A.update_values(operands.blocks.data());
  const int allocations = host.allocations;
  EXPECT_TRUE(A.has_transposed());

  A.prepare_transposed(pattern.view(), plan_of_transpose);

  EXPECT_EQ(host.allocations, allocations);
  EXPECT_TRUE(agrees(multiplied(A, operands, Op::transpose, Form::assign),
                     reference_product(operands, Precision::double_, Op::transpose, Form::assign)));
}

TEST(Reschedule, KeepsTheWordsAndMakesOtherCode) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  const auto operands = one_by_one(pattern);
  PretendedDevice device;
  PackedMatrix A = packed(operands, parse_plan("csr", {}), device);
  const int allocations = device.allocations, packs = device.packs, codes = device.codes;

  auto other = A.scheduled(parse_plan("csr plain", {}).schedule);
  A.swap(other);

  EXPECT_EQ(A.plan(), parse_plan("csr plain", {}));
  EXPECT_EQ(other.schedule, parse_plan("csr", {}).schedule);
  EXPECT_EQ(device.codes, codes + 1);
  EXPECT_EQ(device.allocations, allocations);
  EXPECT_EQ(device.packs, packs);
  for (const Op op : ops)
    EXPECT_TRUE(agrees(multiplied(A, operands, op, Form::assign),
                       reference_product(operands, Precision::double_, op, Form::assign)));
}

TEST(Reschedule, RefusesWithTheReasonAndLeavesTheOldSchedule) {
  const Pattern pattern = random_pattern(30, 20, 5, 1);
  const auto operands = one_by_one(pattern);
  PackedMatrix A = packed(operands, parse_plan("sell:8", {}));

  EXPECT_ERROR(A.scheduled(parse_plan("lanes=4", {}).schedule), ErrorKind::argument,
               "the host backend has one worker a row: lanes=1");
  EXPECT_ERROR(A.scheduled(parse_plan("threads=128 blocks=8", {}).schedule), ErrorKind::argument,
               "threads=, blocks=, unroll=, static, dynamic, stream and carries=atomic are for devices");

  EXPECT_EQ(A.plan(), parse_plan("sell:8", {}));
  EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                     reference_product(operands, Precision::double_, Op::none, Form::assign)));
}

TEST(DeviceMatrixOfRows, TakesNewValuesInOnePassAndAllocatesNothing) {
  Random random;
  const Pattern pattern = random_pattern(50, 40, 9, test_seed());
  Operands<double> operands(pattern, "dense", {3, 2}, random);
  for (const char* text :
       {"csr", "csr words=32", "sell:8:16", "sell:32 longest=3 + ccoo:32", "ellr width=3 + ccoo:32"}) {
    SCOPED_TRACE(std::string(text) + ", " + seed_text());
    RecordingBackend device("recording", Reach::device);
    const Plan plan = parse_plan(text, {});
    PackedMatrix A(pattern.view(), given_in_rows(operands.problem()), plan, device);
    const int allocations = device.allocations;
    const auto bytes = A.bytes().total();
    for (int n = 1; n <= 2; ++n) {
      operands.blocks = random_blocks<double>("dense", {3, 2}, pattern.view().entries(), random);
      const auto values = in_rows(pattern, {3, 2}, operands.blocks);

      A.update_values(values.data(), Memory::backend);

      EXPECT_EQ(device.packs, n * static_cast<int>(parts(plan).size()));
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                         reference_product(operands, plan.values, Op::none, Form::assign)));
    }
    EXPECT_EQ(A.bytes().total(), bytes);
    EXPECT_EQ(device.allocations, allocations + 6);  // x, z and y of two products
  }
}

}  // namespace
}  // namespace compound::test
