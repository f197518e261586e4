// Options, their errors, views, and what the README says of them.
#include "compare.hpp"
#include "device_tests.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

const Problem& problem() {
  static const Problem p = random_problem(71, spread(3, 8, 8));
  return p;
}

struct Options : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }

  static caught error_of(const std::string& option) {
    return catch_error([&]() -> PetscErrorCode {
      PetscCall(PetscOptionsInsertString(nullptr, option.c_str()));
      Mat A;
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscErrorCode code = MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE);
      if (!code) code = MatSetType(A, MATBAIJCOMPOUND);
      if (!code) code = MatSetFromOptions(A);
      return code;  // A is lost on purpose: destroying it would need the stack that the error unwound
    });
  }
};

struct Refused {
  const char *name, *option, *message;
};
void PrintTo(const Refused& r, std::ostream* out) { *out << r.option; }

const Refused refusals[] = {
    {"layout", "-mat_compound_layout sel",
     "unknown layout 'sel': did you mean sell? Choose auto, csr, ellr, bellpack, sell, dia, hdia, ccoo "
     "(-mat_compound_layout)"},
    {"height", "-mat_compound_layout sell:2000", "must be a number, 2 to 1024"},
    {"window", "-mat_compound_layout sell:8:9",
     "the sorting window 9 must be a multiple of the slice height 8 (-mat_compound_layout)"},
    {"plan_window", "-mat_compound_plan sell:8:9", "multiple of the slice height 8 (-mat_compound_plan)"},
    {"numbers", "-mat_compound_layout csr:4", "too many numbers"},
    {"plan_word", "-mat_compound_plan csr,wordz=3", "unknown plan keyword 'csr,wordz=3'; choose "},
    {"plan_group", "-mat_compound_plan words=3", "must be a power of two"},
    {"plan_vectors", "-mat_compound_plan vectors=4", "vectors= in plan 'vectors=4' is not 1: PETSc's vectors hold"},
    {"plan_last_part", "-mat_compound_plan \"csr longest=64\"",
     "plan 'csr longest=64': longest=64 leaves longer rows to a next part, and there is none; add one"},
    {"plan_without_longest", "-mat_compound_plan \"sell:8 + ccoo\"",
     "part 1, sell:8, leaves no rows to the next; say longest=N: rows of more entries go there, or width=N: what rows "
     "have beyond N entries (-mat_compound_plan)"},
    {"plan_entry_of_part", "-mat_compound_plan \"csr longest=9 + csr entry=complex\"",
     "entry=complex in a later part of plan 'csr longest=9 + csr entry=complex': it is for the whole plan"},
    {"plan_part_off", "-mat_compound_plan \"csr off: csr longest=9 + lanes=1\"",
     "names no layout; after each + comes one: csr, ellr"},
    {"backend", "-mat_compound_backend gpu", "unknown backend 'gpu'; choose auto, petsc, host, cuda"},
    {"entry", "-mat_compound_entry octonion", "choose auto, dense, complex, quaternion"},
    {"precision", "-mat_compound_precision half", "choose double, single"},
    {"memory", "-mat_compound_memory_limit lots",
     "megabytes of packed storage 'lots' must be a number, 0 or more, or none"},
    {"padding", "-mat_compound_padding_limit 0.5", "padding limit '0.5' must be a number, 1 or more, or none"},
    {"padding_word", "-mat_compound_padding_limit 4x", "padding limit '4x' must be a number"},
    {"block_size", "-mat_compound_block_size 3x",
     "a packed block size other than auto, find, find:model and find:measure, N or ROWSxCOLUMNS, '' must be a number, "
     "1 to 32"},
    {"block_rows", "-mat_compound_block_size 33x2", "'33' must be a number, 1 to 32"},
    {"tune", "-mat_compound_tune wildly", "choose off, model, wisdom, measure, exhaustive"},
    {"wisdom", "-mat_compound_wisdom", "the wisdom file has no name; give a path, auto or none"},
    {"tune_score", "-mat_compound_tune_score bytes:2", "score of tuning 'bytes:2' must be time, or bytes:W"},
    {"tune_score_words", "-mat_compound_tune_score bytes:", "score of tuning 'bytes:' must be time, or bytes:W"},
    {"exchange_patience", "-mat_compound_exchange_patience 0",
     "seconds of waiting '0' must be a number, 1 or more, or none"},
    {"tune_seconds", "-mat_compound_tune_seconds -1", "seconds of tuning '-1' must be a number, 0 or more, or none"},
    {"tune_libraries", "-mat_compound_tune_libraries magma", "unknown library 'magma'; choose none, cusparse"},
    {"plan_library", "-mat_compound_plan cusparse:/tmp/libcusparse.so",
     "unknown plan keyword 'cusparse:/tmp/libcusparse.so': did you mean cusparse:bsr-row? Choose "},
    {"switch_word", "-mat_compound_view maybe",
     "'maybe' is neither true nor false; choose one of these (-mat_compound_view)"},
    {"products", "-mat_compound_expected_products many",
     "number of products expected 'many' must be a number, 1 or more, or unknown"},
};

struct RefusedOptions : Options, testing::WithParamInterface<Refused> {};

TEST_P(RefusedOptions, NameWhatIsAllowed) {
  const auto found = error_of(GetParam().option);

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find(GetParam().message), std::string::npos) << found.message;
}

INSTANTIATE_TEST_SUITE_P(All, RefusedOptions, testing::ValuesIn(refusals),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_F(Options, LongerThanTheirRoomAreRefused) {
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_plan", ("csr" + std::string(5000, ' ')).c_str()));
  const auto found = error_of("-mat_compound_view false");

  EXPECT_NE(found.message.find("the text has more than 4095 characters; give a shorter one (-mat_compound_plan)"),
            std::string::npos)
      << found.message;
}

TEST_F(Options, PlansThatDoNotSuitTheHostAreErrorsThatNameTheOption) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_plan stream", problem());
  Vector x, y;
  PETSC_OK(MatCreateVecs(A, x.out(), y.out()));

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(found.message.find("leave stream out (-mat_compound_plan)"), std::string::npos) << found.message;
}

/// Where a device is visible that option is none to refuse; tests/examples/elasticity_test.py hides it.
TEST_F(Options, BackendCudaSaysWhyItIsMissing) {
#if defined(COMPOUND_HAVE_CUDA)
  const char* const reason = "backend 'cuda' is missing: ";
  if (why_driver_finds_none().empty()) GTEST_SKIP() << "skipped: a device is visible";
#else
  const char* const reason = "backend 'cuda' is missing: this build has no CUDA backend";
#endif

  const auto found = error_of("-mat_compound_backend cuda");

  EXPECT_EQ(found.code, PETSC_ERR_SUP);
  EXPECT_NE(found.message.find(reason), std::string::npos) << found.message;
}

TEST_F(Options, WithAPrefixActOnThatMatrixOnly) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-fluid_mat_compound_layout sell:4"));
  const auto other = filled_matrix(MATBAIJCOMPOUND, "", problem());
  auto fluid = empty_matrix(MATBAIJCOMPOUND, "", problem().shape);
  PETSC_OK(MatSetOptionsPrefix(fluid, "fluid_"));
  PETSC_OK(MatSetFromOptions(fluid));
  preallocate(fluid, problem());
  insert_blocks(fluid, problem(), problem().seed, INSERT_VALUES);
  assemble(fluid);

  EXPECT_TRUE(same_mult(fluid, other, 72));

  EXPECT_NE(plan_of(fluid).find(" sell:4"), std::string::npos) << plan_of(fluid);
  EXPECT_NE(plan_of(other).find(" csr"), std::string::npos) << plan_of(other);
}

/// PetscObjectSetOptions(): an option and a switch.
TEST_F(Options, OfAMatrixMayBeInADatabaseOfItsOwn) {
  PetscOptions own;
  PETSC_OK(PetscOptionsCreate(&own));
  PETSC_OK(PetscOptionsInsertString(own, "-mat_compound_layout ellr -mat_compound_warn maybe"));
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  PETSC_OK(MatSetOptionsPrefix(A, nullptr));
  PETSC_OK(PetscObjectSetOptions(reinterpret_cast<PetscObject>(Mat(A)), own));

  const auto found = catch_error([&] { return MatSetFromOptions(A); });
  EXPECT_NE(found.message.find("'maybe' is neither true nor false"), std::string::npos) << found.message;
  PETSC_OK(PetscOptionsSetValue(own, "-mat_compound_warn", "false"));
  PETSC_OK(MatSetFromOptions(A));

  EXPECT_TRUE(same_mult(A, filled_matrix(MATBAIJ, "", problem()), 74));
  EXPECT_NE(plan_of(A).find(" ellr"), std::string::npos) << plan_of(A);
  PETSC_OK(PetscObjectSetOptions(reinterpret_cast<PetscObject>(Mat(A)), nullptr));
  PETSC_OK(PetscOptionsDestroy(&own));
}

TEST_F(Options, AreReadAtTheFirstProductByProgramsThatNeverAsk) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-mat_compound_layout ellr"));
  Matrix A;
  PETSC_OK(MatConvert(filled_matrix(MATBAIJ, "", problem()), MATBAIJCOMPOUND, MAT_INITIAL_MATRIX, A.out()));

  EXPECT_TRUE(same_mult(A, filled_matrix(MATBAIJ, "", problem()), 73));

  EXPECT_NE(plan_of(A).find(" ellr"), std::string::npos) << plan_of(A);
}

TEST_F(Options, PrecisionSingleStoresFloats) {
  const auto A = filled_matrix(MATBAIJ, "", problem());
  const auto single = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_precision single", problem());

  EXPECT_TRUE(differs_as_single(single, A, 74));
  EXPECT_NE(plan_of(single).find("values=float"), std::string::npos) << plan_of(single);
}

TEST_F(Options, APlanOfOtherVectorsIsRefusedForEitherPart) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  for (const char* plan : {"csr vectors=2", "sell:8 vectors=all", "csr off: csr vectors=8"}) {
    const auto found = catch_error([&] { return MatCompoundSetPlan(A, plan); });

    EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG) << plan;
    EXPECT_NE(found.message.find("is not 1: PETSc's vectors hold"), std::string::npos) << found.message;
  }
  EXPECT_TRUE(same_mult(A, filled_matrix(MATBAIJ, "", problem()), 76));
}

TEST_F(Options, APlanWithTwoOffDiagonalPartsIsRefused) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());

  const auto found = catch_error([&] { return MatCompoundSetPlan(A, "csr off: csr off: ellr"); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(found.message.find("says 'off:' twice"), std::string::npos) << found.message;
}

TEST_F(Options, TheLastWordOnAPlanOrALayoutCounts) {
  const auto A = filled_matrix(tested_type(), "", random_problem(63, spread(3, 11, 11)));
  PETSC_OK(MatCompoundSetPlan(A, "csr"));
  PETSC_OK(MatCompoundSetLayout(A, "sell:4"));
  (void)product_of(A, all_products().front(), 64);
  EXPECT_NE(plan_of(A).find(" sell:4"), std::string::npos) << plan_of(A);

  PETSC_OK(MatCompoundSetPlan(A, "ellr"));
  (void)product_of(A, all_products().front(), 65);
  EXPECT_NE(plan_of(A).find(" ellr"), std::string::npos) << plan_of(A);

  PETSC_OK(MatCompoundSetLayout(A, "auto"));
  for (const char* none : {"auto", static_cast<const char*>(nullptr)}) {
    PETSC_OK(MatCompoundSetPlan(A, "ellr"));
    PETSC_OK(MatCompoundSetPlan(A, none));
    (void)product_of(A, all_products().front(), 66);
    EXPECT_NE(plan_of(A).find(" csr"), std::string::npos) << plan_of(A);
  }
}

TEST_F(Options, AnInapplicablePlanSaysWhy) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  PETSC_OK(MatCompoundSetPlan(A, "entry=quaternion csr"));
  const auto x = right_vector(A, 76), y = left_vector(A, 77);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find(PetscDefined(USE_COMPLEX) ? "needs blocks of 2x2" : "needs blocks of 4x4"),
            std::string::npos)
      << found.message;
  EXPECT_NE(found.message.find("(-mat_compound_plan)"), std::string::npos) << found.message;
}

TEST_F(Options, AProductOfADevicesLibraryIsRefusedOnTheHost) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  PETSC_OK(MatCompoundSetPlan(A, "cusparse:bsr-column"));
  const auto x = right_vector(A, 76), y = left_vector(A, 77);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("cusparse:bsr-column is a product of a device's library"), std::string::npos)
      << found.message;
  EXPECT_NE(found.message.find("(-mat_compound_plan)"), std::string::npos) << found.message;
}

/// The plan's own reason comes first, whatever backend it is for.
TEST_F(Options, ReproducibleRefusesProductsThatMayNotRepeatTheirBits) {
  const Problem scalars = random_problem(72, spread(1, 20, 20));
  for (const bool repeats : {true, false}) {
    const auto A = filled_matrix(
        MATBAIJCOMPOUND, repeats ? "" : "-mat_compound_reproducible 0 -mat_compound_plan cusparse:csr", scalars);
    if (repeats) PETSC_OK(MatCompoundSetPlan(A, "cusparse:csr"));
    const auto x = right_vector(A, 76), y = left_vector(A, 77);

    const auto found = catch_error([&] { return MatMult(A, x, y); });

    const char* const why = repeats ? "cusparse:csr may give other bits each time" : "a device's library";
    EXPECT_NE(found.message.find(why), std::string::npos) << found.message;
  }
}

TEST_F(Options, ViewSaysPlanBackendAndBytes) {
  const auto A = filled_matrix(MATBAIJCOMPOUNDSELL, "", problem());
  (void)product_of(A, all_products().front(), 78);

  const auto text = view_of("options_test", A);

  EXPECT_NE(text.find("compound plan: entry=dense sell:32 words=32:column"), std::string::npos) << text;
  EXPECT_NE(text.find("compound plan origin: asked for as layout sell\n"), std::string::npos) << text;
  EXPECT_NE(text.find("compound backend: host, "), std::string::npos) << text;
  EXPECT_NE(text.find(" (auto)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("packed storage"), std::string::npos) << text;
}

TEST_F(Options, TunedSayWhatWasTriedAndKeepWhatWasAskedFor) {
  struct Tuned {
    std::string options;
    const char* plan;                 ///< a part of it
    std::vector<const char*> origin;  ///< in this order
  };
  const Tuned all[] = {
      {"-mat_compound_tune measure",
       "",
       {"by measurement: ", "the plan of the default heuristic; ", " plans timed in "}},
      {exhaustive_tuning(), "", {"by measurement: ", "the plan of the default heuristic; ", " plans timed in "}},
      {"-mat_compound_tune measure -mat_compound_layout sell:4",
       " sell:4 ",
       {"by measurement: ", "the plan asked for as layout sell:4; "}},
      {"-mat_compound_tune measure -mat_compound_block_size 6", "", {"by measurement: "}},
      {"-mat_compound_tune measure -mat_compound_tune_libraries cusparse",
       "",
       {"by measurement: ", "; none by cusparse (cusparse:bsr-row is a product of a device's library"}},
      {"-mat_compound_tune model", " csr ", {"default heuristic (not tuned: the model is of devices)"}},
  };
  const auto plain = filled_matrix(MATBAIJ, "", problem());
  for (const Tuned& t : all) {
    SCOPED_TRACE(t.options);
    const auto A = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_wisdom none " + t.options, problem());

    EXPECT_TRUE(same_products(A, plain, 79));

    const std::string text = view_of("options_test", A);
    EXPECT_NE(plan_of(A).find(t.plan), std::string::npos) << plan_of(A);
    std::size_t at = text.find("compound plan origin: ");
    for (const char* part : t.origin) {
      if (at != std::string::npos) at = text.find(part, at);
      EXPECT_NE(at, std::string::npos) << part << ": " << text;
    }
  }
}

TEST_F(Options, MonitorPrintsTheBestPlanSoFar) {
  for (const bool monitor : {false, true}) {
    const auto A = filled_matrix(
        MATBAIJCOMPOUND,
        "-mat_compound_wisdom none " + exhaustive_tuning() + " -mat_compound_tune_monitor " + (monitor ? "1" : "0"),
        problem());
    testing::internal::CaptureStdout();
    (void)product_of(A, all_products().front(), 78);
    std::fflush(stdout);
    const std::string printed = testing::internal::GetCapturedStdout();

    EXPECT_EQ(printed.find("compound tuning: ") != std::string::npos, monitor) << printed;
  }
}

TEST_F(Options, BlocksThatWeHaveNoCodeForAreLeftToTheParent) {
  const auto large = random_problem(7, spread(33, 5, 5));
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", large), plain = filled_matrix(MATBAIJ, "", large);

  for (const double factor : {1.0, 2.0}) {
    PETSC_OK(MatScale(A, factor));
    PETSC_OK(MatScale(plain, factor));
    for (const Product& product : all_products()) {
      if (product.hermitian && PetscDefined(USE_COMPLEX)) continue;  // the parent refuses
      EXPECT_TRUE(same_product(A, plain, product, 21));
    }
  }
  EXPECT_EQ(info_of(A).packed_bytes, 0);
  EXPECT_EQ(plan_of(A), "");
}

TEST_F(Options, BlocksThatWeHaveNoCodeForAreAnErrorWhereALayoutWasAskedFor) {
  const auto A = filled_matrix(MATBAIJCOMPOUNDSELL, "", random_problem(7, spread(33, 5, 5)));
  const auto x = right_vector(A, 1), y = left_vector(A, 1);

  const auto error = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_NE(error.code, 0);
  EXPECT_NE(error.message.find("dense blocks up to 32x32, the matrix has 33x33"), std::string::npos) << error.message;
}

TEST_F(Options, BytesOfPackedCopiesAreCounted) {
  const auto on_parent = filled_matrix(MATBAIJCOMPOUND, "", problem());
  const auto packed = filled_matrix(MATBAIJCOMPOUNDSELL, "", problem());
  EXPECT_TRUE(same_mult(packed, on_parent, 78));

  const auto a = info_of(on_parent), b = info_of(packed);

  const PetscInt64 words = b.stored_blocks * 9 * static_cast<PetscInt64>(sizeof(PetscScalar));
  EXPECT_EQ(sum_over_ranks(a.stored_blocks), static_cast<PetscInt64>(problem().blocks.size()));
  EXPECT_TRUE(all_ranks(b.packed_bytes >= words));
  EXPECT_TRUE(all_ranks(sizeof(PetscInt) > 4 || a.packed_bytes <= 4 * (2 + 3 * a.stored_blocks)));  // row lists only
}

TEST_F(Options, FunctionsRefuseOtherTypes) {
  const auto A = filled_matrix(MATBAIJ, "", problem());

  const auto found = catch_error([&] { return MatCompoundSetLayout(A, "csr"); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("MatCompound functions are for baijcompound"), std::string::npos) << found.message;
}

TEST_F(Options, LoadingTwiceDoesNoHarm) {
  PETSC_OK(PetscCompoundInitialize());

  EXPECT_TRUE(same_mult(filled_matrix(MATBAIJCOMPOUND, "", problem()), filled_matrix(MATBAIJ, "", problem()), 79));
}

}  // namespace
