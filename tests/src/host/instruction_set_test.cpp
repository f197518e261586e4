#include "host/instruction_set.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "support/errors.hpp"

namespace compound::host {
namespace {

constexpr InstructionSet all_sets[] = {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512};
TEST(InstructionSets, AreFoundByTheirNames) {
  for (const InstructionSet set : all_sets) EXPECT_EQ(instruction_set(name_of(set)), set);
  EXPECT_FALSE(instruction_set("sse9").has_value());
}

TEST(InstructionSets, AreTheBestOfTheMachineUnlessAskedOtherwise) {
  EXPECT_EQ(instruction_set_in_use(), best_instruction_set());
}

TEST(InstructionSets, HaveTablesButForPlain) {
  EXPECT_EQ(simd_table(InstructionSet::plain).of_doubles.count, 0);
  for (const InstructionSet set : all_sets)
    if (set != InstructionSet::plain && set <= best_instruction_set()) {
      EXPECT_GT(simd_table(set).of_doubles.count, 0) << name_of(set);
      EXPECT_GT(simd_table(set).of_floats.count, 0) << name_of(set);
    }
}

TEST(InstructionSets, AreWhatTheHostBackendSaysItMultipliesWith) {
  const InstructionSet before = instruction_set_in_use();
  for (const InstructionSet set : all_sets) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    EXPECT_EQ(backend("host").code_for(parse_plan("csr", {}), test::real_3x3)->name(), name_of(set));
    EXPECT_EQ(backend("host").code_for(parse_plan("csr plain", {}), test::real_3x3)->name(), "plain");
  }
  use_instruction_set(before);
}

TEST(InstructionSets, OfAnotherMachineAreRefused) {
  if (best_instruction_set() == InstructionSet::avx512) GTEST_SKIP() << "this machine has them all";
  EXPECT_ERROR(use_instruction_set(InstructionSet::avx512), ErrorKind::argument, "instruction set avx512 is not there");
}

}  // namespace
}  // namespace compound::host
