#include "entry_kinds.hpp"

#include <gtest/gtest.h>

#include "scalar_type.hpp"
#include "support/errors.hpp"

namespace compound::test {
namespace {

TEST(EntryKinds, AreFoundByName) {
  for (const EntryKind& kind : entry_kinds()) EXPECT_EQ(&entry_kind(kind.name), &kind);
}

TEST(EntryKinds, AreListedForAnUnknownName) {
  EXPECT_EQ(entry_kind_names(), "dense, complex, quaternion");
  EXPECT_ERROR(entry_kind("octonion"), ErrorKind::argument,
               "unknown entry 'octonion'; choose dense, complex, quaternion");
}

TEST(EntryKinds, HaveTheShapesOfTheDesign) {
  EXPECT_EQ(entry_kind("dense").shape(Field::real), EntryShape{});
  EXPECT_EQ(entry_kind("complex").shape(Field::real), (EntryShape{2, 2, 2, false}));
  EXPECT_EQ(entry_kind("quaternion").shape(Field::real), (EntryShape{4, 4, 4, false}));
  EXPECT_EQ(entry_kind("quaternion").shape(Field::complex), (EntryShape{2, 2, 4, true}));
}

TEST(EntryKinds, HaveNoComplexNumberInComplexMatrices) {
  EXPECT_EQ(entry_kind("complex").shape(Field::complex), EntryShape{});
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
