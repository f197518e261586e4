// Products of every layout and block size on the shapes that break kernels, against plain BAIJ.
#include "compare.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "kinds.hpp"
#include "support/pairwise.hpp"

namespace {

using namespace petsc_test;
namespace pairwise = compound::test;

const int block_sizes[] = {1, 2, 3, 4, 5, 7, 8, 11};

struct Form {
  const char* name;
  Problem (*make)(int bs);
  bool square = true;
};

Problem full_diagonal(int bs, int n) {
  Problem p{spread(bs, n, n), {}, 3};
  for (int i = 0; i < n; ++i) p.blocks.push_back({i, i});
  return p;
}

const Form forms[] = {
    {"random", [](int bs) { return random_problem(11, spread(bs, 13, 13)); }},
    {"sparse_with_empty_rows", [](int bs) { return random_problem(12, spread(bs, 19, 19), 0.05); }},
    {"no_entries",
     [](int bs) {
       return Problem{spread(bs, 5, 5), {}, 1};
     }},
    {"one_block", [](int bs) { return full_diagonal(bs, 1); }},
    {"diagonal", [](int bs) { return full_diagonal(bs, 9); }},
    {"one_long_row",
     [](int bs) {
       auto p = full_diagonal(bs, 17);
       p.blocks.erase(p.blocks.begin() + 4);
       for (int j = 0; j < 17; ++j) p.blocks.insert(p.blocks.begin() + 4 + j, {4, j});
       return p;
     }},
    {"wide", [](int bs) { return random_problem(13, spread(bs, 6, 15)); }, false},
    {"tall", [](int bs) { return random_problem(14, spread(bs, 15, 6)); }, false},
    {"some_processes_own_nothing",
     [](int bs) {
       auto shape = spread(bs, 8, 8);
       shape.rows.assign(shape.rows.size(), 0);
       shape.rows.back() = 8;
       shape.cols = shape.rows;
       return random_problem(15, shape);
     }},
    {"columns_elsewhere_than_rows",
     [](int bs) {
       auto shape = spread(bs, 9, 7);
       shape.rows.assign(shape.rows.size(), 0);
       shape.cols = shape.rows;
       shape.rows.front() = 9;
       shape.cols.back() = 7;
       return random_problem(16, shape);
     },
     false},
    {"of_a_kind_of_entry",
     [](int bs) {
       auto p = random_problem(18, spread(bs, 13, 13));
       p.kind = some_kind(bs);
       return p;
     }},
    {"multiples_of_the_identity",
     [](int bs) {
       auto p = random_problem(19, spread(bs, 13, 13));
       p.kind = bs > 1 ? "scaled_identity" : "";
       return p;
     }},
    {"many_slices", [](int bs) { return random_problem(17, spread(bs, 101, 101), 0.04); }},
};

void agree_with_baij(const Variant& variant, const Problem& problem) {
  const auto twins = filled_twins(variant, problem);

  EXPECT_TRUE(same_products(twins.tested, twins.plain, 21));
}

void are_counted_and_type_and_layout_are_those_asked_for(const Variant& variant, const Problem& problem) {
  const auto twins = filled_twins(variant, problem);

  EXPECT_TRUE(still_twins(twins, 22));
}

void repeat_bit_by_bit(const Variant& variant, const Problem& problem) {
  const auto A = filled_matrix(variant.type, variant.options, problem);
  const auto again = filled_matrix(variant.type, variant.options, problem);

  for (const auto& product : all_products()) {
    SCOPED_TRACE(product.name);
    const auto first = product_of(A, product, 23);
    EXPECT_TRUE(same_bits(product_of(A, product, 23), first));
    EXPECT_TRUE(same_bits(product_of(again, product, 23), first));
  }
}

/// x (or x of the transpose) with one block of NaN and one of infinities.
Vector poisoned(Mat A, bool transposed, int bs) {
  auto x = transposed ? left_vector(A, 24) : right_vector(A, 24);
  PetscInt first = 0, last = 0, n = 0;
  PETSC_OK(VecGetSize(x, &n));
  PETSC_OK(VecGetOwnershipRange(x, &first, &last));
  PetscScalar* at = nullptr;
  PETSC_OK(VecGetArray(x, &at));
  for (PetscInt i = first; i < last; ++i) {
    // Block 0 is what padding would read when its column is stored as 0.
    if (i / bs == 0) at[i - first] = std::numeric_limits<PetscReal>::quiet_NaN();
    if (i / bs == n / bs - 1) at[i - first] = std::numeric_limits<PetscReal>::infinity();
  }
  PETSC_OK(VecRestoreArray(x, &at));
  return x;
}

Vector answer(Mat A, bool transposed, Vec x) {
  auto y = transposed ? right_vector(A, 25) : left_vector(A, 25);
  PETSC_OK(transposed ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
  return y;
}

void do_not_leak_nan_and_infinity_through_padding(const Variant& variant, const Problem& problem) {
  const auto twins = filled_twins(variant, problem);
  const int bs = problem.shape.bs;
  const auto x = poisoned(twins.plain, false, bs), xt = poisoned(twins.plain, true, bs);

  const auto y = answer(twins.tested, false, x), yt = answer(twins.tested, true, xt);

  EXPECT_TRUE(same_finite_places(y, answer(twins.plain, false, x)));
  EXPECT_TRUE(same_finite_places(yt, answer(twins.plain, true, xt)));
}

void agree_with_baij_on_the_diagonal_block(const Variant& variant, const Problem& problem) {
  const auto twins = filled_twins(variant, problem);
  Mat tested = nullptr, plain = nullptr;
  PETSC_OK(MatGetDiagonalBlock(twins.tested, &tested));
  PETSC_OK(MatGetDiagonalBlock(twins.plain, &plain));

  EXPECT_TRUE(same_products(tested, plain, 26));
}

struct Claim {
  const char* name;
  void (*check)(const Variant& variant, const Problem& problem);
  bool square_alone = false;
};

const Claim claims[] = {
    {"agree_with_baij", agree_with_baij},
    {"are_counted_and_type_and_layout_are_those_asked_for", are_counted_and_type_and_layout_are_those_asked_for},
    {"repeat_bit_by_bit", repeat_bit_by_bit},
    {"do_not_leak_nan_and_infinity_through_padding", do_not_leak_nan_and_infinity_through_padding},
    {"agree_with_baij_on_the_diagonal_block", agree_with_baij_on_the_diagonal_block, true},
};

struct Combination {
  Variant variant;
  int bs;
  Form form;
  Claim claim;
};

void PrintTo(const Combination& c, std::ostream* out) { *out << c.variant.name << ", blocks of " << c.bs; }

pairwise::Space space() {
  const auto sizes = {all_variants().size(), std::size(block_sizes), std::size(forms), std::size(claims)};
  return {{sizes.begin(), sizes.end()},
          [](const pairwise::Choice& c) { return forms[c[2]].square || !claims[c[3]].square_alone; },
          {2, 3}};
}

/// Any two of a variant, a block size, a form and a claim meet in one of these.
const pairwise::CoveringSet& covering_choices() {
  static const auto set = pairwise::covering_set(space(), 20);
  return set;
}

std::vector<pairwise::Choice> every_choice() {
  const auto whole = space();
  std::vector<pairwise::Choice> all;
  for (pairwise::Choice c(whole.sizes.size(), 0);;) {
    if (whole.allowed(c)) all.push_back(c);
    std::size_t i = 0;
    while (i < c.size() && ++c[i] == whole.sizes[i]) c[i++] = 0;
    if (i == c.size()) return all;
  }
}

/// Some hundred of seven thousand, but for the tier all: core.packed_* show products of every plan without PETSc.
std::vector<Combination> cases() {
  const auto variants = all_variants();
  std::vector<Combination> chosen;
  for (const auto& c : whole_tier() ? every_choice() : covering_choices().choices)
    chosen.push_back({variants[static_cast<std::size_t>(c[0])], block_sizes[c[1]], forms[c[2]], claims[c[3]]});
  return chosen;
}

struct Products : testing::TestWithParam<Combination> {};

TEST_P(Products, HoldWhatIsClaimed) {
  const Combination& c = GetParam();
  c.claim.check(c.variant, c.form.make(c.bs));
}

INSTANTIATE_TEST_SUITE_P(All, Products, testing::ValuesIn(cases()), [](const auto& param_info) {
  const Combination& c = param_info.param;
  return c.variant.name + "_bs" + std::to_string(c.bs) + "_" + c.form.name + "_" + c.claim.name;
});

TEST(CoveringChoices, AreAtMost400AndHaveEveryPair) {
  const auto& [pairs, choices] = covering_choices();

  EXPECT_LE(choices.size(), 400u);
  EXPECT_TRUE(pairwise::missing_pairs(pairs, choices).empty());
  std::set<std::pair<int, int>> met;  // counted otherwise: each form with each claim but one with forms that are square
  for (const auto& c : choices) met.emplace(c[2], c[3]);
  const auto oblong = std::count_if(std::begin(forms), std::end(forms), [](const Form& form) { return !form.square; });
  EXPECT_EQ(met.size(), std::size(forms) * std::size(claims) - static_cast<std::size_t>(oblong));
}

/// Scalars of a matrix by their place, and where they are others than the plan of its values allows.
void fill(Mat A, const Problem& p, PetscScalar (*value)(PetscInt row, PetscInt col)) {
  PetscInt first = 0, last = 0;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (const auto& [row, col] : p.blocks)
    if (row >= first && row < last) PETSC_OK(MatSetValue(A, row, col, value(row, col), INSERT_VALUES));
  assemble(A);
}

TEST(ProductsOfPatterns, StoreNoValuesUntilThereAreOthers) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  struct Case {
    const char *plan, *codes;
    PetscScalar (*value)(PetscInt row, PetscInt col);
  };
  const Case cases[] = {
      {"csr codes=blocks0", "codes=blocks0", [](PetscInt, PetscInt) { return PetscScalar(1); }},
      {"sell:8 codes=blocks0 longest=3 + ccoo", "codes=blocks0", [](PetscInt, PetscInt) { return PetscScalar(-3); }},
      {"csr codes=blocks1", "codes=blocks1", [](PetscInt r, PetscInt c) { return PetscScalar((r + c) % 2 ? 1 : -1); }},
      {"sell:4 codes=blocks1 longest=4 + csr", "codes=blocks1",
       [](PetscInt r, PetscInt c) { return PetscScalar(r < c ? 1 : -1); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.plan);
    const Problem p = random_problem(27, spread(1, 31, 31));
    const auto A = filled_matrix(tested_type(), "", p), plain = filled_matrix(MATBAIJ, "", p);
    for (Mat m : {Mat(A), Mat(plain)}) fill(m, p, c.value);
    PETSC_OK(MatCompoundSetPlan(A, (std::string(c.plan) + " off: " + c.plan).c_str()));

    EXPECT_TRUE(same_products(A, plain, 28));
    EXPECT_NE(plan_of(A).find(c.codes), std::string::npos) << plan_of(A);
    for (Mat m : {Mat(A), Mat(plain)}) PETSC_OK(MatScale(m, 2));
    EXPECT_TRUE(same_products(A, plain, 29));

    fill(A, p, [](PetscInt row, PetscInt col) { return PetscScalar(1 + row % 5 + col % 7); });
    const auto x = right_vector(A, 30), y = left_vector(A, 30);
    const auto found = catch_error([&] { return MatMult(A, x, y); });
    EXPECT_NE(found.code, 0);
    EXPECT_NE(found.message.find(c.codes + std::string(" has room for ")), std::string::npos) << found.message;
    PETSC_OK(MatCompoundSetPlan(A, "csr"));
    fill(plain, p, [](PetscInt row, PetscInt col) { return PetscScalar(1 + row % 5 + col % 7); });
    EXPECT_TRUE(same_products(A, plain, 31));
  }
}

/// Only the first process has more values than the code of its plan has room for.
TEST(ProductsOfPatterns, AreRefusedOnAllProcessesWhereOneHasNoRoomForItsValues) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const Problem p = random_problem(32, spread(1, 60, 60), 0.9);
  const auto A = filled_matrix(tested_type(), "", p), plain = filled_matrix(MATBAIJ, "", p);
  PETSC_OK(MatCompoundSetPlan(A, "csr codes=scalars8 off: csr codes=scalars8"));
  const auto few = [](PetscInt, PetscInt) { return PetscScalar(1); };
  const auto many_at_first = [](PetscInt row, PetscInt col) {
    return PetscScalar(row < 60 / size() ? 1 + 60 * row + col : 1);
  };
  const auto x = right_vector(A, 33), y = left_vector(A, 33);

  fill(A, p, many_at_first);
  for (int twice = 0; twice < 2; ++twice) {
    const auto found = catch_error([&] { return MatMult(A, x, y); });
    EXPECT_NE(found.code, 0);
    EXPECT_NE(found.message.find("codes=scalars8 has room for 256"), std::string::npos) << found.message;
  }

  for (Mat m : {Mat(A), Mat(plain)}) fill(m, p, few);
  EXPECT_TRUE(same_products(A, plain, 34));
}

}  // namespace
