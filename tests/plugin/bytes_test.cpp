// The bytes that are reported are the bytes that are taken: base type and packed storage, against the allocator's own
// count.
#include <cmath>
#include <cstdint>

#include "allocated.hpp"
#include "systems.hpp"

namespace {

using namespace petsc_test;

constexpr int block_rows = 4000, row_length = 15, bs = 3;

/// Sequential, on every process; `row_length` blocks a row.
Matrix large(const std::string& type) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_SELF, A.out()));
  PETSC_OK(MatSetSizes(A, block_rows * bs, block_rows * bs, block_rows * bs, block_rows * bs));
  PETSC_OK(MatSetBlockSize(A, bs));
  PETSC_OK(MatSetType(A, type.c_str()));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(MatSeqBAIJSetPreallocation(A, bs, row_length, nullptr));
  PETSC_OK(MatSeqAIJSetPreallocation(A, row_length * bs, nullptr));
  std::vector<PetscInt> cols(row_length);
  const std::vector<PetscScalar> words(row_length * bs * bs, 1.0);
  for (PetscInt row = 0; row < block_rows; ++row) {
    for (PetscInt k = 0; k < row_length; ++k) cols[k] = (row + k * 17) % block_rows;
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, row_length, cols.data(), words.data(), INSERT_VALUES));
  }
  assemble(A);
  return A;
}

class Types : public testing::TestWithParam<std::string> {};

struct Copy {
  const char *name, *type, *option, *value;
  PetscInt64 packed;  ///< bytes expected, integers aside; -1: not checked
};
void PrintTo(const Copy& c, std::ostream* out) { *out << c.name; }

constexpr PetscInt64 blocks = PetscInt64{block_rows} * row_length;
constexpr PetscInt64 values = blocks * bs * bs * static_cast<PetscInt64>(sizeof(PetscScalar));

const Copy copies[] = {
    {"by_rule", MATBAIJCOMPOUND, "", "", -1},
    {"csr", MATBAIJCOMPOUNDCSR, "", "", 0},
    {"csr_rows", MATBAIJCOMPOUND, "-mat_compound_plan", "csr words=1:row", values},
    {"sell", MATBAIJCOMPOUNDSELL, "", "", values},
    {"bellpack", MATBAIJCOMPOUNDBELLPACK, "", "", values},
    {"dia", MATBAIJCOMPOUNDDIA, "", "", -1},
    {"hdia", MATBAIJCOMPOUNDHDIA, "", "", -1},
    {"ccoo", MATBAIJCOMPOUNDCCOO, "", "", 0},
    {"ellr", MATBAIJCOMPOUNDELLR, "", "", values},
    {"single", MATBAIJCOMPOUNDCSR, "-mat_compound_precision", "single", values / 2},
    {"in_single_scalars", MATBAIJCOMPOUNDCSR, "-mat_compound_block_size", "1", values},
    {"petsc", MATBAIJCOMPOUND, "-mat_compound_backend", "petsc", 0},
    {"full_blocks_of_scalars", MATAIJCOMPOUND, "", "", 0},
    {"sell_of_scalars", MATAIJCOMPOUNDSELL, "", "", values},
};

/// All from the heap, which takes back what aligning to a huge page skips. Of a mapping glibc counts that too, up to
/// 2 MB that are never touched. (Debian's libsuperlu_dist turns mappings off, so that its PETSc never has any.)
void allocate_from_heap() {
  if (has_count) {
    ASSERT_EQ(mallopt(M_MMAP_MAX, 0), 1);
  }
}

struct ParentBytes : testing::Test {
  static void SetUpTestSuite() { allocate_from_heap(); }
};
struct Bytes : testing::TestWithParam<Copy> {
  static void SetUpTestSuite() { allocate_from_heap(); }
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
    if (!has_count) GTEST_SKIP() << "the sanitizer's allocator does not count";
    if (*GetParam().option) PETSC_OK(PetscOptionsSetValue(nullptr, GetParam().option, GetParam().value));
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};

TEST_P(Bytes, OfPackedCopiesAreThoseAllocated) {
  const auto A = large(GetParam().type);
  const auto x = right_vector(A, 1), y = left_vector(A, 2);
  const auto before = allocated();

  PETSC_OK(MatMult(A, x, y));

  const auto taken = allocated() - before, told = info_of(A).packed_bytes;
  EXPECT_LE(std::abs(taken - told), told / 50 + 65536) << taken << " allocated, " << told << " told";
  if (GetParam().packed < 0) return;
  constexpr PetscInt64 integer = sizeof(PetscInt);
  const PetscInt64 integers = 2 * blocks * (GetParam().packed == values ? 9 : 1) * integer + 8 * integer * block_rows;
  EXPECT_GE(told, GetParam().packed);
  EXPECT_LE(told, GetParam().packed + integers);
}

TEST_P(Bytes, OfPackedCopiesAreGivenBackWithTheMatrix) {
  const auto before = allocated();
  for (int k = 0; k < 2; ++k) {
    const auto A = large(GetParam().type);
    const auto x = right_vector(A, 1), y = left_vector(A, 2);
    PETSC_OK(MatMult(A, x, y));
  }

  EXPECT_LE(std::abs(allocated() - before), 65536);
}

INSTANTIATE_TEST_SUITE_P(All, Bytes, testing::ValuesIn(copies),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_F(ParentBytes, AreThoseOfValuesColumnsAndRowStarts) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  if (!has_count) GTEST_SKIP() << "the sanitizer's allocator does not count";
  const auto before = allocated();
  const auto A = large(MATBAIJCOMPOUND);
  const auto taken = allocated() - before, told = info_of(A).base_bytes;

  EXPECT_EQ(told, values + (blocks + block_rows + 1) * static_cast<PetscInt64>(sizeof(PetscInt)));
  EXPECT_LE(told, taken);
  // Beside these PETSc keeps row lengths and the place of the diagonal.
  EXPECT_LE(taken, told + 16 * block_rows * static_cast<PetscInt64>(sizeof(PetscInt)) + 65536);
}

/// 4.3 MB of values, and those of a duplicate. PETSc frees them like all others.
TEST(LargeArrays, OfTheBaseTypeLieInHugePages) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  constexpr std::uintptr_t huge_page = 2 << 20;
  const auto before = PetscTrMalloc;
  const auto A = large(tested_type());
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));

  for (Mat mat : {Mat(A), Mat(copy)}) {
    PetscScalar* array;
    PETSC_OK(tested_is_of_scalars() ? MatSeqAIJGetArray(mat, &array) : MatSeqBAIJGetArray(mat, &array));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array) % huge_page, 0u);
    PETSC_OK(tested_is_of_scalars() ? MatSeqAIJRestoreArray(mat, &array) : MatSeqBAIJRestoreArray(mat, &array));
  }
  EXPECT_EQ(PetscTrMalloc, before);
}

TEST(DefaultPlan, TakesNoSecondCopyWithPetscsOwnIntegers) {
  if (!tested_is_compound() || sizeof(PetscInt) != 4) GTEST_SKIP() << "with 32-bit indices";
  const auto A = large(MATBAIJCOMPOUNDCSR);
  const auto x = right_vector(A, 1), y = left_vector(A, 2);

  PETSC_OK(MatMult(A, x, y));

  EXPECT_EQ(info_of(A).packed_bytes, 0);
}

/// What PETSc keeps of a submatrix's messages goes with it.
TEST_P(Types, FreeWhatTheirSubmatricesNeeded) {
  if (!has_count) GTEST_SKIP() << "skipped: the address sanitizer keeps what was freed, and finds leaks itself";
  const Matrix A = spd(GetParam(), 3);
  IS all;
  PetscInt n;
  PETSC_OK(MatGetSize(A, &n, nullptr));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, rank() == 0 ? n : 0, 0, 1, &all));
  PETSC_OK(ISSetBlockSize(all, 3));
  PetscInt64 before = 0;
  for (int i = 0; i < 220; ++i) {
    Mat part;
    if (i == 20) before = allocated();
    PETSC_OK(MatCreateSubMatrix(A, all, all, MAT_INITIAL_MATRIX, &part));
    PETSC_OK(MatDestroy(&part));
  }

  EXPECT_LT(allocated() - before, 100000) << "bytes of 200 submatrices, and of MPI's messages";

  PETSC_OK(ISDestroy(&all));
}

INSTANTIATE_TEST_SUITE_P(All, Types, testing::Values("baijcompound", "aijcompound", "sbaijcompound"),
                         [](const auto& type) { return type.param; });

}  // namespace
