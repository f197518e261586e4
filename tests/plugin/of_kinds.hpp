// Matrices of one kind of entry, for the tests about finding and leaving it.
#pragma once

#include "kinds.hpp"
#include "operations.hpp"
#include "view_text.hpp"

namespace petsc_test {

inline testing::AssertionResult says(const std::string& text, const std::string& wanted) {
  if (text.find(wanted) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << wanted << "' is not in:\n" << text;
}

/// `test` names a file.
inline testing::AssertionResult entry_is(const std::string& test, Mat A, const std::string& text) {
  return says(view_of(test, A), "compound entry: " + text + "\n");
}

/// With a full diagonal and couplings everywhere, so that no process's part is without blocks.
inline Problem problem_of(const std::string& kind, int bs, std::uint64_t seed = 201) {
  Random random(seed);
  const auto shape = spread(bs, 12, 12);
  return {shape, random_blocks(random, shape, 0.5, true), seed, kind};
}

struct ForCompound : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  /// Not all options: those of prefixes are set once for the whole program.
  void TearDown() override {
    for (const char* option : {"-pc_type", "-mat_compound_block_size", "-other_mat_compound_entry"})
      (void)PetscOptionsClearValue(nullptr, option);
  }
};

struct EachKind : ForCompound, testing::WithParamInterface<Kind> {
  static const std::string& kind() { return GetParam().name; }
  static int bs() { return some_size(GetParam()); }
  static Problem problem() { return problem_of(kind(), bs()); }
  static Matrix filled(const std::string& options, const std::string& type = tested_type()) {
    return filled_matrix(type, options, problem());
  }
  static Matrix plain() { return filled_matrix(parent_type(), "", problem()); }
};

}  // namespace petsc_test
