// How cuSPARSE is called: by one of plain loops over host memory in its place, which COMPOUND_CUSPARSE names. No device
// is needed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cuda/cusparse.hpp"
#include "cuda/fake_cusparse.hpp"
#include "cuda/library_cases.hpp"
#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

// Of cusparse.h, which tests do without.
constexpr int alloc_failed = 2, execution_failed = 6, not_supported = 10;
constexpr int by_itself = 0, second_of_rows = 3, of_blocks = 6;

FakeCusparse& fake() {
  using State = FakeCusparse* (*)();
  static const State state = [] {
    setenv("COMPOUND_CUSPARSE", COMPOUND_FAKE_CUSPARSE, 1);
    void* const library = dlopen(COMPOUND_FAKE_CUSPARSE, RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<State>(dlsym(library, "fake_cusparse_state")) : nullptr;
  }();
  if (!state) throw error(ErrorKind::unsupported, std::string("no ") + COMPOUND_FAKE_CUSPARSE);
  return *state();
}

/// Packs as the host does, and multiplies by the library.
class LibraryBackend final : public RecordingBackend {
 public:
  LibraryBackend() : RecordingBackend("library") {}
  void multiply(const ProductTask& t) override {
    if (!matrix_) matrix_ = cuda::cusparse_matrix(*find_library_product(t.plan.schedule.library), t.plan, t.problem);
    matrix_->multiply(t, nullptr);
  }

 protected:
  std::optional<std::string> why_not(const Plan& plan, const Problem&) const override {
    return cuda::why_no_cusparse(*find_library_product(plan.schedule.library));
  }

 private:
  std::unique_ptr<cuda::CusparseMatrix> matrix_;
};

/// y = z + A x with z apart is a copy on the device before it.
constexpr Form forms_in_place[] = {Form::assign, Form::add_in_place};

class CusparseCalls : public testing::TestWithParam<LibraryCase> {
 protected:
  void SetUp() override { fake() = {}; }
};

INSTANTIATE_TEST_SUITE_P(All, CusparseCalls, testing::ValuesIn(library_cases()),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

TEST_P(CusparseCalls, MultiplyByThePackedWords) {
  const LibraryCase& c = GetParam();
  const Pattern pattern = random_pattern(40, 30, 9, 3);
  with_scalar(c.scalar, [&]<class S>(S) {
    Random random;
    Operands<S> operands(pattern, c.entry, c.block, random);
    LibraryBackend on;
    PackedMatrix A = packed(operands, c.plan(), on);
    for (int values = 0; values < 2; ++values) {
      for (const Form form : forms_in_place)
        EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, form),
                           reference_product(operands, A.plan().values, Op::none, form)))
            << product_name(Op::none, form) << ", " << seed_text();
      operands.blocks = random_blocks<S>(c.entry, c.block, pattern.view().entries(), random);
      A.update_values(operands.blocks.data());
    }
    if (c.product->call == LibraryCall::older) return;
    EXPECT_EQ(fake().algorithm, c.product->form == LibraryForm::blocks   ? of_blocks
                                : c.product->call == LibraryCall::second ? second_of_rows
                                                                         : by_itself);
    EXPECT_EQ(fake().preparations, 1) << "new values and vectors want none";
  });
  EXPECT_EQ(fake().alive, 0);
}

/// A failure at any call is an error that names it, and the next product is right.
TEST_P(CusparseCalls, GoOnAfterAFailure) {
  const LibraryCase& c = GetParam();
  if (c.scalar != ScalarType{Field::real, Precision::double_} || c.block.rows > 3) return;
  const Pattern pattern = random_pattern(20, 20, 5, 3);
  Random random;
  const Operands<double> operands(pattern, c.entry, c.block, random);
  int failed = 0;
  for (const std::string_view call :
       {"cusparseCreate", "cusparseSetStream", "cusparseCreateCsr", "cusparseCreateBsr", "cusparseCreateDnVec",
        "cusparseSpMV_bufferSize", "cusparseSpMV_preprocess", "cusparseDnVecSetValues", "cusparseSpMV",
        "cusparseCreateMatDescr", "cusparse<t>bsrmv"})
    for (const int status : {execution_failed, alloc_failed}) {
      SCOPED_TRACE(call);
      LibraryBackend on;
      const PackedMatrix A = packed(operands, c.plan(), on);
      fake().failing = call;
      fake().status = status;
      try {
        (void)multiplied(A, operands, Op::none, Form::assign);
        EXPECT_EQ(fake().failing, call) << "it was not called";
      } catch (const error& e) {
        ++failed;
        EXPECT_EQ(e.kind(), ErrorKind::device);
        EXPECT_EQ(status, execution_failed);
        EXPECT_EQ(std::string(e.what()),
                  "cuSPARSE 12.0.0: " + std::string(call) +
                      "() returned CUSPARSE_STATUS_OF_TEST (a test wants it to); name another plan than one of "
                      "cusparse: (-mat_compound_plan), or leave cuSPARSE out of tuning (-mat_compound_tune_libraries "
                      "none)");
      } catch (const std::bad_alloc&) {
        ++failed;
        EXPECT_EQ(status, alloc_failed);
      }
      fake().failing = {};

      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                         reference_product(operands, Precision::double_, Op::none, Form::assign)));
    }
  EXPECT_GE(failed, c.product->call == LibraryCall::older ? 8 : 14);
  EXPECT_EQ(fake().alive, 0);
}

/// Two matrices take turns at one that the library has, as copies do whose arrays are made anew.
TEST(CusparseCall, TellsOfArraysThatMoved) {
  fake() = {};
  const Pattern pattern = random_pattern(20, 20, 5, 3), other = random_pattern(20, 20, 5, 4);
  Random random;
  const Operands<double> first(pattern, "dense", {3, 3}, random), second(other, "dense", {3, 3}, random);
  const Plan plan = parse_plan("cusparse:bsr-column", {});
  LibraryBackend on;
  const PackedMatrix A = packed(first, plan, on), B = packed(second, plan, on);
  const auto expect_right = [](const PackedMatrix& matrix, const Operands<double>& operands) {
    EXPECT_TRUE(agrees(multiplied(matrix, operands, Op::none, Form::assign),
                       reference_product(operands, Precision::double_, Op::none, Form::assign)));
  };
  expect_right(A, first);
  expect_right(B, second);
  expect_right(A, first);

  fake().failing = "cusparseCreateBsr";
  fake().status = execution_failed;
  EXPECT_ERROR(multiplied(B, second, Op::none, Form::assign), ErrorKind::device, "cusparseCreateBsr() returned");

  expect_right(A, first);
  expect_right(B, second);
}

TEST(CusparseCall, OfPreparingMayBeUnsupported) {
  fake() = {};
  fake().failing = "cusparseSpMV_preprocess";
  fake().status = not_supported;
  const Pattern pattern = random_pattern(20, 20, 5, 3);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  LibraryBackend on;
  const PackedMatrix A = packed(operands, parse_plan("cusparse:bsr-row", {}), on);

  EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                     reference_product(operands, Precision::double_, Op::none, Form::assign)));
  EXPECT_TRUE(fake().failing.empty());
}

}  // namespace
}  // namespace compound::test
