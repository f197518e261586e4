// Kinds from a user's file, by NVRTC and without a device: shapes, kernels that compile, errors with the file's lines.
#include "cuda/entry_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cuda/kernel_source.hpp"
#include "cuda/nvrtc.hpp"
#include "entry/registry.hpp"
#include "support/errors.hpp"
#include "support/temporary.hpp"

namespace compound::test {
namespace {

constexpr ScalarType real_double{Field::real, Precision::double_}, complex_double{Field::complex, Precision::double_};

class EntryFile : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::nvrtc_version()) {
      std::cout << "skipped: there is no NVRTC here" << std::endl;
      GTEST_SKIP() << "there is no NVRTC here";
    }
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = folder / name;
    std::ofstream(file) << text;
    return file;
  }

  const TemporaryFolder folder;
};

/// Line 5 is block()'s.
std::string text_of_kind(const std::string& name, const std::string& line_5) {
  return "#include <petsccompound/entry.hpp>\n\ntemplate <class S>\nstruct " + name + " : compound::custom_entry<" +
         name + "<S>, S, 2, 2, 1> {\n" + line_5 +
         "\n  template <class B, class Put> COMPOUND_FN static void from_block(const B& b, const Put& put) {\n"
         "    put(0, 0, b(0, 0));\n  }\n};\n";
}
const std::string good_block =
    "  template <class W> COMPOUND_FN static S block(const W& w, int i, int j) { return i == j ? w(0, 0) : S{}; }";

TEST_F(EntryFile, GivesTheShapeOfTheExample) {
  const std::string file = COMPOUND_SOURCE_DIR "/examples/custom_entry/symmetric.hpp";

  cuda::register_entry_file("symmetric", file, real_double);
  cuda::register_entry_file("symmetric", file, real_double);
  cuda::register_entry_file("symmetric", file, complex_double);

  for (const Field field : {Field::real, Field::complex})
    EXPECT_EQ(entry_kind("symmetric").shape(field, {3, 3}), (EntryShape{3, 3, 6, false}));
}

TEST_F(EntryFile, IsCompiledOnceForAllMatrices) {
  const std::string file = write("once.hpp", text_of_kind("once", good_block));
  cuda::register_entry_file("once", file, real_double);
  const int compiled = cuda::compile_count();

  cuda::register_entry_file("once", file, real_double);

  EXPECT_EQ(cuda::compile_count(), compiled);
}

TEST_F(EntryFile, HasKernelsThatCompile) {
  cuda::register_entry_file("symmetric", COMPOUND_SOURCE_DIR "/examples/custom_entry/symmetric.hpp", real_double);
  const Problem problem{{3, 3}, real_double};
  for (const char* line : {"csr rows lanes=8", "sell:32 rows unroll=2 values=float"}) {
    const Plan plan = parse_plan(std::string("entry=symmetric threads=128 blocks=8 ") + line, {});
    ASSERT_FALSE(cuda::why_no_kernel(plan, problem));
    EXPECT_NO_THROW(
        cuda::compile(cuda::product_source(plan, problem, Op::none, Update::assign, false, false, true), 90));
    EXPECT_NO_THROW(
        cuda::compile(cuda::product_source(plan, problem, Op::hermitian, Update::add, true, true, true), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::pack_source(plan, problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::regroup_source(plan, plan, problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::diagonal_source(plan, problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::inverse_source(plan, problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::fit_source("symmetric", problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::entry_trial_source("symmetric", problem), 90));
  }
}

TEST_F(EntryFile, MayHaveTheNameOfSomethingInside) {
  cuda::register_entry_file("product", write("product.hpp", text_of_kind("product", good_block)), real_double);
  const Problem problem{{2, 2}, real_double};
  const Plan plan = parse_plan("entry=product csr threads=128 blocks=8", {});

  EXPECT_NO_THROW(cuda::compile(cuda::product_source(plan, problem, Op::none, Update::assign, false, false, true), 90));
}

TEST_F(EntryFile, ThatDoesNotCompileIsAnErrorWithItsLine) {
  const std::string file = write("broken.hpp", text_of_kind("broken", "  int block = no_such_thing;"));

  EXPECT_ERROR(cuda::register_entry_file("broken", file, real_double), ErrorKind::argument,
               "entry 'broken' from '" + file + "'");
  EXPECT_ERROR(cuda::register_entry_file("broken", file, real_double), ErrorKind::argument, "broken.hpp(5): error");
}

TEST_F(EntryFile, MayLieInAFolderOfAnyName) {
  const std::string strange = folder / "a \"b\" \\n";
  std::filesystem::create_directory(strange);
  const std::string file = strange + "/quoted.hpp";
  std::ofstream(file) << text_of_kind("quoted", good_block);

  EXPECT_NO_THROW(cuda::register_entry_file("quoted", file, real_double));
}

/// What a cache keeps by the text of the file alone must come from it alone.
TEST_F(EntryFile, IncludesNoFileOfTheWorkingDirectory) {
  const std::string file = write("lonely.hpp", "#include \"neighbour.hpp\"\n" + text_of_kind("lonely", good_block));
  write("neighbour.hpp", "\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(file).parent_path());

  EXPECT_ERROR(cuda::register_entry_file("lonely", file, real_double), ErrorKind::argument, "neighbour.hpp");

  std::filesystem::current_path(before);
}

TEST_F(EntryFile, WithoutTheTemplateIsAnErrorThatNamesIt) {
  const std::string file = write("other.hpp", text_of_kind("other", good_block));

  EXPECT_ERROR(cuda::register_entry_file("another", file, real_double), ErrorKind::argument,
               "(which must define template <class S> struct another): ");
}

TEST_F(EntryFile, WithAnotherNameInItIsAnError) {
  const std::string file =
      write("misnamed.hpp", text_of_kind("misnamed", good_block + "static constexpr const char* name = \"other\";"));

  EXPECT_ERROR(cuda::register_entry_file("misnamed", file, real_double), ErrorKind::argument,
               "`name` must be that of the template and of the file");
}

TEST_F(EntryFile, OfNoNameForATemplateIsAnErrorBeforeItIsRead) {
  EXPECT_ERROR(cuda::register_entry_file("a-b", folder / "a-b.hpp", real_double), ErrorKind::argument,
               "the name must be that of a C++ template");
  EXPECT_ERROR(cuda::register_entry_file("auto", folder / "auto.hpp", real_double), ErrorKind::argument, "'auto'");
}

TEST_F(EntryFile, WithoutAFunctionIsAnErrorThatNamesIt) {
  const std::string file = write("blockless.hpp", text_of_kind("blockless", ""));

  EXPECT_ERROR(cuda::register_entry_file("blockless", file, real_double), ErrorKind::argument, "\"block\"");
}

TEST_F(EntryFile, ThatCannotBeReadIsAnError) {
  EXPECT_ERROR(cuda::register_entry_file("none", folder / "none.hpp", real_double), ErrorKind::argument,
               "none.hpp', cannot be read or is empty");
  EXPECT_ERROR(cuda::register_entry_file("none", folder.path(), real_double), ErrorKind::argument, "cannot be read");
  EXPECT_ERROR(cuda::register_entry_file("none", write("empty.hpp", ""), real_double), ErrorKind::argument, "is empty");
}

TEST_F(EntryFile, OfABuiltInNameIsRefused) {
  const std::string file = write("quaternion.hpp", text_of_kind("quaternion", good_block));

  EXPECT_ERROR(cuda::register_entry_file("quaternion", file, real_double), ErrorKind::argument,
               "a built-in format has this name");
}

}  // namespace
}  // namespace compound::test
