// MatView(): what baij prints, with our lines beside it; a view costs nothing and never fails.
#include "info.hpp"
#include "view_text.hpp"

#include <unistd.h>

#include <filesystem>
#include <regex>

#include "systems.hpp"

namespace {

using namespace petsc_test;

const Problem& problem() {
  static const Problem p = random_problem(61, spread(3, 8, 8));
  return p;
}

std::string text_of(Mat A, PetscViewerFormat format) {
  const auto format_number = std::to_string(static_cast<int>(format));
  return view_of("view_test_" + format_number, A, format);
}

/// Without our own lines, with the parent's names and without addresses: what baij prints.
std::string as_baij(const std::string& text) {
  const auto lines = std::regex_replace(text, std::regex(" *compound [^\n]*\n"), "");
  const auto named = std::regex_replace(lines, std::regex("Mat_0x[0-9a-f]+_[0-9]+"), "Mat");
  return std::regex_replace(named, std::regex("baijcompound"), "baij");
}

/// The last words of the line that begins so.
std::string line_of(const std::string& text, const std::string& begin) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("  " + begin + ": ([^\n]*)\n")) ? std::string(found[1]) : "";
}

struct Formats : testing::TestWithParam<PetscViewerFormat> {};

TEST_P(Formats, PrintWhatBaijPrints) {
  const auto A = filled_matrix(tested_type(), "", problem()), plain = filled_matrix(MATBAIJ, "", problem());
  for (Mat m : {Mat(A), Mat(plain)}) PETSC_OK(PetscObjectSetName(reinterpret_cast<PetscObject>(m), "viewed"));
  const auto before = text_of(A, GetParam()), wanted = as_baij(text_of(plain, GetParam()));
  (void)product_of(A, all_products().front(), 62);

  const auto after = text_of(A, GetParam());

  EXPECT_NE(wanted, "");
  EXPECT_EQ(as_baij(before), wanted);
  EXPECT_EQ(as_baij(after), wanted);
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         testing::Values(PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_INDEX,
                                         PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_INFO));

TEST(Submatrix, OfAViewedMatrixIsOfOurType) {
  const auto A = filled_matrix(tested_type(), "", problem());
  (void)text_of(A, PETSC_VIEWER_DEFAULT);
  PetscInt first, last;
  Indices rows;
  Matrix part;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, last - first, first, 1, rows.out()));

  PETSC_OK(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, part.out()));

  EXPECT_TRUE(is_tested_type(part));
}

struct Views : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};

TEST_F(Views, BeforeTheFirstProductPackNothingAndSayWhenThePlanIsPrinted) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());

  const auto text = text_of(A, PETSC_VIEWER_ASCII_INFO);

  EXPECT_TRUE(all_ranks(info_of(A).pattern_packs == 0));
  EXPECT_EQ(plan_of(A), "");
  EXPECT_TRUE(line_of(text, "compound plan").starts_with("none yet: the first product packs the matrix")) << text;
  EXPECT_EQ(line_of(text, "compound plan origin"), "") << text;
  (void)product_of(A, all_products().front(), 63);
  const auto packed = line_of(text_of(A, PETSC_VIEWER_ASCII_INFO), "compound plan");
  EXPECT_NE(packed.find("entry=dense"), std::string::npos) << packed;
  EXPECT_TRUE(size() > 1 || plan_of(A) == packed) << plan_of(A);
}

TEST_F(Views, OfAMatrixWithoutValuesPrintItsPattern) {
  auto A = empty_matrix(MATBAIJCOMPOUND, "", problem().shape);
  const auto could = catch_error([&] { return MatSetOption(A, MAT_STRUCTURE_ONLY, PETSC_TRUE); });
  if (could.code) GTEST_SKIP() << "skipped: mpibaij of this PETSc does not know MAT_STRUCTURE_ONLY";
  preallocate(A, problem());
  insert_blocks(A, problem(), problem().seed, INSERT_VALUES);
  assemble(A);

  const auto text = text_of(A, PETSC_VIEWER_ASCII_INFO);

  EXPECT_NE(line_of(text, "compound memory").find(std::to_string(problem().blocks.size()) + " blocks stored"),
            std::string::npos)
      << text;
  const auto x = right_vector(A, 1), y = left_vector(A, 1);
  const auto product = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_EQ(product.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(product.message.find("MAT_STRUCTURE_ONLY"), std::string::npos) << product.message;
}

TEST_F(Views, PrintAPlanThatCanBeGivenBack) {
  for (const char* options :
       {"", "-plain_mat_compound_tune measure -plain_mat_compound_wisdom none", "-plain_mat_compound_layout sell:4"}) {
    PETSC_OK(PetscOptionsInsertString(nullptr, options));
    const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
    PETSC_OK(PetscOptionsClear(nullptr));
    (void)product_of(A, all_products().front(), 64);
    const auto plan = line_of(text_of(A, PETSC_VIEWER_ASCII_INFO), "compound plan");
    const auto B = filled_matrix(MATBAIJCOMPOUND, "", problem());

    PETSC_OK(MatCompoundSetPlan(B, plan.c_str()));
    (void)product_of(B, all_products().front(), 64);

    const auto given_back = text_of(B, PETSC_VIEWER_ASCII_INFO);
    EXPECT_EQ(line_of(given_back, "compound plan"), plan) << options;
    EXPECT_EQ(line_of(given_back, "compound plan origin"), "asked for as a plan") << options;
  }
}

struct Untuned {
  const char *name, *options, *origin;
  const char* of_off = "";  ///< on several processes, what follows
};
void PrintTo(const Untuned& u, std::ostream* out) { *out << u.options; }

const Untuned untuned[] = {
    {"plan", "-plain_mat_compound_plan csr", "asked for as a plan (not tuned: a plan was asked for)",
     "; off-diagonal: by measurement: "},
    {"products", "-plain_mat_compound_expected_products 50",
     "default heuristic (not tuned: 50 products are too few to pay for it)"},
    {"score_of_wisdom", "-plain_mat_compound_tune wisdom -plain_mat_compound_tune_score bytes:0.5",
     "default heuristic (not tuned: wisdom keeps what is fastest, and memory is to count)"},
};

struct UntunedPlans : Views, testing::WithParamInterface<Untuned> {};

TEST_P(UntunedPlans, AreToldAsSuch) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-plain_mat_compound_tune measure -plain_mat_compound_wisdom none"));
  PETSC_OK(PetscOptionsInsertString(nullptr, GetParam().options));
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  (void)product_of(A, all_products().front(), 65);

  const auto text = text_of(A, PETSC_VIEWER_ASCII_INFO);

  const std::string origin = line_of(text, "compound plan origin"), of_off = size() > 1 ? GetParam().of_off : "";
  EXPECT_EQ(origin.substr(0, origin.find("; off-diagonal")), GetParam().origin) << text;
  EXPECT_NE(origin.find(GetParam().origin + of_off), std::string::npos) << text;
  EXPECT_EQ(origin.find("off-diagonal") != std::string::npos, !of_off.empty()) << text;
}

INSTANTIATE_TEST_SUITE_P(All, UntunedPlans, testing::ValuesIn(untuned),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

/// The rule's lies on BAIJ's own arrays.
TEST_F(Views, TellThatMemoryCountedWhereMeasuringHasAScore) {
  const std::string wisdom = testing::TempDir() + "wisdom_of_a_score_" + same_on_all_ranks(std::to_string(getpid()));
  const auto options =
      "-plain_mat_compound_tune measure -plain_mat_compound_tune_score bytes:1 "
      "-plain_mat_compound_wisdom " +
      wisdom;
  PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
  (void)product_of(A, all_products().front(), 66);

  const auto text = text_of(A, PETSC_VIEWER_ASCII_INFO);

  EXPECT_NE(line_of(text, "compound plan origin").find("; chosen by time and memory, which weighs 1"),
            std::string::npos)
      << text;
  EXPECT_NE(line_of(text, "compound plan").find(" csr "), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(wisdom));
}

TEST_F(Views, HintABlockSizeThatWasForgotten) {
  const auto shape = spread(3, 60, 60);
  Random random(66);
  Matrix scalars, A;
  PETSC_OK(MatConvert(filled_matrix(MATBAIJ, "", {shape, random_blocks(random, shape, 0.1, true), 67}), MATAIJ,
                      MAT_INITIAL_MATRIX, scalars.out()));
  PETSC_OK(MatSetBlockSize(scalars, 1));
  auto single = empty_matrix(MATAIJ, "", spread(1, 180, 180));
  PETSC_OK(MatConvert(scalars, MATAIJ, MAT_INITIAL_MATRIX, single.out()));
  PETSC_OK(MatConvert(single, MATBAIJCOMPOUND, MAT_INITIAL_MATRIX, A.out()));

  const auto text = text_of(A, PETSC_VIEWER_ASCII_INFO),
             good = text_of(filled_matrix(MATBAIJCOMPOUND, "", problem()), PETSC_VIEWER_ASCII_INFO);

  EXPECT_NE(line_of(text, "compound hint").find("-mat_compound_block_size 3"), std::string::npos) << text;
  EXPECT_EQ(line_of(good, "compound hint"), "") << good;
}

/// Slices of other heights are multiplied by plain code.
TEST_F(Views, NameTheSliceHeightsThatHaveVectorCode) {
  const auto shown = [](const char* layout) {
    const auto A = filled_matrix(MATBAIJCOMPOUND, "", problem());
    PETSC_OK(MatCompoundSetLayout(A, layout));
    const auto info = info_during("view_test", [&] { (void)product_of(A, all_products().front(), 69); });
    return std::pair(line_of(text_of(A, PETSC_VIEWER_ASCII_INFO), "compound backend"), info);
  };
  const std::string remark = "slices of 3 rows have no vector code, heights that are multiples of 8 have";

  const auto three = shown("sell:3"), eight = shown("sell:8");

  if (eight.first.find("plain") != std::string::npos) GTEST_SKIP() << "no vector code on this machine: " << eight.first;
  EXPECT_NE(three.first.find("host, plain (" + remark + ")"), std::string::npos) << three.first;
  EXPECT_NE(three.second.find("Hint: " + remark), std::string::npos) << three.second;
  EXPECT_EQ(eight.first.find("vector code"), std::string::npos) << eight.first;
  EXPECT_EQ(eight.second.find("vector code"), std::string::npos) << eight.second;
}

/// Above AIJ, whose single scalars come in blocks that are told or found.
struct ViewsOfScalars : Views {
  std::string before, after;
  void view_around_a_product(Mat A) {
    before = text_of(A, PETSC_VIEWER_ASCII_INFO);
    EXPECT_TRUE(all_ranks(info_of(A).pattern_packs == 0));
    (void)product_of(A, all_products().front(), 68);
    after = text_of(A, PETSC_VIEWER_ASCII_INFO);
  }
};

TEST_F(ViewsOfScalars, TellFullBlocksOfTheMatrixsSizesAndTheRulesPlan) {
  view_around_a_product(filled_matrix(MATAIJCOMPOUND, "", problem()));

  EXPECT_EQ(line_of(after, "compound blocks"), "full ones of 3 (the matrix's block sizes)") << after;
  EXPECT_NE(line_of(after, "compound plan").find("entry=dense"), std::string::npos) << after;
  EXPECT_EQ(line_of(before, "compound hint"), "") << before;
}

TEST_F(ViewsOfScalars, TellFullBlocksThatAreFoundAndWhatTheyTake) {
  view_around_a_product(scalar_matrix(3, false, MATAIJCOMPOUND));

  EXPECT_EQ(line_of(after, "compound blocks"), "full ones of 3 (found)") << after;
  const auto hint = line_of(before, "compound hint");
  EXPECT_TRUE(std::regex_search(hint, std::regex("blocks of 3, which take [5-9][0-9] % of the bytes"))) << before;
  EXPECT_NE(hint.find("MatSetBlockSizes(A, 3, 3)"), std::string::npos) << before;
}

TEST_F(ViewsOfScalars, TellHowFullOtherBlocksAre) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-mat_compound_block_size 3"));
  view_around_a_product(scalar_matrix(3, true, MATAIJCOMPOUND));

  EXPECT_EQ(line_of(before, "compound blocks"), "") << before;
  EXPECT_EQ(line_of(after, "compound blocks"), "of 3 packed from blocks of 1, 85 % filled") << after;
}

/// The last one's; the others find nothing.
TEST_F(ViewsOfScalars, TellThePlanOfAProcessThatHasRows) {
  const PetscInt rows = rank() + 1 == size() ? 60 : 0;
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, MATAIJCOMPOUND));
  PETSC_OK(MatSetUp(A));
  for (PetscInt row = 0; row < rows; ++row)
    for (PetscInt k = 0; k < 3; ++k) {
      const PetscInt col = row / 3 * 3 + k;
      PETSC_OK(MatSetValue(A, row, col, value(71, row, col), INSERT_VALUES));
    }
  assemble(A);

  view_around_a_product(A);

  EXPECT_NE(line_of(after, "compound plan").find("entry=dense"), std::string::npos) << after;
  EXPECT_EQ(line_of(after, "compound blocks"), "full ones of 3 (found)") << after;
}

TEST_F(ViewsOfScalars, TellThatScalarsWithoutBlocksAreTheParents) {
  view_around_a_product(filled_matrix(MATAIJCOMPOUND, "", random_problem(69, spread(1, 40, 40))));

  EXPECT_NE(line_of(after, "compound plan").find("its rows are of single scalars"), std::string::npos) << after;
  EXPECT_EQ(line_of(after, "compound blocks"), "") << after;
  EXPECT_EQ(line_of(before, "compound hint"), "") << before;
}

}  // namespace
