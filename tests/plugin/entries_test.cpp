// -mat_compound_entry: kinds of entry that are found, and asked for by name.
#include <limits>

#include "of_kinds.hpp"

namespace {

using namespace petsc_test;

const std::string test = "entries_test";

testing::AssertionResult entry_is(Mat A, const std::string& text) { return petsc_test::entry_is(test, A, text); }

std::string view(Mat A) { return view_of(test, A); }

INSTANTIATE_TEST_SUITE_P(Kinds, EachKind, testing::ValuesIn(kinds()),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(EachKind, IsFoundAndMultiplied) {
  const auto A = filled("");

  EXPECT_TRUE(same_products(A, plain(), 202));

  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs())));
  EXPECT_TRUE(all_ranks(plan_of(A).find("entry=" + kind() + " ") == 0)) << plan_of(A);
}

TEST_P(EachKind, IsFoundInEveryLayout) {
  for (const std::string layout : {"csr", "ellr", "sell", "sell:3", "sell:8:64", "bellpack", "dia", "hdia", "ccoo"}) {
    const auto A = filled("-mat_compound_layout " + layout);

    EXPECT_TRUE(same_products(A, plain(), 203)) << layout;
    EXPECT_TRUE(entry_is(A, entry_text(kind(), bs()))) << layout;
  }
}

TEST_P(EachKind, IsFoundInBlocksOfAnotherSize) {
  const auto given = problem();
  Matrix single, A;
  PETSC_OK(MatConvert(filled_matrix(MATBAIJ, "", given), MATAIJ, MAT_INITIAL_MATRIX, single.out()));
  PETSC_OK(MatSetBlockSizes(single, 1, 1));
  Matrix of_ones;
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_block_size", std::to_string(bs()).c_str()));
  PETSC_OK(MatConvert(single, MATBAIJ, MAT_INITIAL_MATRIX, of_ones.out()));
  PETSC_OK(MatConvert(of_ones, tested_type().c_str(), MAT_INITIAL_MATRIX, A.out()));
  PetscInt size;
  PETSC_OK(MatGetBlockSize(A, &size));
  if (size != 1) GTEST_SKIP() << "PETSc keeps the block size";

  EXPECT_TRUE(same_products(A, of_ones, 204));
  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs())));
}

TEST_P(EachKind, TakesTheBytesOfItsWords) {
  const auto A = filled("-mat_compound_layout csr");
  EXPECT_TRUE(same_mult(A, plain(), 205));

  const auto info = info_of(A);

  const PetscInt64 scalar = GetParam().real_words ? sizeof(PetscReal) : sizeof(PetscScalar);
  const PetscInt64 words = info.stored_blocks * GetParam().kept(bs()) * scalar;
  EXPECT_TRUE(all_ranks(info.packed_bytes >= words));
  EXPECT_TRUE(all_ranks(info.packed_bytes <= words + 16 * (info.stored_blocks + 13))) << info.packed_bytes;
}

TEST_P(EachKind, IsRefusedByOneScalarOfTheLastBlock) {
  const auto A = filled(""), plain_matrix = plain();
  PetscInt n;
  PETSC_OK(MatGetSize(A, &n, nullptr));
  for (Mat m : {Mat(A), Mat(plain_matrix)}) {
    if (rank() == size() - 1) PETSC_OK(MatSetValue(m, n - 2, n - 1, 3.5, INSERT_VALUES));
    assemble(m);
  }

  EXPECT_TRUE(same_products(A, plain_matrix, 214));

  EXPECT_TRUE(size() > 1 || entry_is(A, "dense (found)"));
}

TEST_P(EachKind, HoldsNegativeZeroButNoNanOrInfinityOutOfPlace) {
  const auto nan = std::numeric_limits<PetscReal>::quiet_NaN(), inf = std::numeric_limits<PetscReal>::infinity();
  for (const PetscReal odd : {-0.0, nan, inf}) {
    if (size() > 1) continue;
    SCOPED_TRACE(odd);
    const auto A = filled("");
    PETSC_OK(MatSetValue(A, 0, 0, 0.0, INSERT_VALUES));
    assemble(A);
    // In a block of zeros, which every kind holds.
    const std::vector<PetscScalar> zeros(static_cast<std::size_t>(bs() * bs()), 0.0);
    const PetscInt zero = 0;
    PETSC_OK(MatSetValuesBlocked(A, 1, &zero, 1, &zero, zeros.data(), INSERT_VALUES));
    PETSC_OK(MatSetValue(A, 0, bs() - 1, odd, INSERT_VALUES));
    assemble(A);

    (void)product_of(A, all_products().front(), 217);

    EXPECT_TRUE(entry_is(A, odd == 0 ? entry_text(kind(), bs()) : "dense (found)"));
  }
}

TEST_P(EachKind, IsFoundInDuplicatesConversionsAndLoadedMatrices) {
  const auto A = filled("");
  Matrix copy, from_baij, empty_copy, loaded;
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, empty_copy.out()));
  PETSC_OK(MatConvert(plain(), tested_type().c_str(), MAT_INITIAL_MATRIX, from_baij.out()));
  const std::string file = file_of_run(test, ".bin");
  Viewer viewer;
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_WRITE, viewer.out()));
  PETSC_OK(MatView(A, viewer));
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_READ, viewer.out()));
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, loaded.out()));
  PETSC_OK(MatSetType(loaded, tested_type().c_str()));
  PETSC_OK(MatSetBlockSize(loaded, bs()));
  PETSC_OK(MatLoad(loaded, viewer));
  viewer.reset();
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0)
    for (const char* end : {"", ".info"}) std::remove((file + end).c_str());

  for (Mat m : {Mat(copy), Mat(from_baij), Mat(loaded)}) {
    EXPECT_TRUE(same_products(m, A, 215));
    EXPECT_TRUE(entry_is(m, entry_text(kind(), bs())));
  }
  insert_blocks(empty_copy, problem(), problem().seed, INSERT_VALUES);
  assemble(empty_copy);
  EXPECT_TRUE(same_products(empty_copy, A, 216));
  EXPECT_TRUE(entry_is(empty_copy, entry_text(kind(), bs())));
}

TEST_P(EachKind, IsKeptInSinglePrecision) {
  const auto A = filled("-mat_compound_precision single");

  EXPECT_TRUE(differs_as_single(A, plain(), 221));
  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs())));
}

TEST_P(EachKind, IsTakenByNameAndSaidToBe) {
  const auto A = filled("-mat_compound_entry " + kind());

  EXPECT_TRUE(same_products(A, plain(), 224));
  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs(), "asked for")));
}

TEST_P(EachKind, IsNotLookedForWhereDenseOrAPlanLineWasAskedFor) {
  for (const std::string option : {"-mat_compound_entry dense", "-mat_compound_plan csr lanes=1"}) {
    const auto A = filled(option);

    EXPECT_TRUE(same_mult(A, plain(), 225)) << option;
    EXPECT_TRUE(all_ranks(plan_of(A).find("entry=dense ") == 0)) << option << ": " << plan_of(A);
  }
  if (size() > 1) {
    // A plan line for the diagonal part alone says nothing of the other.
    const auto A = filled("-mat_compound_plan csr lanes=1");
    EXPECT_TRUE(same_mult(A, plain(), 226));
    EXPECT_TRUE(entry_is(A, "dense (asked for); off-diagonal: " + entry_text(kind(), bs())));
  }
}

TEST_P(EachKind, MultipliesInPreconditionersAndDiagonals) {
  const auto A = filled(""), plain_matrix = plain();
  for (Mat m : {Mat(A), Mat(plain_matrix)}) PETSC_OK(MatShift(m, 9.0));
  EXPECT_TRUE(same_products(A, plain_matrix, 226));
  const auto d = left_vector(A, 1), of_plain = left_vector(A, 2);

  PETSC_OK(MatGetDiagonal(A, d));
  PETSC_OK(MatGetDiagonal(plain_matrix, of_plain));

  EXPECT_TRUE(same_bits(d, of_plain));
  for (const std::string pc : {"pbjacobicompound", "pbjacobi", "bjacobi", "jacobi"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-pc_type", pc.c_str()));
    Solver ksp;
    const auto b = left_vector(A, 227), x = right_vector(A, 228);
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    PETSC_OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPSolve(ksp, b, x));
    KSPConvergedReason reason;
    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0) << pc;
  }
}

PetscErrorCode viewed(Mat A) {
  Viewer viewer;
  PETSC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", viewer.out()));
  PETSC_OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  return MatView(A, viewer);
}

/// Asked for by name, blocks of other kinds are an error on all processes, after which the matrix can be used.
TEST_P(EachKind, AskedForByNameSaysWhichBlockIsNone) {
  for (const PetscInt of_column : {1, 10}) {  // on several processes: in either part of the last
    const auto A = filled("-mat_compound_entry " + kind()), plain_matrix = plain();
    EXPECT_TRUE(same_products(A, plain_matrix, 229));
    for (Mat m : {Mat(A), Mat(plain_matrix)}) {
      allow_new_nonzeros(m);
      if (rank() == 0) PETSC_OK(MatSetValue(m, 10 * bs(), of_column * bs() + bs() - 1, 123.5, INSERT_VALUES));
      assemble(m);
    }
    const auto x = right_vector(A, 230), y = left_vector(A, 231);
    for (int times = 0; times < 2; ++times) {
      const auto found = catch_error([&] { return MatMult(A, x, y); });

      EXPECT_TRUE(all_ranks(found.code == PETSC_ERR_ARG_WRONG)) << found.code;
      const std::string where = tested_is_of_scalars()
                                    ? "block that begins at row " + std::to_string(10 * bs()) + " and column " +
                                          std::to_string(of_column * bs())
                                    : "block at block row 10 and block column " + std::to_string(of_column);
      for (const std::string& part :
           {where + " does not fit the block format that was asked for, " + kind() + ": it has ", std::string("123.5"),
            std::string("leave the block format to -mat_compound_entry auto")})
        EXPECT_TRUE(all_ranks(says(found.message, part))) << found.message;
    }
    EXPECT_TRUE(all_ranks(catch_error([&] { return viewed(A); }).code == 0));  // a view fails for no such reason

    PETSC_OK(MatSetOptionsPrefix(A, "other_"));
    PETSC_OK(PetscOptionsSetValue(nullptr, "-other_mat_compound_entry", "auto"));
    PETSC_OK(MatSetFromOptions(A));
    EXPECT_TRUE(same_products(A, plain_matrix, 232));
  }
}

TEST_P(EachKind, AskedForByNameComesBackWithItsValues) {
  const auto A = filled("-mat_compound_entry " + kind());
  auto bad = problem();
  bad.kind.clear();
  insert_blocks(A, bad, 233, INSERT_VALUES);
  assemble(A);
  const auto x = right_vector(A, 234), y = left_vector(A, 235), d = left_vector(A, 1);
  EXPECT_NE(catch_error([&] { return MatMult(A, x, y); }).code, 0);
  PETSC_OK(MatGetDiagonal(A, d));

  insert_blocks(A, problem(), problem().seed, INSERT_VALUES);
  assemble(A);

  EXPECT_TRUE(same_products(A, plain(), 236));
  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs(), "asked for")));
}

struct EntriesTest : ForCompound {};

TEST_F(EntriesTest, OfNoKindAreDenseAndLieOnTheParentsArrays) {
  for (const int bs : {1, 2, 3, 4, 8}) {
    const auto A = filled_matrix(pinned_type("csr"), "", problem_of("", bs));

    EXPECT_TRUE(same_products(A, filled_matrix(MATBAIJ, "", problem_of("", bs)), 237));
    EXPECT_TRUE(entry_is(A, "dense (found)"));
    const auto info = info_of(A);
    const PetscInt64 integers = tested_is_of_scalars() ? 4 * (info.stored_blocks + 14) : 0;  // of blocks, beside AIJ's
    EXPECT_TRUE(sizeof(PetscInt) > 4 || all_ranks(info.packed_bytes <= integers || size() > 1));
    EXPECT_TRUE(all_ranks(info.value_packs == 0));
  }
}

TEST_F(EntriesTest, OfDifferentKindsInBothPartsAreFoundApart) {
  if (size() == 1) GTEST_SKIP() << "one process has one part";
  const std::string near = some_kind(4);
  auto on_diagonal = problem_of(near, 4), beside = on_diagonal;
  const auto owner = [&](int block) {
    int process = 0;
    for (int first = 0; block >= (first += on_diagonal.shape.rows[static_cast<std::size_t>(process)]); ++process)
      continue;
    return process;
  };
  std::erase_if(on_diagonal.blocks, [&](const Block& b) { return owner(b.row) != owner(b.col); });
  std::erase_if(beside.blocks, [&](const Block& b) { return owner(b.row) == owner(b.col); });
  const auto fill = [&](const std::string& type) {
    auto A = empty_matrix(type, "", on_diagonal.shape);
    preallocate(A, problem_of(near, 4));
    insert_blocks(A, on_diagonal, 250, INSERT_VALUES);
    beside.kind = "scaled_identity";
    insert_blocks(A, beside, 251, INSERT_VALUES);
    assemble(A);
    return A;
  };
  const auto A = fill(tested_type());

  EXPECT_TRUE(same_products(A, fill(MATBAIJ), 252));
  EXPECT_TRUE(entry_is(A, entry_text(near, 4) + "; off-diagonal: " + entry_text("scaled_identity", 4)));
}

TEST_F(EntriesTest, OfDifferentKindsOnTheProcessesAreCounted) {
  if (size() != 2) GTEST_SKIP() << "of two processes";
  Problem p{spread(3, 4, 4), {}, 253, "diagonal"};
  for (int i = 0; i < 4; ++i) p.blocks.push_back({i, i});
  const auto A = filled_matrix(tested_type(), "", p);
  if (rank() == 1) PETSC_OK(MatSetValue(A, 11, 9, 2.0, INSERT_VALUES));
  assemble(A);

  (void)product_of(A, all_products().front(), 254);

  EXPECT_TRUE(entry_is(A, "dense (found) on 1 process, diagonal (3 of 9 scalars kept; found) on 1 process"));
}

TEST_F(EntriesTest, OfAnEmptyMatrixAreNotTalkedOf) {
  const auto A = filled_matrix(tested_type(), "", Problem{spread(2, 5, 5), {}, 1});

  (void)product_of(A, all_products().front(), 255);

  EXPECT_EQ(view(A).find("compound entry"), std::string::npos);
}

/// A unit quaternion is a quaternion for `auto`, and taken by name within 8 eps.
struct UnitQuaternions : ForCompound {
  static constexpr int bs = PetscDefined(USE_COMPLEX) ? 2 : 4;
  static Matrix filled(const std::string& type, const std::string& options, PetscReal length) {
    auto p = problem_of("quaternion", bs);
    auto A = empty_matrix(type, options, p.shape);
    preallocate(A, p);
    for (const Block& b : p.blocks) {
      if (!p.shape.owns_row(b.row)) continue;
      auto block = block_of("quaternion", bs, static_cast<std::uint64_t>(b.row * 100 + b.col));
      PetscReal norm = 0;
      for (int k = 0; k < bs; ++k) norm += PetscSqr(PetscAbsScalar(block[static_cast<std::size_t>(k * bs)]));
      for (auto& s : block) s *= length / PetscSqrtReal(norm);
      const PetscInt row = b.row, col = b.col;
      PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, block.data(), INSERT_VALUES));
    }
    assemble(A);
    return A;
  }
};

TEST_F(UnitQuaternions, AreTakenByNameOnly) {
  const auto plain = filled(MATBAIJ, "", 1);
  const auto found = filled(tested_type(), "", 1);
  const auto named = filled(tested_type(), "-mat_compound_entry unit_quaternion", 1);
  const auto x = right_vector(plain, 254), y = left_vector(plain, 255), z = left_vector(plain, 256);
  PetscReal norm;

  PETSC_OK(MatMult(plain, x, y));
  PETSC_OK(MatMult(named, x, z));
  PETSC_OK(VecAXPY(z, -1.0, y));
  PETSC_OK(VecNorm(z, NORM_INFINITY, &norm));

  EXPECT_LT(norm, 1e-12);
  (void)product_of(found, all_products().front(), 257);
  EXPECT_TRUE(entry_is(found, entry_text("quaternion", bs)));
  EXPECT_TRUE(entry_is(named, "unit_quaternion (3 of " + std::to_string(PetscDefined(USE_COMPLEX) ? 8 : 16) +
                                  (PetscDefined(USE_COMPLEX) ? " real numbers" : " scalars") + " kept; asked for)"));
}

TEST_F(UnitQuaternions, OfAnotherLengthAreRefused) {
  const auto A = filled(tested_type(), "-mat_compound_entry unit_quaternion", 1 + 1e-9);
  const auto x = right_vector(A, 257), y = left_vector(A, 258);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_TRUE(all_ranks(says(found.message, "does not fit the block format that was asked for, unit_quaternion")));
}

/// One block, on each process by itself; `values` row by row.
Matrix one_block(PetscInt bs, const std::string& kind, const std::vector<PetscScalar>& values) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_SELF, A.out()));
  PETSC_OK(MatSetSizes(A, bs, bs, bs, bs));
  PETSC_OK(MatSetBlockSize(A, bs));
  PETSC_OK(MatSetType(A, tested_type().c_str()));
  PETSC_OK(MatCompoundSetEntry(A, kind.c_str()));
  PETSC_OK(MatSeqBAIJSetPreallocation(A, bs, 1, nullptr));
  std::vector<PetscInt> all(static_cast<std::size_t>(bs));
  for (PetscInt i = 0; i < bs; ++i) all[static_cast<std::size_t>(i)] = i;
  PETSC_OK(MatSetValues(A, bs, all.data(), bs, all.data(), values.data(), INSERT_VALUES));
  assemble(A);
  return A;
}

caught error_of_product(Mat A) {
  const auto x = right_vector(A, 260), y = left_vector(A, 261);
  return catch_error([&] { return MatMult(A, x, y); });
}

TEST_F(EntriesTest, ThatDoNotFitAreNamedByTheScalarThatDoesNot) {
  const PetscReal inf = std::numeric_limits<PetscReal>::infinity(), nan = std::numeric_limits<PetscReal>::quiet_NaN();
  const bool complex = PetscDefined(USE_COMPLEX);
  struct Case {
    const char* name;
    std::vector<PetscScalar> values;
    std::string has, keeps;
  };
  const auto text = [&](const char* real) { return real + std::string(complex ? "+0i" : ""); };
  const Case cases[] = {
      {"other", {1, 0, 2, 1}, text("2") + " at (1, 0)", text("0")},
      {"last bit", {0.3, 0, 0, PetscScalar(0.1) + PetscScalar(0.2)}, text("0.30000000000000004") + " at (1, 1)", ""},
      {"beside infinity", {inf, 0, 1, inf}, text("1") + " at (1, 0)", text("0")},
      {"infinity", {1, inf, 0, 1}, text("inf") + " at (0, 1)", text("0")},
      {"nan", {1, 0, 0, nan}, text("nan") + " at (1, 1)", ""}};
  for (const Case& c : cases) {
    const std::string kind = std::string(c.name) == "last bit" ? "scaled_identity" : "diagonal";
    const auto found = error_of_product(one_block(2, kind, c.values));

    EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG) << c.name;
    EXPECT_NE(found.message.find("it has " + c.has), std::string::npos) << c.name << ": " << found.message;
    EXPECT_NE(found.message.find(c.keeps), std::string::npos) << c.name << ": " << found.message;
  }
  const auto fits = one_block(2, "diagonal", {inf, 0, 0, 1});
  EXPECT_EQ(error_of_product(fits).code, 0);
}

TEST_F(EntriesTest, OfOtherBlocksAreAnErrorWithAWayOut) {
  const auto found = error_of_product(one_block(3, "quaternion", std::vector<PetscScalar>(9, 1)));

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
  for (const char* part : {"entry quaternion needs blocks of ", "the matrix has 3x3", "-mat_compound_block_size"})
    EXPECT_NE(found.message.find(part), std::string::npos) << found.message;
}

TEST_F(EntriesTest, DenseLeavesBlocksThatAreTooLargeToTheParent) {
  const auto A = one_block(33, "dense", std::vector<PetscScalar>(33 * 33, 1));

  EXPECT_EQ(error_of_product(A).code, 0);
  const bool in_scalars = tested_is_of_scalars();
  EXPECT_EQ(plan_of(A).empty(), !in_scalars) << plan_of(A);
}

TEST_F(EntriesTest, FoundAreTunedByMeasuring) {
  const auto p = problem_of(some_kind(4), 4);
  const auto A = filled_matrix(tested_type(), "-mat_compound_tune measure -mat_compound_wisdom none", p);

  EXPECT_TRUE(same_products(A, filled_matrix(MATBAIJ, "", p), 263));
  EXPECT_TRUE(entry_is(A, entry_text(some_kind(4), 4)));
}

}  // namespace
