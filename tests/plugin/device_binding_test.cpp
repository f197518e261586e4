// Binding matrices and vectors to the host by options, and which vectors a matrix makes.
#include "device.hpp"

namespace {

using namespace petsc_test;

const Problem& problem() {
  static const Problem p = random_problem(330, spread(3, 17, 17));
  return p;
}

/// Reads options without a prefix.
Matrix matrix() {
  auto A = empty_matrix(tested_type(), "", problem().shape);
  PETSC_OK(MatSetOptionsPrefix(A, nullptr));
  PETSC_OK(MatSetFromOptions(A));
  preallocate(A, problem());
  insert_blocks(A, problem(), problem().seed, INSERT_VALUES);
  assemble(A);
  return A;
}

bool makes_device_vectors(Mat A) {
  Vector x, y;
  PETSC_OK(MatCreateVecs(A, x.out(), y.out()));
  EXPECT_EQ(type_of(x), type_of(y));
  return type_of(x).find("cuda") != std::string::npos;
}

/// Whether a product with these vectors, which must be right, ran on the device.
bool runs_on_device(Mat A, Vec x, Vec y) {
  const auto plain = filled_matrix(MATBAIJ, "", problem());
  const auto x_host = right_vector(plain, 331), expected = left_vector(plain, 332);
  PETSC_OK(VecCopy(x_host, x));
  PETSC_OK(MatMult(plain, x_host, expected));
  PETSC_OK(MatMult(A, x, y));
  const auto found = on_side(y, false);
  PetscReal error;
  PETSC_OK(VecAXPY(found, -1.0, expected));
  PETSC_OK(VecNorm(found, NORM_INFINITY, &error));
  EXPECT_LE(error, 1e-12);
  const bool mine = info_of(A).device_bytes > 0;
  EXPECT_TRUE(all_ranks(mine) || all_ranks(!mine));
  return all_ranks(mine);
}

bool runs_device_vectors_on_device(Mat A) {
  const auto plain = filled_matrix(MATBAIJ, "", problem());
  return runs_on_device(A, on_side(right_vector(plain, 331), true), on_side(left_vector(plain, 332), true));
}

/// A vector of the matrix's size that is made as applications make theirs.
Vector vector_from_options(Mat A) {
  Vector v;
  PetscInt n, all;
  PETSC_OK(MatGetLocalSize(A, &n, nullptr));
  PETSC_OK(MatGetSize(A, &all, nullptr));
  PETSC_OK(VecCreate(PETSC_COMM_WORLD, v.out()));
  PETSC_OK(VecSetSizes(v, n, all));
  PETSC_OK(VecSetFromOptions(v));
  return v;
}

void give(const char* options) { PETSC_OK(PetscOptionsInsertString(nullptr, options)); }

struct DeviceBinding : DeviceTest {};

TEST_F(DeviceBinding, MatBindBelowBindsSmallMatrices) {
  give("-mat_bind_below 1000 -vec_type cuda");
  const auto A = matrix();

  EXPECT_FALSE(makes_device_vectors(A));
  EXPECT_FALSE(runs_device_vectors_on_device(A));
}

TEST_F(DeviceBinding, MatBindBelowLeavesLargerMatrices) {
  give("-mat_bind_below 2 -vec_type cuda");
  const auto A = matrix();

  EXPECT_TRUE(makes_device_vectors(A));
  EXPECT_TRUE(runs_device_vectors_on_device(A));
}

TEST_F(DeviceBinding, VecBindBelowKeepsProductsOfSmallVectorsOnTheHost) {
  give("-vec_type cuda -vec_bind_below 1000");
  const auto A = matrix();

  EXPECT_FALSE(runs_on_device(A, vector_from_options(A), vector_from_options(A)));
}

TEST_F(DeviceBinding, VecBindBelowLeavesLargerVectors) {
  give("-vec_type cuda -vec_bind_below 2");
  const auto A = matrix();

  EXPECT_TRUE(runs_on_device(A, vector_from_options(A), vector_from_options(A)));
}

TEST_F(DeviceBinding, DuplicatesInheritIt) {
  const auto A = matrix();
  for (const bool bound : {true, false}) {
    PETSC_OK(MatBindToCPU(A, bound ? PETSC_TRUE : PETSC_FALSE));
    Matrix copy;
    PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));

    PetscBool inherited;
    PETSC_OK(MatBoundToCPU(copy, &inherited));
    EXPECT_EQ(inherited == PETSC_TRUE, bound);
    EXPECT_EQ(runs_device_vectors_on_device(copy), !bound);
  }
}

TEST_F(DeviceBinding, VecTypeAsAnOptionMakesDeviceVectors) {
  give("-vec_type cuda");
  const auto A = matrix();

  EXPECT_TRUE(makes_device_vectors(A));
}

TEST_F(DeviceBinding, MatSetVecTypeMakesDeviceVectors) {
  const auto A = matrix();
  PETSC_OK(MatSetVecType(A, VECCUDA));
  Vector x, y;
  PETSC_OK(MatCreateVecs(A, x.out(), y.out()));
  EXPECT_TRUE(makes_device_vectors(A));
  EXPECT_TRUE(runs_on_device(A, x, y));
}

/// What holds without a device too.
TEST(HostBinding, DuplicatesInheritIt) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  if (!PetscDefined(HAVE_CUDA)) GTEST_SKIP() << "skipped: this PETSc binds nothing";
  for (const bool bound : {true, false}) {
    const auto A = matrix();
    PETSC_OK(MatBindToCPU(A, bound ? PETSC_TRUE : PETSC_FALSE));
    Matrix copy;
    PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));

    PetscBool inherited;
    PETSC_OK(MatBoundToCPU(copy, &inherited));
    EXPECT_EQ(inherited == PETSC_TRUE, bound);
  }
}

TEST(HostBinding, MatBindBelowBindsSmallMatrices) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  if (!PetscDefined(HAVE_CUDA)) GTEST_SKIP() << "skipped: this PETSc binds nothing";
  for (const bool bound : {true, false}) {
    give(bound ? "-mat_bind_below 1000" : "-mat_bind_below 2");
    const auto A = matrix();
    PETSC_OK(PetscOptionsClear(nullptr));

    PetscBool found;
    PETSC_OK(MatBoundToCPU(A, &found));
    EXPECT_EQ(found == PETSC_TRUE, bound);
  }
}

}  // namespace
