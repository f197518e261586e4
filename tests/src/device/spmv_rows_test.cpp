// The kernel as a device will use it: forms known when compiled, and A^T gathered over the transposed pattern.
#include "device/spmv_rows.hpp"

#include <gtest/gtest.h>

#include "device/entry/complex.hpp"
#include "device/entry/dense.hpp"
#include "device/entry/quaternion.hpp"
#include "support/encoded.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

LayoutSpec spec_of(std::string_view text, Occupancy occupancy = Occupancy::lengths) {
  LayoutSpec spec = parse_layout(text);
  spec.occupancy = occupancy;
  return spec;
}

template <Op op, class Entry>
std::vector<typename Entry::scalar> scattered(const Encoded<Entry>& A, const Operands<typename Entry::scalar>& o) {
  std::vector<typename Entry::scalar> y(o.cols_vector.size());
  const auto p = A.product_of(o.x(op), o.z(op), y);
  for (idx position = 0; position < A.layout.positions; ++position) scatter_row<op>(p, position);
  return y;
}

/// The same by rows of A^T, reading A's words where they are.
template <Op op, Update update, int at_once = 1, class Entry>
std::vector<typename Entry::scalar> gathered(const Encoded<Entry>& A, const Operands<typename Entry::scalar>& o,
                                             const LayoutSpec& transposed_spec) {
  return gathered<op>(A, o, transposed_spec,
                      [](const auto& p, idx position) { multiply_row<op, update, 1, at_once>(p, position, 0); });
}

const LayoutSpec specs[] = {spec_of("csr"),
                            spec_of("ellr"),
                            spec_of("sell:8:16"),
                            spec_of("sell:32", Occupancy::presence),
                            spec_of("sell:2:all", Occupancy::presence),
                            spec_of("hdia:32")};

template <Op op, class Entry>
void expect_gather_is_scatter(const Entry& entry, const char* kind) {
  using S = typename Entry::scalar;
  const Pattern pattern = random_pattern(50, 40, 6, test_seed());
  Random random;
  const Operands<S> o(pattern, kind, {entry.rows(), entry.cols()}, random);
  const auto reference = reference_product(o, Precision::double_, op, Form::assign);
  const auto with_z = reference_product(o, Precision::double_, op, Form::add);
  for (const LayoutSpec& of_a : specs)
    for (const LayoutSpec& of_transposed : specs) {
      const Encoded<Entry> A(entry, o, of_a);
      const std::string where =
          std::string(kind) + ", A in " + layout_name(of_a) + ", A^T in " + layout_name(of_transposed);

      const auto by_scatter = scattered<op>(A, o);
      const auto by_gather = gathered<op, Update::assign>(A, o, of_transposed);

      EXPECT_TRUE(agrees(by_scatter, reference)) << where;
      EXPECT_TRUE(agrees(by_gather, reference)) << where;
      EXPECT_TRUE(of_a.sigma != 1 || same_bits(by_gather, by_scatter)) << where;  // both in the order of A's rows
      EXPECT_TRUE(agrees(gathered<op, Update::add>(A, o, of_transposed), with_z)) << where;
    }
}

template <class Entry>
void expect_gather_is_scatter_for_both(const Entry& entry, const char* kind) {
  SCOPED_TRACE(seed_text());
  expect_gather_is_scatter<Op::transpose>(entry, kind);
  expect_gather_is_scatter<Op::hermitian>(entry, kind);
}

TEST(TransposedGather, IsTheScatterForDenseBlocks) {
  expect_gather_is_scatter_for_both(dense<double, 3, 3>{}, "dense");
  expect_gather_is_scatter_for_both(dense<double, 2, 5>{}, "dense");
  expect_gather_is_scatter_for_both(dense<complex_number<double>, dynamic, dynamic>{3, 2}, "dense");
}

TEST(TransposedGather, IsTheScatterForComplexNumbersAndQuaternions) {
  expect_gather_is_scatter_for_both(complex_entry<double>{}, "complex");
  expect_gather_is_scatter_for_both(quaternion<double>{}, "quaternion");
  expect_gather_is_scatter_for_both(quaternion<complex_number<double>>{}, "quaternion");
}

template <Op op, class Entry>
void expect_steps_of_several_entries_change_nothing(const Pattern& pattern) {
  const Entry entry;
  Random random;
  const Operands<double> o(pattern, "dense", {entry.rows(), entry.cols()}, random);
  for (const LayoutSpec& spec : specs) {
    const Encoded<Entry> A(entry, o, spec);
    const auto one = gathered<op, Update::assign>(A, o, spec);

    EXPECT_TRUE(agrees(one, reference_product(o, Precision::double_, op, Form::assign))) << layout_name(spec);
    EXPECT_TRUE(same_bits(gathered<op, Update::assign, 2>(A, o, spec), one)) << layout_name(spec);
    EXPECT_TRUE(same_bits(gathered<op, Update::assign, 3>(A, o, spec), one)) << layout_name(spec);
  }
}

TEST(MultiplyRow, ByStepsOfSeveralEntriesGivesTheSameBits) {
  for (const ZooPattern& z : zoo()) {
    SCOPED_TRACE(std::string(z.name) + ", " + seed_text());
    expect_steps_of_several_entries_change_nothing<Op::none, dense<double, 3, 3>>(z.pattern);
    expect_steps_of_several_entries_change_nothing<Op::none, dense<double, 2, 5>>(z.pattern);
    expect_steps_of_several_entries_change_nothing<Op::transpose, dense<double, 2, 5>>(z.pattern);
  }
}

/// How a product of a form reads what was packed in that form: word by word, or all of an entry's at once.
template <slot_t Group, WordOrder Order, slot_t Padding>
using PackedWords = matrix_words<Group, Order, plain_words<>, Padding>;
template <WordOrder Order, slot_t Padding>
using HeldWords = wide_matrix_words<Order, Cache::keep, Padding>;

/// The same product with every integer that a device's compiler would know.
template <class Decoder, slot_t Group, WordOrder Order, slot_t VectorGroup, slot_t Padding = 0,
          class ReadWords = PackedWords<Group, Order, Padding>, int access = 0>
void expect_known_form_gives_the_same_bits(const char* layout, Occupancy occupancy) {
  using Entry = dense<double, 3, 2>;
  const Pattern pattern = random_pattern(64, 32, 6, test_seed());
  Random random;
  const Operands<double> o(pattern, "dense", {3, 2}, random);
  const Plan plan =
      parse_plan(std::string(layout) + (occupancy == Occupancy::presence ? " presence plain" : " plain"), {});
  const Layout l = encode(pattern.view(), plan.layout);
  const auto items = whole_groups(l.slots, Group);
  std::vector<double> values(items * (6 + Padding));
  const auto x = grouped(o.cols_vector, 2, VectorGroup == all_items ? group_all : idx(VectorGroup));
  std::vector<double> y(whole_groups(pattern.rows, VectorGroup) * 3, not_a_number<double>());
  using Words = PackedWords<Group, Order, Padding>;
  const auto map = map_of<Group, Padding>(l.slots);

  pack_all_slots(packing<Entry, double, Words>{{}, {map}, o.blocks.data(), values.data()}, plan.layout, l.args());
  const product<Entry, double, Decoder, ReadWords, vector_words<VectorGroup, access>> p{
      {},
      Decoder(l.args()),
      {map},
      {map_of<VectorGroup>(pattern.cols)},
      {map_of<VectorGroup>(pattern.rows)},
      {},
      values.data(),
      x.data(),
      nullptr,
      y.data()};
  for (idx position = 0; position < l.positions; ++position) multiply_row<Op::none, Update::assign, 1>(p, position, 0);

  const auto expected = multiplied(packed(o, plan), o, Op::none, Form::assign);
  EXPECT_EQ(plain(y, pattern.rows, 3, VectorGroup == all_items ? group_all : idx(VectorGroup)), expected)
      << layout << ", " << seed_text();
}

TEST(MultiplyRow, InFormsKnownWhenCompiledIsThatOfTheRunTimeForm) {
  using Kept = compressed_rows<RowOrder::kept, columns32<>>;
  using Listed = slices<32, Occupancy::lengths, RowOrder::listed, columns32<>>;
  const auto lengths = Occupancy::lengths, presence = Occupancy::presence;
  expect_known_form_gives_the_same_bits<Kept, 1, WordOrder::column, 1>("csr", lengths);
  expect_known_form_gives_the_same_bits<Kept, 32, WordOrder::row, 32>("csr", lengths);
  expect_known_form_gives_the_same_bits<Listed, 32, WordOrder::row, 1>("sell:32:64", lengths);
  expect_known_form_gives_the_same_bits<slices<32, Occupancy::presence, RowOrder::kept, columns32<>>, all_items,
                                        WordOrder::column, 8>("sell:32", presence);
  expect_known_form_gives_the_same_bits<slices<8, Occupancy::lengths, RowOrder::kept, columns32<>>, 8,
                                        WordOrder::column, all_items>("sell:8", lengths);
  expect_known_form_gives_the_same_bits<diagonal_slices<32, RowOrder::kept>, 32, WordOrder::column, 1>("hdia:32",
                                                                                                       lengths);
}

TEST(MultiplyRow, HoldingWordsIsThatOfTheRunTimeForm) {
  using Kept = compressed_rows<RowOrder::kept, columns32<>>;
  using Slices = slices<32, Occupancy::lengths, RowOrder::kept, columns32<>>;
  const auto lengths = Occupancy::lengths;
  constexpr auto row = WordOrder::row, column = WordOrder::column;
  expect_known_form_gives_the_same_bits<Kept, 1, column, 1, 0, HeldWords<column, 0>>("csr", lengths);
  expect_known_form_gives_the_same_bits<Slices, 1, row, 1, 0, HeldWords<row, 0>, 8>("sell:32", lengths);
  expect_known_form_gives_the_same_bits<Slices, 1, row, 1, 2, HeldWords<row, 2>>("sell:32", lengths);
  expect_known_form_gives_the_same_bits<Kept, 1, column, 1, 2>("csr", lengths);
}

TEST(MultiplyRow, WritesOnlyInLaneZero) {
  const Pattern pattern = pattern_of(1, {{0}});
  Random random;
  const Operands<double> o(pattern, "dense", {1, 1}, random);
  const Encoded<dense<double, 1, 1>> A({}, o, spec_of("csr"));
  std::vector<double> y(1, 7);

  multiply_row<Op::none, Update::assign, 1>(A.product_of(o.cols_vector, {}, y), 0, 1);

  EXPECT_EQ(y[0], 7);
}

}  // namespace
}  // namespace compound::test
