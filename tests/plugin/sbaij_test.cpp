// sbaijcompound beside PETSc's sbaij and aij: products, changes of values and patterns, conversions, solvers.
#include <fstream>

#include "device.hpp"
#include "log_events.hpp"
#include "symmetric_ring.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

/// Both triangles, by PETSc.
Matrix full_ring(PetscInt bs, Mirror mirror) {
  auto A = empty_ring(MATAIJ, bs, "none_");
  fill_ring(A, bs, mirror);
  return A;
}

Matrix upper_ring(const char* type, PetscInt bs, Mirror mirror) {
  auto A = empty_ring(type, bs, "upper_");
  if (mirror == Mirror::hermitian && PetscDefined(USE_COMPLEX)) PETSC_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  fill_ring(A, bs, mirror);
  return A;
}

std::string plan_of(Mat A) {
  const char* plan;
  PETSC_OK(MatCompoundGetPlan(A, &plan));
  return plan;
}

struct Options {
  explicit Options(const std::string& text) { PETSC_OK(PetscOptionsInsertString(nullptr, text.c_str())); }
  ~Options() {
    for (const char* name : {"plan", "layout", "precision", "backend", "block_size", "tune", "entry"})
      (void)PetscOptionsClearValue(nullptr, (std::string("-upper_mat_compound_") + name).c_str());
  }
};

struct Size : testing::TestWithParam<PetscInt> {};
INSTANTIATE_TEST_SUITE_P(All, Size, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11));

TEST_P(Size, MultipliesByTheArraysOfTheMatrix) {
  const PetscInt bs = GetParam();
  const auto A = upper_ring("sbaijcompound", bs, Mirror::symmetric), full = full_ring(bs, Mirror::symmetric);
  expect_same_products(A, full, "blocks of " + std::to_string(bs));
  EXPECT_NE(plan_of(A).find("csr"), std::string::npos) << plan_of(A);
  EXPECT_NE(plan_of(A).find("half=symmetric"), std::string::npos) << plan_of(A);
  MatCompoundInfo info;
  PETSC_OK(MatCompoundGetInfo(A, &info));
  EXPECT_GT(info.products, 0);
  if (size() == 1) {
    EXPECT_EQ(info.value_packs, 0);
  }
}

struct Asked : testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Asked,
                         testing::Values("-upper_mat_compound_layout sell", "-upper_mat_compound_layout hdia",
                                         "-upper_mat_compound_plan csr", "-upper_mat_compound_plan ccoo",
                                         "-upper_mat_compound_plan half=symmetric", "-upper_mat_compound_block_size 2",
                                         "-upper_mat_compound_block_size find", "-upper_mat_compound_tune measure",
                                         "-upper_mat_compound_layout sell -upper_mat_compound_tune measure",
                                         "-upper_mat_compound_entry dense", "-upper_mat_compound_backend petsc"),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

/// Whatever is asked for, both triangles are multiplied, and new values are taken.
TEST_P(Asked, MultipliesBothTriangles) {
  const Options options(GetParam());
  const auto A = upper_ring("sbaijcompound", 4, Mirror::symmetric), full = full_ring(4, Mirror::symmetric);
  expect_same_products(A, full, GetParam());
  for (Mat m : {Mat(A), Mat(full)}) PETSC_OK(MatScale(m, 3.0));
  expect_same_products(A, full, std::string(GetParam()) + ", scaled");
}

TEST(Sbaij, PinsLayouts) {
  const auto full = full_ring(3, Mirror::symmetric);
  for (const char* layout : {"csr", "ellr", "sell", "bellpack", "dia", "hdia", "ccoo"}) {
    const std::string type = std::string("sbaijcompound") + layout;
    const auto A = upper_ring(type.c_str(), 3, Mirror::symmetric);
    expect_same_products(A, full, type);
    EXPECT_NE(plan_of(A).find(layout), std::string::npos) << plan_of(A);
  }
}

TEST(Sbaij, WordsOfFloats) {
  const Options options("-upper_mat_compound_precision single");
  const auto A = upper_ring("sbaijcompound", 3, Mirror::symmetric), full = full_ring(3, Mirror::symmetric);
  const auto x = right_vector(full, 1), found = right_vector(full, 2), wanted = right_vector(full, 3);
  PETSC_OK(MatMult(A, x, found));
  PETSC_OK(MatMult(full, x, wanted));
  expect_same(found, wanted, "words of floats", 1e-6);
  EXPECT_NE(plan_of(A).find("values=float"), std::string::npos) << plan_of(A);
}

/// A complex matrix is Hermitian once it says so, and symmetric again; PETSc's has blocks of 1 then.
TEST(Sbaij, HermitianWhenItSaysSo) {
  if (!PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "real matrices are Hermitian if they are symmetric";
  const auto A = upper_ring("sbaijcompound", 1, Mirror::symmetric), full = full_ring(1, Mirror::symmetric),
             hermitian = full_ring(1, Mirror::hermitian);
  expect_same_products(A, full, "symmetric");
  PETSC_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  expect_same_products(A, hermitian, "Hermitian");
  for (const char* options : {"-upper_mat_compound_layout sell", "-upper_mat_compound_backend petsc"}) {
    const Options asked(options);
    const auto B = upper_ring("sbaijcompound", 1, Mirror::hermitian);
    PETSC_OK(MatSetOption(B, MAT_HERMITIAN, PETSC_TRUE));  // PETSc's own products forget it at the first assembly
    expect_same_products(B, hermitian, options);
    Matrix copy;
    PETSC_OK(MatDuplicate(B, MAT_COPY_VALUES, copy.out()));
    expect_same_products(copy, hermitian, std::string("duplicate, ") + options);
  }
  PETSC_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_FALSE));
  PETSC_OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  expect_same_products(A, full, "symmetric again");
}

struct Change {
  const char* name;
  void (*change)(Mat A);
};
void PrintTo(const Change& c, std::ostream* out) { *out << c.name; }

void set(Mat A, PetscInt i, PetscInt j, PetscScalar v, InsertMode mode) {
  PetscInt begin, end;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  if (begin <= i && i < end) PETSC_OK(MatSetValue(A, i, j, v, mode));
  assemble(A);
}

const Change changes[] = {
    {"scale", [](Mat A) { PETSC_OK(MatScale(A, 2.5)); }},
    {"shift", [](Mat A) { PETSC_OK(MatShift(A, 1.5)); }},
    {"zero_entries", [](Mat A) { PETSC_OK(MatZeroEntries(A)); }},
    {"set_value", [](Mat A) { set(A, 4, 5, 7.0, INSERT_VALUES); }},
    {"add_value", [](Mat A) { set(A, 4, 4, 7.0, ADD_VALUES); }},
    {"new_block", [](Mat A) { set(A, 0, 20, 3.0, INSERT_VALUES); }},
    {"real_part", [](Mat A) { PETSC_OK(MatRealPart(A)); }},
    {"imaginary_part", [](Mat A) { PETSC_OK(MatImaginaryPart(A)); }},
    {"conjugate", [](Mat A) { PETSC_OK(MatConjugate(A)); }},
    {"zero_rows_and_columns",
     [](Mat A) {
       const PetscInt row = 4;
       if (PETSC_VERSION_LT(3, 19, 0) && size() > 1) return;  // PETSc has none there
       PETSC_OK(MatZeroRowsColumns(A, rank() == 0 ? 1 : 0, &row, 2.0, nullptr, nullptr));
     }},
    {"diagonal_scale",
     [](Mat A) {
       const auto d = right_vector(A, 7);
       PETSC_OK(MatDiagonalScale(A, d, d));
     }},
    {"axpy_of_another_pattern",
     [](Mat A) {
       Matrix B;
       PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
       PETSC_OK(MatSetOption(B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
       PETSC_OK(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
       set(B, 0, 20, 3.0, INSERT_VALUES);
       PETSC_OK(MatAXPY(A, 0.5, B, DIFFERENT_NONZERO_PATTERN));
     }},
    {"copy",
     [](Mat A) {
       Matrix B;
       PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
       PETSC_OK(MatScale(B, 4.0));
       PETSC_OK(MatCopy(B, A, SAME_NONZERO_PATTERN));
     }},
    {"array",
     [](Mat A) {
       Mat part = A;
       PetscScalar* values;
       if (size() > 1) PETSC_OK(MatGetDiagonalBlock(A, &part));
       PETSC_OK(MatSeqSBAIJGetArray(part, &values));
       values[0] += 5.0;
       PETSC_OK(MatSeqSBAIJRestoreArray(part, &values));
       if (size() > 1) assemble(A);
     }},
    {"preallocated_anew",
     [](Mat A) {
       PETSC_OK(MatSeqSBAIJSetPreallocation(A, 2, 8, nullptr));
       PETSC_OK(MatMPISBAIJSetPreallocation(A, 2, 8, nullptr, 8, nullptr));
       fill_ring(A, 2, Mirror::symmetric);
       PETSC_OK(MatScale(A, 2.0));
     }},
    {"transposed_in_place", [](Mat A) { PETSC_OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A)); }},
};

struct Changed : testing::TestWithParam<Change> {};
INSTANTIATE_TEST_SUITE_P(All, Changed, testing::ValuesIn(changes), [](const auto& i) { return i.param.name; });

/// After a product, so that what was packed or kept is old.
TEST_P(Changed, ProductsFollow) {
  for (const char* options : {"", "-upper_mat_compound_layout sell"}) {
    const Options asked(options);
    const auto A = upper_ring("sbaijcompound", 2, Mirror::symmetric),
               reference = upper_ring(MATSBAIJ, 2, Mirror::symmetric);
    const auto x = right_vector(A, 1), y = right_vector(A, 2);
    PETSC_OK(MatMult(A, x, y));
    for (Mat m : {Mat(A), Mat(reference)}) {
      PETSC_OK(MatSetOption(m, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
      PETSC_OK(MatSetOption(m, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      GetParam().change(m);
    }
    // PETSc's conversions read what is below the diagonal of diagonal blocks, its products what is above.
    expect_same_products(A, reference, std::string(GetParam().name) + " " + options);
    MatType type;
    PETSC_OK(MatGetType(A, &type));
    EXPECT_STREQ(type, size() == 1 ? "seqsbaijcompound" : "mpisbaijcompound");
  }
}

/// On several processes PETSc's adds but one scalar a block.
TEST(Sbaij, AddsMatrices) {
  const auto A = upper_ring("sbaijcompound", 3, Mirror::symmetric),
             B = upper_ring("sbaijcompound", 3, Mirror::symmetric), full = full_ring(3, Mirror::symmetric);
  const auto x = right_vector(A, 1), y = right_vector(A, 2);
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(MatAXPY(A, 0.5, B, SAME_NONZERO_PATTERN));
  PETSC_OK(MatScale(full, 1.5));
  expect_same_products(A, full, "A + A / 2");
}

/// PETSc's MatAXPY() puts parts of the base type into it.
TEST(Sbaij, IsCopiedWhereAnotherPatternWasAdded) {
  for (const MatStructure structure : {DIFFERENT_NONZERO_PATTERN, SUBSET_NONZERO_PATTERN})
    for (const bool is_from : {false, true}) {
      const auto changed = upper_ring("sbaijcompound", 1, Mirror::symmetric),
                 other = upper_ring("sbaijcompound", 1, Mirror::symmetric), full = full_ring(1, Mirror::symmetric);
      PETSC_OK(MatAXPY(changed, 0.5, other, structure));
      PETSC_OK(is_from ? MatCopy(changed, other, SAME_NONZERO_PATTERN) : MatCopy(other, changed, SAME_NONZERO_PATTERN));
      if (is_from) PETSC_OK(MatScale(full, 1.5));
      expect_same_products(is_from ? other : changed, full, "copied");
    }
}

/// PETSc's stored values of larger blocks are read beyond their arrays.
TEST(Sbaij, RetrievesStoredValues) {
  const auto A = upper_ring("sbaijcompound", 1, Mirror::symmetric), full = full_ring(1, Mirror::symmetric);
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PETSC_OK(MatStoreValues(A));
  PETSC_OK(MatScale(A, 9.0));
  const auto x = right_vector(A, 1), y = right_vector(A, 2);
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(MatRetrieveValues(A));
  expect_same_products(A, full, "stored values");
}

TEST(Sbaij, Converts) {
  const auto full = full_ring(3, Mirror::symmetric), A = upper_ring("sbaijcompound", 3, Mirror::symmetric);
  for (const char* to : {MATAIJ, MATBAIJ, MATSBAIJ, "aijcompound", "baijcompound", "sbaijcompound"}) {
    Matrix B;
    PETSC_OK(MatConvert(A, to, MAT_INITIAL_MATRIX, B.out()));
    expect_same_products(B, full, std::string("to ") + to);
    PETSC_OK(MatConvert(A, to, MAT_REUSE_MATRIX, B.in_place()));
    expect_same_products(B, full, std::string("again to ") + to);
  }
  for (const char* from : {MATAIJ, MATBAIJ, MATSBAIJ, "aijcompound", "baijcompound"}) {
    auto B = empty_ring(from, 3, "none_");
    fill_ring(B, 3, Mirror::symmetric);
    PETSC_OK(MatSetOption(B, MAT_SYMMETRIC, PETSC_TRUE));
    Matrix C;
    PETSC_OK(MatConvert(B, "sbaijcompound", MAT_INITIAL_MATRIX, C.out()));
    expect_same_products(C, full, std::string("from ") + from);
    PETSC_OK(MatConvert(B, "sbaijcompound", MAT_INPLACE_MATRIX, B.in_place()));
    expect_same_products(B, full, std::string("in place from ") + from);
  }
}

TEST(Sbaij, WritesAndLoads) {
  const auto A = upper_ring("sbaijcompound", 3, Mirror::symmetric), full = full_ring(3, Mirror::symmetric);
  const std::string name = file_of_run("sbaij", ".dat");
  Viewer viewer;
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name.c_str(), FILE_MODE_WRITE, viewer.out()));
  PETSC_OK(MatView(full, viewer));  // one that has both triangles loads in all types
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name.c_str(), FILE_MODE_READ, viewer.out()));
  Matrix B;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, B.out()));
  PETSC_OK(MatSetBlockSize(B, 3));
  PETSC_OK(MatSetType(B, "sbaijcompound"));
  PETSC_OK(MatLoad(B, viewer));
  expect_same_products(B, full, "loaded");
  viewer.reset();
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) {
    std::remove(name.c_str());
    std::remove((name + ".info").c_str());
  }
}

/// On several processes PETSc refuses to assemble them.
TEST(Sbaij, RefusesRectangularMatrices) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_SELF, A.out()));
  PETSC_OK(MatSetSizes(A, 4, 6, 4, 6));
  PETSC_OK(MatSetType(A, "sbaijcompound"));
  PETSC_OK(MatSetUp(A));
  PETSC_OK(MatSetValue(A, 0, 5, 1.0, INSERT_VALUES));
  assemble(A);
  const auto x = right_vector(A, 1), y = left_vector(A, 2);
  const auto found = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("square matrix, not of one of 4 block rows and 6 block columns"), std::string::npos)
      << found.message;
}

/// Of each process's own rows, and of all rows on each process.
TEST(Sbaij, Submatrices) {
  const auto A = upper_ring("sbaijcompound", 2, Mirror::symmetric), full = full_ring(2, Mirror::symmetric);
  PetscInt begin, end;
  Indices own, all;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, end - begin, begin, 1, own.out()));
  PETSC_OK(ISCreateStride(PETSC_COMM_SELF, 2 * ring_nodes, 0, 1, all.out()));
  Matrix B, of_full;
  PETSC_OK(MatCreateSubMatrix(A, own, own, MAT_INITIAL_MATRIX, B.out()));
  PETSC_OK(MatCreateSubMatrix(full, own, own, MAT_INITIAL_MATRIX, of_full.out()));
  expect_same_products(B, of_full, "own rows and columns");
  MatType type;
  PETSC_OK(MatGetType(B, &type));
  EXPECT_STREQ(type, size() == 1 ? "seqsbaijcompound" : "mpisbaijcompound");
  for (Mat m : {Mat(A), Mat(full)}) PETSC_OK(MatScale(m, 2.0));
  PETSC_OK(MatCreateSubMatrix(A, own, own, MAT_REUSE_MATRIX, B.in_place()));
  PETSC_OK(MatCreateSubMatrix(full, own, own, MAT_REUSE_MATRIX, of_full.in_place()));
  expect_same_products(B, of_full, "the same again");
  Mat *of_A, *of_aij;
  const IS whole = all;
  PETSC_OK(MatCreateSubMatrices(A, 1, &whole, &whole, MAT_INITIAL_MATRIX, &of_A));
  PETSC_OK(MatCreateSubMatrices(full, 1, &whole, &whole, MAT_INITIAL_MATRIX, &of_aij));
  const auto x = right_vector(of_aij[0], 1), found = left_vector(of_aij[0], 2), wanted = left_vector(of_aij[0], 3);
  PETSC_OK(MatMult(of_A[0], x, found));
  PETSC_OK(MatMult(of_aij[0], x, wanted));
  expect_same(found, wanted, "all rows on each process");
  PETSC_OK(MatDestroySubMatrices(1, &of_A));
  PETSC_OK(MatDestroySubMatrices(1, &of_aij));
}

TEST(Sbaij, OtherOperations) {
  const auto A = upper_ring("sbaijcompound", 3, Mirror::symmetric), full = full_ring(3, Mirror::symmetric);
  const auto found = right_vector(full, 1), wanted = right_vector(full, 2);
  PETSC_OK(MatGetDiagonal(A, found));
  PETSC_OK(MatGetDiagonal(full, wanted));
  expect_same(found, wanted, "the diagonal");
  PetscReal of_A, of_full;
  PETSC_OK(MatNorm(A, NORM_FROBENIUS, &of_A));
  PETSC_OK(MatNorm(full, NORM_FROBENIUS, &of_full));
  EXPECT_NEAR(of_A, of_full, 1e-12 * of_full);
  Matrix dense, product, product_of_full;
  PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, 3, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, dense.out()));
  dense.reset();
  PetscInt n;
  PETSC_OK(MatGetLocalSize(full, &n, nullptr));
  PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, dense.out()));
  PETSC_OK(MatSetRandom(dense, nullptr));
  PETSC_OK(MatMatMult(A, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));
  PETSC_OK(MatMatMult(full, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product_of_full.out()));
  PETSC_OK(MatAXPY(product, -1.0, product_of_full, SAME_NONZERO_PATTERN));
  PETSC_OK(MatNorm(product, NORM_FROBENIUS, &of_A));
  PETSC_OK(MatNorm(product_of_full, NORM_FROBENIUS, &of_full));
  EXPECT_LE(of_A, 1e-13 * of_full);
}

TEST(Sbaij, ViewSaysWhatIsMultiplied) {
  const auto A = upper_ring("sbaijcompound", 3, Mirror::symmetric);
  const auto x = right_vector(A, 1), y = right_vector(A, 2);
  PETSC_OK(MatMult(A, x, y));
  const std::string text = view_of("sbaij", A);
  EXPECT_NE(text.find("half=symmetric"), std::string::npos) << text;
  const auto reference = upper_ring(MATSBAIJ, 3, Mirror::symmetric);
  const auto numbers = [](const std::string& view) { return view.substr(view.find("row 0")); };
  EXPECT_EQ(numbers(view_of("sbaij", A, PETSC_VIEWER_DEFAULT)),
            numbers(view_of("sbaij", reference, PETSC_VIEWER_DEFAULT)));
}

struct SbaijOnDevice : DeviceTest {};

/// Both triangles are packed there; new values and the way back to the host work.
TEST_F(SbaijOnDevice, MultipliesBothTriangles) {
  const Mirror mirror = PetscDefined(USE_COMPLEX) ? Mirror::hermitian : Mirror::symmetric;
  for (const PetscInt bs : {1, 3, 4}) {
    if (PetscDefined(USE_COMPLEX) && bs > 1) continue;
    const auto A = upper_ring("sbaijcompound", bs, mirror), full = full_ring(bs, mirror);
    PETSC_OK(MatCompoundSetBackend(A, "cuda"));
    EXPECT_TRUE(same_everywhere(A, full, 7)) << bs;
    EXPECT_EQ(plan_of(A).find("half="), std::string::npos) << plan_of(A);
    for (Mat m : {Mat(A), Mat(full)}) PETSC_OK(MatScale(m, 2.0));
    EXPECT_TRUE(same_everywhere(A, full, 8)) << bs << ", scaled";
    PETSC_OK(MatCompoundSetBackend(A, "host"));
    expect_same_products(A, full, "on the host again");
  }
}

TEST_F(SbaijOnDevice, MultipliesAHalfWhereThePlanSaysSo) {
  const Mirror mirror = PetscDefined(USE_COMPLEX) ? Mirror::hermitian : Mirror::symmetric;
  const PetscInt bs = PetscDefined(USE_COMPLEX) ? 1 : 3;
  const auto A = upper_ring("sbaijcompound", bs, mirror), full = full_ring(bs, mirror);
  PETSC_OK(MatCompoundSetBackend(A, "cuda"));
  PETSC_OK(MatCompoundSetPlan(A, mirror == Mirror::hermitian ? "half=hermitian" : "half=symmetric"));
  EXPECT_TRUE(same_everywhere(A, full, 7));
  EXPECT_NE(plan_of(A).find("columns=patch"), std::string::npos) << plan_of(A);
  for (Mat m : {Mat(A), Mat(full)}) PETSC_OK(MatScale(m, 2.0));
  EXPECT_TRUE(same_everywhere(A, full, 8)) << "scaled";
}

TEST_F(SbaijOnDevice, Solves) {
  const Mirror mirror = PetscDefined(USE_COMPLEX) ? Mirror::hermitian : Mirror::symmetric;
  const PetscInt bs = PetscDefined(USE_COMPLEX) ? 1 : 3;
  const auto A = upper_ring("sbaijcompound", bs, mirror), full = full_ring(bs, mirror);
  const auto wanted = right_vector(full, 3);
  auto b = right_vector(full, 4);
  PETSC_OK(MatMult(full, wanted, b));
  for (const char* preconditioner : {PCJACOBI, PCPBJACOBI}) {
    const auto b_there = on_side(b, true), x = on_side(b, true);
    const auto ksp = solver_for(A, "cgcompound", preconditioner);
    PETSC_OK(KSPSetTolerances(ksp, 1e-12, 1e-50, 1e5, 300));
    PETSC_OK(KSPSolve(ksp, b_there, x));
    expect_same(on_side(x, false), wanted, preconditioner, 1e-10);
  }
}

/// As the preconditioner asm does.
TEST(Sbaij, IsNotPackedAgainWhereOverlapsGrow) {
  const auto A = upper_ring("sbaijcompoundsell", 3, Mirror::symmetric);
  const auto x = right_vector(A, 3), y = left_vector(A, 4);
  const auto packs_of_product = [&] { return added_to("MatCompoundPack", [&] { PETSC_OK(MatMult(A, x, y)); }).count; };
  Handle<IS, ISDestroy> rows;
  PetscInt first, end;
  PETSC_OK(PetscLogDefaultBegin());
  EXPECT_GT(packs_of_product(), 0);
  PETSC_OK(MatGetOwnershipRange(A, &first, &end));
  PETSC_OK(ISCreateStride(PETSC_COMM_SELF, end - first, first, 1, rows.out()));

  PETSC_OK(MatIncreaseOverlap(A, 1, rows.in_place(), 1));

  EXPECT_EQ(packs_of_product(), 0);
}

struct Solve : testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Solve,
                         testing::Values("-ksp_type cg -pc_type jacobi", "-ksp_type cg -pc_type pbjacobi",
                                         "-ksp_type cg -pc_type pbjacobicompound",
                                         "-ksp_type cgcompound -pc_type jacobi",
                                         "-ksp_type cg -pc_type bjacobi -sub_pc_type icc",
                                         "-ksp_type cg -pc_type bjacobi -sub_pc_type cholesky",
                                         "-ksp_type cg -pc_type asm -sub_pc_type icc",
                                         "-ksp_type cg -pc_type redundant", "-ksp_type bcgs -pc_type none",
                                         "-ksp_type bcgscompound -pc_type jacobi", "-ksp_type cgcompound -pc_type none",
                                         "-ksp_type minres -pc_type none"),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

TEST_P(Solve, AsPetscDoes) {
  const auto solved = [](const char* type) {
    const bool hermitian = PetscDefined(USE_COMPLEX) && std::strstr(GetParam(), "bcgs") == nullptr;
    const auto A = hermitian ? upper_ring(type, 1, Mirror::hermitian) : upper_ring(type, 3, Mirror::symmetric);
    const auto b = right_vector(A, 3);
    auto x = right_vector(A, 4);
    Solver ksp;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOptionsPrefix(ksp, "sbaij_"));
    std::string options = GetParam();
    for (std::size_t at = 0; (at = options.find('-', at)) != std::string::npos; at += 7)
      options.insert(at + 1, "sbaij_");
    PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPSetTolerances(ksp, 1e-11, 1e-50, 1e5, 300));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    PETSC_OK(KSPSolve(ksp, b, x));
    KSPConvergedReason reason;
    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0) << type;
    return x;
  };
  const std::string options = GetParam();
  if (PetscDefined(USE_COMPLEX) &&
      (options.find("sub_pc") != options.npos || options.find("redundant") != options.npos))
    GTEST_SKIP() << "PETSc factors complex matrices as symmetric ones, not as Hermitian ones";
  expect_same(solved("sbaijcompound"), solved("aijcompound"), GetParam(), 1e-8);
}

}  // namespace
