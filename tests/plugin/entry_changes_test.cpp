// Kinds of entry that were found, when values change: kept, or left for another without a wrong product.
#include "coo_entries.hpp"
#include "info.hpp"
#include "of_kinds.hpp"

namespace {

using namespace petsc_test;

const std::string test = "entry_changes_test";

testing::AssertionResult entry_is(Mat A, const std::string& text) { return petsc_test::entry_is(test, A, text); }

INSTANTIATE_TEST_SUITE_P(Kinds, EachKind, testing::ValuesIn(kinds()),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(EachKind, StaysWhenValuesOfTheKindFollow) {
  const auto A = filled("");
  const auto plain_matrix = plain();
  EXPECT_TRUE(same_products(A, plain_matrix, 206));
  const auto packs = info_of(A).pattern_packs;
  for (Mat m : {Mat(A), Mat(plain_matrix)}) {
    insert_blocks(m, problem(), 207, INSERT_VALUES);
    assemble(m);
    PETSC_OK(MatScale(m, 2.0));
  }

  EXPECT_TRUE(same_products(A, plain_matrix, 208));

  EXPECT_TRUE(entry_is(A, entry_text(kind(), bs())));
  EXPECT_TRUE(all_ranks(info_of(A).pattern_packs == packs));
}

TEST_P(EachKind, IsLeftForDenseAndNotTakenUpAgain) {
  const auto A = filled("");
  const auto plain_matrix = plain();
  EXPECT_TRUE(same_products(A, plain_matrix, 209));
  auto dense = problem();
  dense.kind.clear();
  const auto text = own_info_during(test, [&] {
    for (Mat m : {Mat(A), Mat(plain_matrix)}) {
      insert_blocks(m, dense, 210, INSERT_VALUES);
      assemble(m);
    }
    EXPECT_TRUE(same_products(A, plain_matrix, 211));
  });

  EXPECT_TRUE(all_ranks(says(text, "does not fit the block format " + kind() + " that was found before")));
  EXPECT_TRUE(all_ranks(says(text, "Block format found: dense"))) << text;
  EXPECT_TRUE(entry_is(A, "dense (found)"));
  for (Mat m : {Mat(A), Mat(plain_matrix)}) {
    insert_blocks(m, problem(), 212, INSERT_VALUES);
    assemble(m);
  }
  EXPECT_TRUE(same_products(A, plain_matrix, 213));
  EXPECT_TRUE(entry_is(A, "dense (found)"));
}

TEST_P(EachKind, IsFoundAnewWithAnotherPattern) {
  const auto A = filled(""), plain_matrix = plain();
  EXPECT_TRUE(same_products(A, plain_matrix, 217));
  Random random(218);
  for (const std::string& of : {kind(), std::string()}) {
    const Problem more{problem().shape, random_blocks(random, problem().shape, 0.3, false), 219, of};
    for (Mat m : {Mat(A), Mat(plain_matrix)}) {
      allow_new_nonzeros(m);
      PETSC_OK(
          MatAXPY(m, 2.0, filled_matrix(m == A ? tested_type() : parent_type(), "", more), DIFFERENT_NONZERO_PATTERN));
    }
    EXPECT_TRUE(same_products(A, plain_matrix, 220));
    EXPECT_TRUE(entry_is(A, of.empty() ? "dense (found)" : entry_text(kind(), bs())));
  }
}

TEST_F(ForCompound, ByCoordinatesAreFoundAndLeft) {
  for (const Kind& kind : kinds()) {
    const int bs = some_size(kind);
    const auto p = problem_of(kind.name, bs, 259);
    petsc_test::Entries e;
    std::vector<PetscScalar> v;
    for (const Block& b : p.blocks) {
      if (!p.shape.owns_row(b.row)) continue;
      const auto block = block_of(kind.name, bs, static_cast<std::uint64_t>(b.row * 100 + b.col));
      for (int i = 0; i < bs; ++i)
        for (int j = 0; j < bs; ++j) {
          e.row.push_back(b.row * bs + i), e.column.push_back(b.col * bs + j);
          v.push_back(block[static_cast<std::size_t>(i * bs + j)]);
        }
    }
    const auto A = made_of(tested_type(), p.shape, e), aij = made_of(MATAIJ, p.shape, e);
    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);
    EXPECT_TRUE(same_matrix(A, aij, 260));
    EXPECT_TRUE(entry_is(A, entry_text(kind.name, bs)));

    const auto w = whole_values(261, e);
    set(A, w, ADD_VALUES);
    set(aij, w, ADD_VALUES);
    EXPECT_TRUE(same_matrix(A, aij, 262));
    EXPECT_TRUE(entry_is(A, "dense (found)"));
  }
}

struct Change {
  Operation operation;
  Kind kind;
};
void PrintTo(const Change& c, std::ostream* out) { *out << c.operation.name << " of " << c.kind.name; }

std::vector<Change> all_changes() {
  std::vector<Change> all;
  for (const Kind& kind : kinds())
    for (const auto* table : {&value_changes(), &assemblies(), &replacements()})
      for (const auto& operation : *table) all.push_back({operation, kind});
  return all;
}

struct Changes : testing::TestWithParam<Change> {};

/// Also with values that stay of the kind (companions are of it in one case of two), and in slices.
TEST_P(Changes, ReachTheNextProduct) {
  const auto& [operation, kind] = GetParam();
  if (size() > 1 && operation.sequences > Sequences::assembled_after) GTEST_SKIP() << "plain baij corrupts memory";
  for (const Variant& variant : some_variants())
    for (std::uint64_t seed = 240; seed < 243; ++seed) {
      auto twins = filled_twins(variant, problem_of(kind.name, some_size(kind), seed));
      EXPECT_TRUE(same_products(twins.tested, twins.plain, seed));

      apply(operation, twins, seed);

      EXPECT_TRUE(still_twins(twins, seed + 1)) << variant.name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Changes, testing::ValuesIn(all_changes()), [](const auto& param_info) {
  return param_info.param.operation.name + "_of_" + param_info.param.kind.name;
});

}  // namespace
