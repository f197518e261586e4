// The guard against stale packed values: random operations on a compound matrix and its plain twin, compared each step.
#include "operations.hpp"

#include <cstdlib>

#include "kinds.hpp"

namespace {

using namespace petsc_test;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

constexpr int length = 30;

bool is_mpi(Mat A) {
  PetscBool mpi = PETSC_FALSE;
  PETSC_OK(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATMPIBAIJ, &mpi));
  return mpi == PETSC_TRUE;
}

bool fits(const Operation& operation, const Twins& twins) {
  if (operation.square && !twins.plain.shape.is_square()) return false;
  return operation.sequences <= Sequences::assembled_after ||
         (operation.sequences == Sequences::sequential && !is_mpi(twins.plain));
}

std::vector<const Operation*> operations_for(const Twins& twins) {
  std::vector<const Operation*> fitting;
  for (const auto* table : {&value_changes(), &assemblies(), &replacements()})
    for (const auto& operation : *table)
      if (fits(operation, twins)) fitting.push_back(&operation);
  return fitting;
}

/// Of entry; none in one case of three.
std::string random_kind(Random& random, int bs) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds())
    if (kind.exists(bs)) names.push_back(kind.name);
  const bool none = random.chance(1.0 / 3) || names.empty();
  return none ? "" : names[static_cast<std::size_t>(random.below(static_cast<int>(names.size())))];
}

Twins random_twins(Random& random) {
  const int block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const int bs = block_sizes[random.below(9)];
  const int rows = 1 + random.below(14), cols = random.chance(0.7) ? rows : 1 + random.below(14);
  const auto shape = random.chance(0.5) ? spread(bs, rows, cols) : scatter(random, bs, rows, cols);
  const auto variants = all_variants();
  const auto& variant = variants[static_cast<std::size_t>(random.below(static_cast<int>(variants.size())))];
  const auto kind = random_kind(random, bs);
  return filled_twins(variant, {shape, random_blocks(random, shape, 0.3, random.chance(0.5)), random.next(), kind});
}

/// Keeps the numbers in range: products of scales would overflow after some sequences. The same factor on both.
void tame(Twins& twins) {
  PetscReal norm = 0;
  PETSC_OK(MatNorm(twins.plain, NORM_FROBENIUS, &norm));
  if (norm > 1e6 || (norm > 0 && norm < 1e-6)) on_both(twins, [norm](Mat A) { PETSC_OK(MatScale(A, 1 / norm)); });
}

testing::AssertionResult same_on_the_diagonal_block(const Twins& twins, const Product& product, std::uint64_t seed) {
  if (!twins.plain.shape.is_square()) return testing::AssertionSuccess();
  Mat tested = nullptr, plain = nullptr;
  PETSC_OK(MatGetDiagonalBlock(twins.tested, &tested));
  PETSC_OK(MatGetDiagonalBlock(twins.plain, &plain));
  return same_product(tested, plain, product, seed);
}

/// Products in random order, so that every order of packing, repacking and reading happens.
testing::AssertionResult same_after_step(const Twins& twins, Random& random) {
  const auto& products = all_products();
  for (int k = 1 + random.below(3); k > 0; --k) {
    const auto& product = products[static_cast<std::size_t>(random.below(static_cast<int>(products.size())))];
    const auto seed = random.next();
    const auto result = random.chance(0.2) ? same_on_the_diagonal_block(twins, product, seed)
                                           : same_product(twins.tested, twins.plain, product, seed);
    if (!result) return result;
  }
  if (auto result = is_tested_type(twins.tested); !result) return result;
  return random.chance(0.3) ? counts_as_ours(twins.tested) : testing::AssertionSuccess();
}

std::string described(const Twins& twins) {
  const auto& shape = twins.plain.shape;
  return "block size " + std::to_string(shape.bs) + ", " + std::to_string(shape.block_rows()) + " x " +
         std::to_string(shape.block_cols()) + " blocks, " + twins.tested.variant.name;
}

/// One sequence; `history` names what was done so far.
testing::AssertionResult run_sequence(std::uint64_t seed, std::string& history) {
  Random random(seed);
  auto twins = random_twins(random);
  history += described(twins);
  for (int step = 0; step < length; ++step) {
    const auto operations = operations_for(twins);
    const auto& operation = *operations[static_cast<std::size_t>(random.below(static_cast<int>(operations.size())))];
    history += "\n  " + operation.name;
    apply(operation, twins, random.next());
    tame(twins);
    if (auto result = same_after_step(twins, random); !result) return result;
    if (operation.sequences == Sequences::assembled_after) {
      on_both(twins, [](Mat A) { assemble(A); });
      // Packs anew: that the next operation makes packed values stale is not to be this assembly's doing.
      if (auto result = same_product(twins.tested, twins.plain, all_products().front(), 35); !result) return result;
    }
  }
  return still_twins(twins, random.next());
}

TEST(RandomSequences, AgreeWithBaijAfterEveryStep) {
  const auto first = number_from_environment("COMPOUND_SEED", 20261120);
  const auto sequences = number_from_environment("COMPOUND_SEQUENCES", whole_tier() ? 200 : 120 / size());

  for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
    std::string history = "reproduce by COMPOUND_SEED=" + std::to_string(seed) + " COMPOUND_SEQUENCES=1: ";
    try {
      const auto result = run_sequence(seed, history);
      ASSERT_TRUE(result) << history;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << history;
    }
  }
}

}  // namespace
