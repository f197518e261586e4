// Products on a device, with vectors on either side, against plain BAIJ on the host.
#include <cstdio>

#include "device.hpp"
#include "kinds.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;
using compound::test::Variable;

struct DeviceProducts : DeviceTest {};

/// Every layout; in the tier quick two of them, by turns: each has kernels that NVRTC must compile.
std::vector<std::string> pinned_types(int turn) {
  const char* const layouts[] = {"", "csr", "ellr", "sell", "hdia", "ccoo"};
  std::vector<std::string> types;
  for (int n = 0; n < static_cast<int>(std::size(layouts)); ++n)
    if (whole_tier() || n % 3 == turn % 3) types.push_back(pinned_type(layouts[n]));
  return types;
}

TEST_F(DeviceProducts, AgreeWithBaijInAllMixesOfVectors) {
  for (const int bs : {1, 2, 3, 4, 5, 7, 11})
    for (const std::string& type : pinned_types(bs)) {
      SCOPED_TRACE(type + " " + std::to_string(bs));
      const auto problem = random_problem(301, spread(bs, 23, 23));
      const auto A = filled_matrix(type, "", problem), plain = filled_matrix(MATBAIJ, "", problem);
      EXPECT_TRUE(same_everywhere(A, plain, 302));
      EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
    }
}

/// Products that run on the host, with vectors of PETSc's device or of the one that is not there (fake_cuda.cpp).
struct HostProducts : DeviceTest {
  void SetUp() override {
    if (!PetscDeviceInitialized(PETSC_DEVICE_CUDA)) DeviceTest::SetUp();
  }
};

TEST_F(HostProducts, AgreeWithBaijInAllMixesOfVectors) {
  for (const int bs : {1, 3, 7})
    for (const std::string& type : pinned_types(bs)) {
      SCOPED_TRACE(type + " " + std::to_string(bs));
      const auto problem = random_problem(371, spread(bs, 23, 23));
      const auto A = filled_matrix(type, "", problem), plain = filled_matrix(MATBAIJ, "", problem);
      PETSC_OK(MatCompoundSetBackend(A, "host"));
      EXPECT_TRUE(same_everywhere(A, plain, 372));
      EXPECT_TRUE(all_ranks(info_of(A).device_bytes == 0));
    }
}

/// Without code for the host; the base type multiplies there, and has no Hermitian transposes of complex ones.
TEST_F(HostProducts, OfLargeBlocksAgreeWithBaijInAllMixesOfVectors) {
  const auto problem = random_problem(373, spread(33, 23, 23));
  const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
  for (const Product& product : all_products())
    for (int mix = 0; mix < all_mixes; ++mix)
      if (!PetscDefined(USE_COMPLEX) || !product.hermitian) {
        EXPECT_TRUE(same_in_mix(A, plain, product, mix, 374));
      }
}

TEST_F(DeviceProducts, OfEachKindOfEntryAgreeWithBaijBeforeAndAfterItIsLeft) {
  int turn = 0;
  for (const Kind& kind : kinds())
    for (const std::string& type : pinned_types(turn++)) {
      SCOPED_TRACE(type + " " + kind.name);
      const int bs = kind.size == 0 ? 3 : kind.size;
      auto problem = random_problem(331, spread(bs, 23, 23));
      problem.kind = kind.name;
      const auto A = filled_matrix(type, "", problem), plain = filled_matrix(MATBAIJ, "", problem);
      const auto diagonal = right_vector(A, 332), of_plain = right_vector(plain, 332);

      EXPECT_TRUE(same_everywhere(A, plain, 332));
      EXPECT_TRUE(all_ranks(info_of(A).stored_blocks == 0 || info_of(A).device_bytes > 0));
      EXPECT_NE(plan_of(A).find("entry=" + kind.name), std::string::npos) << plan_of(A);
      PETSC_OK(MatGetDiagonal(A, diagonal));
      PETSC_OK(MatGetDiagonal(plain, of_plain));
      EXPECT_TRUE(same_bits(on_side(diagonal, false), on_side(of_plain, false)));

      problem.kind.clear();
      for (Mat m : {Mat(A), Mat(plain)}) {
        insert_blocks(m, problem, 333, INSERT_VALUES);
        assemble(m);
      }
      EXPECT_TRUE(same_everywhere(A, plain, 334));
      EXPECT_EQ(plan_of(A).find("entry=" + kind.name), std::string::npos) << plan_of(A);
    }
}

/// Whatever chose the plan: its origin says it, and its products are right.
TEST_F(DeviceProducts, ByTunedPlansAgreeWithBaij) {
  const auto problem = random_problem(351, spread(3, 40, 40));
  const auto plain = filled_matrix(MATBAIJ, "", problem);
  const std::pair<std::string, const char*> ways[] = {{"-mat_compound_tune model", "by model"},
                                                      {"-mat_compound_tune measure", "by measurement: "},
                                                      {exhaustive_tuning(), "by measurement: "}};
  for (const auto& [options, origin] : ways) {
    SCOPED_TRACE(options);
    const auto A = filled_matrix(tested_type(), "-mat_compound_wisdom none " + options, problem);
    EXPECT_TRUE(same_everywhere(A, plain, 352));
    const std::string text = view_of("device_products_test", A);
    EXPECT_NE(text.find(origin), std::string::npos) << text;
  }
}

TEST_F(DeviceProducts, SayThatAFileOfTablesIsNotUsed) {
  const auto problem = random_problem(361, spread(3, 40, 40));
  const auto plain = filled_matrix(MATBAIJ, "", problem);
  const Variable tables("COMPOUND_DEVICES", "no-such-file");
  testing::internal::CaptureStderr();

  const auto A = filled_matrix(tested_type(), "-mat_compound_wisdom none -mat_compound_tune model", problem);
  EXPECT_TRUE(same_everywhere(A, plain, 362));

  std::fflush(stderr);
  const auto text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("COMPOUND_DEVICES is not used") != std::string::npos, rank() == 0) << text;
}

/// Rows and columns that no size divides, so that scalars are left over at the edges; nodes of uneven size.
TEST_F(DeviceProducts, OfPackedBlocksOfOtherSizesAgreeWithBaij) {
  for (const std::string size : {"3", "3x2", "2x5", "7", "find", "find:model", "find:measure"}) {
    const std::string option = "-mat_compound_block_size " + size;
    const auto problem = random_problem(341, spread(1, 41, 41));
    const auto A = filled_matrix(tested_type(), option, problem), plain = filled_matrix(MATBAIJ, "", problem);

    EXPECT_TRUE(same_everywhere(A, plain, 342)) << size;
    EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0)) << size;
  }
}

TEST_F(DeviceProducts, OfNodesOfUnevenSizeAgreeWithBaij) {
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_block_size", "3"));
  const auto A = scalar_matrix(3, true, tested_type()), plain = scalar_matrix(3, true, MATBAIJ);

  EXPECT_TRUE(same_everywhere(A, plain, 343));
  EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
}

TEST_F(DeviceProducts, SeeChangedValuesAndLeaveDuplicatesAlone) {
  const auto problem = random_problem(303, spread(3, 17, 17));
  const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
  EXPECT_TRUE(same_everywhere(A, plain, 304));
  Matrix copy, plain_copy;
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
  PETSC_OK(MatDuplicate(plain, MAT_COPY_VALUES, plain_copy.out()));

  PETSC_OK(MatScale(A, -3.0));
  PETSC_OK(MatScale(plain, -3.0));

  EXPECT_TRUE(same_everywhere(A, plain, 305));
  EXPECT_TRUE(same_everywhere(copy, plain_copy, 306));
}

TEST_F(DeviceProducts, OfABoundMatrixRunOnTheHost) {
  const auto problem = random_problem(307, spread(3, 17, 17));
  const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
  PETSC_OK(MatBindToCPU(A, PETSC_TRUE));
  EXPECT_TRUE(same_everywhere(A, plain, 308));
  EXPECT_EQ(info_of(A).device_bytes, 0);
  Vector x;
  PETSC_OK(MatCreateVecs(A, x.out(), nullptr));
  EXPECT_EQ(type_of(x).find("cuda"), std::string::npos);

  PETSC_OK(MatBindToCPU(A, PETSC_FALSE));
  EXPECT_TRUE(same_everywhere(A, plain, 309));
  EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
}

TEST_F(DeviceProducts, FollowVectorsBoundToTheHost) {
  const auto problem = random_problem(310, spread(3, 17, 17));
  const auto A = filled_matrix(tested_type(), "", problem);
  const auto x = on_side(right_vector(A, 311), true), y = on_side(left_vector(A, 311), true);
  PETSC_OK(VecBindToCPU(x, PETSC_TRUE));
  PETSC_OK(VecBindToCPU(y, PETSC_TRUE));

  PETSC_OK(MatMult(A, x, y));

  EXPECT_EQ(info_of(A).device_bytes, 0);
}

/// The first without a copy on the device, which is not made for a diagonal alone.
TEST_F(DeviceProducts, DiagonalsAreThoseOfTheHostBeforeAndAfterAProduct) {
  const auto problem = random_problem(312, spread(3, 17, 17));
  const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
  const auto expected = left_vector(A, 1);
  PETSC_OK(MatGetDiagonal(plain, expected));

  for (const bool multiplied : {false, true}) {
    const auto d = on_side(left_vector(A, 1), true);
    PETSC_OK(MatGetDiagonal(A, d));
    EXPECT_TRUE(same_bits(on_side(d, false), expected));
    EXPECT_TRUE(all_ranks((info_of(A).device_bytes > 0) == multiplied));
    EXPECT_TRUE(same_everywhere(A, plain, 313));
  }
}

struct DeviceByName : DeviceTest {
  DeviceByName() : DeviceTest(false) {}
};

TEST_F(DeviceByName, MultipliesVectorsOnTheHost) {
  const auto problem = random_problem(315, spread(3, 17, 17));
  const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
  PETSC_OK(MatCompoundSetBackend(A, "cuda"));

  EXPECT_TRUE(same_products(A, plain, 316));

  EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
}

/// COMPOUND_CUDA_FAIL_ALLOCATION=n makes the n-th allocation on the device from now on fail. Without a failure both
/// parts of the matrix stay on the device, with all their bytes.
TEST_F(DeviceByName, MultipliesByCusparseWhereAPlanSaysSo) {
  struct ByLibrary {
    int block_size;
    const char* plan;
  };
  for (const ByLibrary& by : {ByLibrary{1, "cusparse:csr-alg2"}, ByLibrary{3, "cusparse:bsr-column"},
                              ByLibrary{3, "cusparse:bsrmv-row off: cusparse:bsr-row"}}) {
    SCOPED_TRACE(by.plan);
    const auto problem = random_problem(317, spread(by.block_size, 23, 23));
    const auto A = filled_matrix(tested_type(), "", problem), plain = filled_matrix(MATBAIJ, "", problem);
    PETSC_OK(MatCompoundSetBackend(A, "cuda"));
    PETSC_OK(MatCompoundSetPlan(A, by.plan));

    EXPECT_TRUE(same_products(A, plain, 318));

    EXPECT_NE(plan_of(A).find(" cusparse:"), std::string::npos) << plan_of(A);
  }
}

TEST_F(DeviceByName, TriesCusparseWhereTuningIsAskedTo) {
  for (const int bs : {1, 3}) {
    const auto problem = random_problem(319, spread(bs, 23, 23));
    const auto A = filled_matrix(
        tested_type(), "-mat_compound_tune measure -mat_compound_wisdom none -mat_compound_tune_libraries cusparse",
        problem);
    const auto plain = filled_matrix(MATBAIJ, "", problem);
    PETSC_OK(MatCompoundSetBackend(A, "cuda"));

    EXPECT_TRUE(same_products(A, plain, 320));

    const auto text = view_of("device_products_test", A);
    EXPECT_EQ(text.find("none by cusparse"), std::string::npos) << text;
  }
}

TEST_F(DeviceByName, FallsBackToTheHostWhereverMemoryRunsOut) {
  const auto problem = random_problem(313, spread(3, 17, 17));
  const auto plain = filled_matrix(MATBAIJ, "", problem);
  const auto device_bytes = [&] {
    const auto A = filled_matrix(tested_type(), "", problem);
    PETSC_OK(MatCompoundSetBackend(A, "cuda"));
    EXPECT_TRUE(same_products(A, plain, 314));
    if (PetscDefined(HAVE_CUDA)) {
      EXPECT_TRUE(same_everywhere(A, plain, 314));
    }
    return info_of(A).device_bytes;
  };
  const auto without_failure = device_bytes();
  bool failed = true;
  int n = 0;
  while (failed && ++n < 200) {
    SCOPED_TRACE("allocation " + std::to_string(n) + " fails");
    const auto fails = failing_allocation(n);
    failed = !all_ranks(device_bytes() == without_failure);
  }
  EXPECT_FALSE(failed) << "products came to the host though nothing failed";
  EXPECT_GT(n, 3) << "no allocation failed: does the backend read COMPOUND_CUDA_FAIL_ALLOCATION?";
}

}  // namespace
