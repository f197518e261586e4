// MatAXPY() with another pattern and MatTranspose() in place move another matrix's insides into ours: what PETSc looks
// up by name on the matrix must be there at once, not from the next product on.
#include "coo_entries.hpp"

namespace {

using namespace petsc_test;

struct Merge {
  const char* name;
  void (*run)(Mat* A);
};
void PrintTo(const Merge& m, std::ostream* out) { *out << m.name; }

Matrix made(const std::string& type, std::uint64_t seed) {
  Random random(seed);
  const auto shape = spread(2, 9, 9);
  Matrix A;
  const auto plain = filled_matrix(MATBAIJ, "", {shape, random_blocks(random, shape, 0.3, true), seed});
  PETSC_OK(MatConvert(plain, type.c_str(), MAT_INITIAL_MATRIX, A.out()));
  return A;
}

const Merge merges[] = {
    {"axpy", [](Mat* A) { PETSC_OK(MatAXPY(*A, 0.5, made(type_of(*A), 12), DIFFERENT_NONZERO_PATTERN)); }},
    {"copied", [](Mat* A) { PETSC_OK(MatCopy(made(type_of(*A), 12), *A, DIFFERENT_NONZERO_PATTERN)); }},
    {"transposed", [](Mat* A) { PETSC_OK(MatTranspose(*A, MAT_INPLACE_MATRIX, A)); }},
};

struct MergedHeaders : testing::TestWithParam<Merge> {
  Matrix merged(const std::string& type) const {
    auto A = made(type, 11);
    GetParam().run(A.in_place());
    return A;
  }
};

INSTANTIATE_TEST_SUITE_P(All, MergedHeaders, testing::ValuesIn(merges),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(MergedHeaders, ConvertToOtherTypes) {
  const auto aij = merged(MATAIJ);
  for (const char* type : {MATIS, MATAIJ, MATBAIJ}) {
    const auto A = merged(tested_type());
    Matrix other, back;

    PETSC_OK(MatConvert(A, type, MAT_INITIAL_MATRIX, other.out()));

    PETSC_OK(MatConvert(other, MATAIJ, MAT_INITIAL_MATRIX, back.out()));
    EXPECT_TRUE(same_mult(back, aij, 19)) << type;
  }
}

TEST_P(MergedHeaders, MultiplyAsTheBaseTypeThatTheyBecome) {
  const auto aij = merged(MATAIJ);
  for (const bool in_place : {false, true}) {
    auto A = merged(tested_type());
    Matrix made;
    PETSC_OK(in_place ? MatConvert(A, parent_type().c_str(), MAT_INPLACE_MATRIX, A.in_place())
                      : MatConvert(A, parent_type().c_str(), MAT_INITIAL_MATRIX, made.out()));
    EXPECT_TRUE(same_mult(in_place ? A : made, aij, 19)) << (in_place ? "in place" : "another");
  }
}

/// PETSc's general conversion would allocate room for entries that do not exist.
TEST_P(MergedHeaders, ConvertToAijWithoutRoomToSpare) {
  Matrix aij;
  MatInfo info;
  const auto A = merged(tested_type());

  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));

  PETSC_OK(MatGetInfo(aij, MAT_GLOBAL_SUM, &info));
  EXPECT_EQ(info.nz_allocated, info.nz_used);
}

TEST_P(MergedHeaders, TakeCoordinates) {
  const auto shape = spread(2, 9, 9);
  const auto e = random_entries(13, shape, 60);
  const auto v = whole_values(14, e);
  const auto A = merged(tested_type()), aij = made_of(MATAIJ, shape, e);
  set(aij, v, INSERT_VALUES);

  PETSC_OK(preallocate(A, e));
  set(A, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 15));
}

TEST_P(MergedHeaders, MultiplyMatrices) {
  if (!tested_is_compound()) GTEST_SKIP() << "baij has no such products";
  const auto A = merged(tested_type()), aij = merged(MATAIJ), B = made(MATAIJ, 16);
  Matrix product, wanted, squared, wanted_squared;

  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));
  PETSC_OK(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, squared.out()));

  PETSC_OK(MatMatMult(aij, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  PETSC_OK(MatPtAP(aij, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted_squared.out()));
  EXPECT_TRUE(same_mult(product, wanted, 17));
  EXPECT_TRUE(same_mult(squared, wanted_squared, 18));
}

}  // namespace
