#include "entry/kinds.hpp"

#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "support/entry_cases.hpp"
#include "support/errors.hpp"

namespace compound::test {
namespace {

TEST(EntryKinds, AreFoundByName) {
  for (const EntryKind& kind : entry_kinds()) EXPECT_EQ(&entry_kind(kind.name), &kind);
}

TEST(EntryKinds, AreListedForAnUnknownName) {
  EXPECT_TRUE(entry_kind_names().starts_with("dense, complex, quaternion, ")) << entry_kind_names();
  EXPECT_ERROR(entry_kind("octonion"), ErrorKind::argument, "unknown entry 'octonion'; choose " + entry_kind_names());
}

TEST(EntryKinds, SayInHelpWhichAreApproximate) {
  EXPECT_TRUE(built_in_entry_names().starts_with("dense, complex, ")) << built_in_entry_names();
  EXPECT_NE(built_in_entry_names().find(", unit_quaternion (approximate)"), std::string::npos);
}

TEST(EntryKinds, HaveTheShapesOfTheDesign) {
  struct Case {
    std::string_view name;
    Field field;
    EntryShape shape;
  };
  constexpr Case cases[] = {
      {"dense", Field::real, {3, 5, 15, false}},
      {"dense", Field::complex, {12, 12, 144, false}},
      {"complex", Field::real, {2, 2, 2, false}},
      {"quaternion", Field::real, {4, 4, 4, false}},
      {"quaternion", Field::complex, {2, 2, 4, true}},
      {"dual_quaternion", Field::real, {8, 8, 8, false}},
      {"dual_quaternion", Field::complex, {4, 4, 8, true}},
      {"diagonal", Field::real, {3, 3, 3, false}},
      {"diagonal", Field::complex, {7, 7, 7, false}},
      {"scaled_identity", Field::real, {3, 3, 1, false}},
      {"scaled_identity", Field::complex, {32, 32, 1, false}},
      {"unit_quaternion", Field::real, {4, 4, 3, false}},
      {"unit_quaternion", Field::complex, {2, 2, 3, true}},
  };
  for (const Case& c : cases) {
    const BlockShape block{c.shape.rows, c.shape.cols};
    EXPECT_EQ(entry_kind(c.name).shape(c.field, block), c.shape) << c.name;
    EXPECT_EQ(entry_kind(c.name).why_not(c.field, block), "");
  }
}

TEST(EntryKinds, SayWhereTheyDoNotExist) {
  const auto why_not = [](std::string_view name, Field field, BlockShape block) {
    EXPECT_EQ(entry_kind(name).shape(field, block), EntryShape{}) << name;
    return entry_kind(name).why_not(field, block);
  };
  EXPECT_EQ(why_not("complex", Field::complex, {2, 2}), "entry complex does not exist in complex matrices");
  EXPECT_EQ(why_not("quaternion", Field::real, {3, 3}), "entry quaternion needs blocks of 4x4, the matrix has 3x3");
  EXPECT_EQ(why_not("diagonal", Field::real, {2, 3}),
            "entry diagonal needs square blocks of up to 32x32, the matrix has 2x3");
  EXPECT_EQ(why_not("scaled_identity", Field::real, {33, 33}),
            "entry scaled_identity needs square blocks of up to 32x32, the matrix has 33x33");
}

template <class S>
bool holds(const EntryCase& c, S multiple) {
  const Problem problem{c.in(scalar_type_of<S>().field), scalar_type_of<S>()};
  std::vector<S> block(std::size_t(problem.block.rows) * problem.block.cols);
  for (int i = 0; i < problem.block.rows; ++i) block[std::size_t(i) * (problem.block.rows + 1)] = multiple;
  return !backend("host").first_misfit({c.entry, problem, block.data(), 1});
}

/// What is found for blocks that are multiples of the identity goes by this (entry_choice.cpp).
TEST(EntryKinds, HoldTheMultiplesOfTheIdentityThatTheySay) {
  for (const EntryCase& c : square_entry_cases()) {
    const EntryKind& kind = entry_kind(c.entry);
    if (kind.approximate) continue;  // some of them, perhaps
    if (kind.shape(Field::real, c.real).words) {
      EXPECT_EQ(holds(c, 2.5), kind.multiples != Multiples::none) << c.entry;
    }
    if (kind.shape(Field::complex, c.complex).words) {
      EXPECT_EQ(holds(c, complex_number<double>{2.5, 0}), kind.multiples != Multiples::none) << c.entry;
      EXPECT_EQ(holds(c, complex_number<double>{2.5, -0.5}), kind.multiples == Multiples::all) << c.entry;
    }
  }
}

TEST(ScalarTypeOf, NamesTheScalarsOfTheDeviceText) {
  EXPECT_EQ(scalar_type_of<float>(), (ScalarType{Field::real, Precision::single}));
  EXPECT_EQ(scalar_type_of<complex_number<double>>(), (ScalarType{Field::complex, Precision::double_}));
}

TEST(BytesOf, AScalarTypeIsItsSizeInMemory) {
  EXPECT_EQ(bytes_of(scalar_type_of<float>()), sizeof(float));
  EXPECT_EQ(bytes_of(scalar_type_of<double>()), sizeof(double));
  EXPECT_EQ(bytes_of(scalar_type_of<complex_number<float>>()), sizeof(complex_number<float>));
  EXPECT_EQ(bytes_of(scalar_type_of<complex_number<double>>()), sizeof(complex_number<double>));
}

}  // namespace
}  // namespace compound::test
