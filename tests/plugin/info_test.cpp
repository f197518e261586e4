// MatCompoundInfo of programs that were compiled with another release's petsccompound.h.
#include <algorithm>
#include <array>
#include <cstring>

#include "systems.hpp"

extern "C" {
PetscErrorCode older_info(Mat A, PetscInt64 numbers[], size_t* known);
PetscErrorCode younger_info(Mat A, PetscInt64 numbers[], size_t* known);
}

namespace {

using namespace petsc_test;

constexpr size_t members = sizeof(MatCompoundInfo) / sizeof(PetscInt64);
constexpr PetscInt64 untouched = -77;
using Numbers = std::array<PetscInt64, members + 3>;  // more than any caller knows

/// Members that the plugin knows, and 0 for others.
Numbers told(const MatCompoundInfo& info, size_t known) {
  Numbers numbers;
  numbers.fill(untouched);
  std::fill_n(numbers.begin(), known, 0);
  std::memcpy(numbers.data(), &info, std::min(known, members) * sizeof(PetscInt64));
  return numbers;
}

TEST(Info, FillsWhatTheCallerKnows) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const Matrix A = spd(tested_type(), 3);
  product_of(A, all_products().front(), 5);
  const MatCompoundInfo info = info_of(A);
  ASSERT_TRUE(all_ranks(info.products > 0));

  for (const auto& [call, wanted] : {std::pair{&older_info, members - 1}, std::pair{&younger_info, members + 1}}) {
    Numbers numbers;
    numbers.fill(untouched);
    size_t known = 0;
    PETSC_OK(call(A, numbers.data(), &known));
    EXPECT_EQ(known, wanted);
    EXPECT_EQ(numbers, told(info, known));
  }
}

TEST(Info, IsOfCompoundMatricesAlone) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const Matrix A = spd(MATAIJ, 3);
  MatCompoundInfo info;
  const auto found = catch_error([&] { return MatCompoundGetInfo(A, &info); });
  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(found.message.find("MatCompound functions are for"), std::string::npos) << found.message;
}

}  // namespace
