// Plans that were measured before: kept in a file, taken by the next matrix of the pattern or of one like it.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../src/support/environment.hpp"
#include "compare.hpp"
#include "info.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;
using compound::test::Variable;

/// In a folder that all processes know and that goes with the test.
class WisdomFileOfTest {
 public:
  WisdomFileOfTest() {
    char folder[] = "/tmp/compound_wisdom_XXXXXX";
    if (rank() == 0 && !mkdtemp(folder)) folder[0] = '\0';
    MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD);
    folder_ = folder;
  }
  ~WisdomFileOfTest() {
    MPI_Barrier(PETSC_COMM_WORLD);
    for (const char* name : {"/wisdom", "/wisdom.lock", "/wisdom.new"}) unlink((folder_ + name).c_str());
    if (rank() == 0) rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/wisdom"; }
  std::string options(const std::string& effort) const {
    return "-mat_compound_wisdom " + path() + " -mat_compound_tune " + effort;
  }
  std::string text() const {
    MPI_Barrier(PETSC_COMM_WORLD);
    std::ifstream file(path());
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
  /// By one process, for all.
  void write(const std::string& text) const {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (rank() == 0) std::ofstream(path()) << text;
    MPI_Barrier(PETSC_COMM_WORLD);
  }

 private:
  std::string folder_;
};

const Problem& problem() {
  static const Problem p = random_problem(71, spread(3, 8, 8));
  return p;
}

struct WisdomTest : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }

  /// Of a matrix that has multiplied, right.
  static std::string origin_of(const std::string& options, const Problem& of) {
    const auto A = filled_matrix(MATBAIJCOMPOUND, options, of);
    EXPECT_TRUE(same_products(A, filled_matrix(MATBAIJ, "", of), 91));
    return origin_in_view(A);
  }
  static std::string origin_in_view(Mat A) {
    const std::string text = view_of("wisdom_test", A);
    const std::string before = "compound plan origin: ";
    const std::size_t from = text.find(before);
    if (from == std::string::npos) return "";
    return text.substr(from + before.size(), text.find('\n', from) - from - before.size());
  }

  WisdomFileOfTest file;
};

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

TEST_F(WisdomTest, IsKeptByMeasuringAndSparesTheNextMatrixIt) {
  const std::string first = origin_of(file.options("measure"), problem()), kept = file.text();

  EXPECT_TRUE(begins(first, "by measurement: ")) << first;
  EXPECT_TRUE(begins(kept, "plan1 ")) << kept;
  for (const char* effort : {"measure", "wisdom"}) {
    const std::string next = origin_of(file.options(effort), problem());
    EXPECT_TRUE(begins(next, "by wisdom: for this pattern ")) << next;
  }
  EXPECT_EQ(file.text(), kept);
}

TEST_F(WisdomTest, OfLessEffortIsNoAnswerToMore) {
  (void)origin_of(file.options("measure"), problem());

  const std::string more = origin_of("-mat_compound_wisdom " + file.path() + " " + exhaustive_tuning(), problem());
  const std::string less = origin_of(file.options("measure"), problem());

  EXPECT_TRUE(begins(more, "by measurement: ")) << more;
  EXPECT_TRUE(begins(less, "by wisdom: for this pattern ")) << less;
}

TEST_F(WisdomTest, OfAnotherPatternLikeItIsTakenWithoutMeasuringAlone) {
  // So large that rows of random patterns are alike.
  const Problem one = random_problem(71, spread(3, 90, 90)), other = random_problem(72, spread(3, 90, 90));
  (void)origin_of(file.options("measure"), one);

  const std::string taken = origin_of(file.options("wisdom"), other),
                    measured = origin_of(file.options("measure"), other);

  EXPECT_TRUE(begins(taken, "by wisdom: for patterns like this ")) << taken;
  EXPECT_TRUE(begins(measured, "by measurement: ")) << measured;
}

TEST_F(WisdomTest, IsForTheLayoutThatWasAskedFor) {
  (void)origin_of(file.options("measure"), problem());

  const std::string pinned = origin_of(file.options("wisdom") + " -mat_compound_layout sell:4", problem());

  EXPECT_EQ(pinned, "asked for as layout sell:4 (nothing in " + file.path() + ")");
}

TEST_F(WisdomTest, FoundWithALibraryIsForThoseWhoAskForIt) {
  const std::string with_it = " -mat_compound_tune_libraries cusparse";
  (void)origin_of(file.options("measure") + with_it, problem());

  const std::string without = origin_of(file.options("wisdom"), problem()),
                    with = origin_of(file.options("wisdom") + with_it, problem()),
                    any_bits = origin_of(file.options("wisdom") + with_it + " -mat_compound_reproducible 0", problem());

  EXPECT_EQ(without, "default heuristic (nothing in " + file.path() + ")");
  EXPECT_TRUE(begins(with, "by wisdom: for this pattern ")) << with;
  EXPECT_EQ(any_bits, without);
}

TEST_F(WisdomTest, ThatIsDamagedOrAbsurdIsNone) {
  (void)origin_of(file.options("measure"), problem());
  const std::string kept = file.text();
  std::string flipped = kept;  // in each line
  for (std::size_t from = 0; from < flipped.size(); from = flipped.find('\n', from) + 1) flipped[from + 60] ^= 1;
  ASSERT_NE(flipped, kept);
  const std::string cut = kept.substr(0, kept.find('\n') / 2), foreign(
                                                                   "\x7f"
                                                                   "ELF\0\1",
                                                                   6);

  for (const std::string& text : {flipped, cut, foreign, std::string()}) {
    file.write(text);
    const std::string none = origin_of(file.options("wisdom"), problem());
    EXPECT_TRUE(begins(none, "default heuristic (nothing in " + file.path() + ")")) << none;
  }
}

TEST_F(WisdomTest, ThatCannotBeWrittenIsToldAndTheProductIsRight) {
  const std::string options = "-mat_compound_wisdom /dev/null/wisdom -mat_compound_tune measure";

  const std::string told = origin_of(options, problem());

  EXPECT_TRUE(begins(told, "by measurement: ")) << told;
  EXPECT_NE(told.find("(not kept: "), std::string::npos) << told;
}

std::string hint_of(const std::string& options) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, options, problem());
  (void)product_of(A, all_products().front(), 95);
  const std::string text = view_of("wisdom_test", A), begin = "compound hint: ";
  const std::size_t from = text.find(begin);
  return from == std::string::npos ? "" : text.substr(from + begin.size(), text.find('\n', from) - from - begin.size());
}

TEST_F(WisdomTest, OrTheDefaultIsComparedWithALayoutThatWasAskedFor) {
  const std::string pinned = " -mat_compound_layout ellr", with_file = "-mat_compound_wisdom " + file.path();

  const std::string unmeasured = hint_of(with_file + pinned),
                    of_default = hint_of(with_file + " -mat_compound_layout csr");
  EXPECT_EQ(unmeasured, "the default here is csr, on the host seldom slower than layout ellr");
  EXPECT_EQ(of_default, "");
}

/// A folder that was named may be mistyped.
TEST_F(WisdomTest, OfAFolderThatIsNotThereMakesNone) {
  const std::string folder = file.path() + "_folder", path = folder + "/wisdom",
                    options = "-mat_compound_wisdom " + path + " -mat_compound_tune measure";
  std::string told;

  const std::string info = info_during("wisdom_test", [&] { told = origin_of(options, problem()); });

  EXPECT_NE(told.find("(not kept: the folder " + folder + " of the wisdom file is not there; make it"),
            std::string::npos)
      << told;
  EXPECT_NE(info.find("Wisdom file not used: the folder " + folder), std::string::npos) << info;
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(WisdomTest, ThatCannotBeUsedIsOneLineOfInfo) {
  file.write("nothing of wisdom");

  const std::string info = info_during("wisdom_test", [&] { (void)origin_of(file.options("wisdom"), problem()); });
  const std::string none = info_during(
      "wisdom_test", [&] { (void)origin_of("-mat_compound_wisdom none -mat_compound_tune wisdom", problem()); });

  EXPECT_NE(info.find("Wisdom file not used: " + file.path() + " has no line of wisdom"), std::string::npos) << info;
  EXPECT_EQ(none.find("Wisdom file not used"), std::string::npos) << none;
}

/// The file for all users of a machine.
Variable site_at(const std::string& path) { return Variable("COMPOUND_SITE_WISDOM", path); }

TEST_F(WisdomTest, OfTheMachineServesWhoHasNoneOfHisOwn) {
  (void)origin_of(file.options("measure"), problem());
  const Variable site = site_at(file.path());
  const WisdomFileOfTest own;

  const std::string found = origin_of(own.options("wisdom"), problem());

  EXPECT_TRUE(begins(found, "by wisdom: for this pattern ")) << found;
  EXPECT_EQ(own.text(), "") << "it is read, not copied";
}

TEST_F(WisdomTest, OfTheMachineForThePatternComesBeforeOnesOwnForItsClass) {
  const Problem one = random_problem(71, spread(3, 90, 90)), other = random_problem(72, spread(3, 90, 90));
  const WisdomFileOfTest own;
  (void)origin_of(file.options("measure"), other);
  (void)origin_of(own.options("measure"), one);

  const std::string alone = origin_of(own.options("wisdom"), other);
  const Variable site = site_at(file.path());
  const std::string with_site = origin_of(own.options("wisdom"), other);

  EXPECT_TRUE(begins(alone, "by wisdom: for patterns like this ")) << alone;
  EXPECT_TRUE(begins(with_site, "by wisdom: for this pattern ")) << with_site;
}

TEST_F(WisdomTest, OfOnesOwnComesBeforeThatOfTheMachineForTheSamePattern) {
  const WisdomFileOfTest own;
  const std::string with_effort = "-mat_compound_wisdom " + own.path() + " " + exhaustive_tuning();
  (void)origin_of(file.options("measure"), problem());
  (void)origin_of(with_effort, problem());
  const Variable site = site_at(file.path());

  const std::string found = origin_of(with_effort, problem());

  EXPECT_TRUE(begins(found, "by wisdom: for this pattern ")) << found << ": the machine's is of too little effort";
}

TEST_F(WisdomTest, IsNotAskedWithoutTuning) {
  (void)origin_of(file.options("measure"), problem());

  EXPECT_EQ(origin_of("-mat_compound_wisdom " + file.path(), problem()), "default heuristic");
}

TEST_F(WisdomTest, IsMadeForAMatrixThatIsPackedAlreadyToo) {
  const auto A = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_wisdom " + file.path(), problem()),
             plain = filled_matrix(MATBAIJ, "", problem());
  EXPECT_TRUE(same_products(A, plain, 92));
  EXPECT_EQ(origin_in_view(A), "default heuristic");

  PETSC_OK(MatCompoundTune(A, "measure"));
  EXPECT_TRUE(same_products(A, plain, 93));
  EXPECT_TRUE(begins(origin_in_view(A), "by measurement: ")) << origin_in_view(A);

  PETSC_OK(MatCompoundTune(A, nullptr));
  EXPECT_TRUE(same_products(A, plain, 94));
  EXPECT_EQ(origin_in_view(A), "default heuristic");
  EXPECT_NE(catch_error([&] { return MatCompoundTune(A, "much"); }).code, 0);
}

TEST_F(WisdomTest, IsNotKeptWhereNobodyWantsIt) {
  const std::string none = origin_of("-mat_compound_wisdom none -mat_compound_tune wisdom", problem());

  EXPECT_EQ(none, "default heuristic (nothing in no wisdom file)");
}

}  // namespace
