// Products of every layout and block size on the shapes that break kernels, against plain BAIJ.
#include "compare.hpp"

#include <limits>

#include "kinds.hpp"

namespace {

using namespace petsc_test;

const int block_sizes[] = {1, 2, 3, 4, 5, 7, 8, 11};

struct Form {
  const char* name;
  Problem (*make)(int bs);
  bool square = true;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

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

struct Products : testing::TestWithParam<std::tuple<Variant, int, Form>> {
  const Variant& variant() const { return std::get<0>(GetParam()); }
  Problem problem() const { return std::get<2>(GetParam()).make(std::get<1>(GetParam())); }
};

TEST_P(Products, AgreeWithBaij) {
  const auto twins = filled_twins(variant(), problem());

  EXPECT_TRUE(same_products(twins.tested, twins.plain, 21));
}

TEST_P(Products, AreCountedAndTypeAndLayoutAreThoseAskedFor) {
  const auto twins = filled_twins(variant(), problem());

  EXPECT_TRUE(still_twins(twins, 22));
}

TEST_P(Products, RepeatBitByBit) {
  const auto p = problem();
  const auto A = filled_matrix(variant().type, variant().options, p);
  const auto again = filled_matrix(variant().type, variant().options, p);

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

TEST_P(Products, DoNotLeakNanAndInfinityThroughPadding) {
  const auto twins = filled_twins(variant(), problem());
  const int bs = std::get<1>(GetParam());
  const auto x = poisoned(twins.plain, false, bs), xt = poisoned(twins.plain, true, bs);

  const auto y = answer(twins.tested, false, x), yt = answer(twins.tested, true, xt);

  EXPECT_TRUE(same_finite_places(y, answer(twins.plain, false, x)));
  EXPECT_TRUE(same_finite_places(yt, answer(twins.plain, true, xt)));
}

struct DiagonalBlocks : Products {};

TEST_P(DiagonalBlocks, AgreeWithBaij) {
  const auto twins = filled_twins(variant(), problem());
  Mat tested = nullptr, plain = nullptr;
  PETSC_OK(MatGetDiagonalBlock(twins.tested, &tested));
  PETSC_OK(MatGetDiagonalBlock(twins.plain, &plain));

  EXPECT_TRUE(same_products(tested, plain, 26));
}

std::string name_of(const testing::TestParamInfo<Products::ParamType>& info) {
  return std::get<0>(info.param).name + "_bs" + std::to_string(std::get<1>(info.param)) + "_" +
         std::get<2>(info.param).name;
}

std::vector<Form> square_forms() {
  std::vector<Form> square;
  for (const auto& form : forms)
    if (form.square) square.push_back(form);
  return square;
}

INSTANTIATE_TEST_SUITE_P(All, DiagonalBlocks,
                         testing::Combine(testing::ValuesIn(all_variants()), testing::ValuesIn(block_sizes),
                                          testing::ValuesIn(square_forms())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Products,
                         testing::Combine(testing::ValuesIn(all_variants()), testing::ValuesIn(block_sizes),
                                          testing::ValuesIn(forms)),
                         name_of);

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
      {"csr values=none", "codes=blocks0", [](PetscInt, PetscInt) { return PetscScalar(1); }},
      {"sell:8 values=none longest=3 + ccoo", "codes=blocks0", [](PetscInt, PetscInt) { return PetscScalar(-3); }},
      {"csr values=sign", "codes=blocks1", [](PetscInt r, PetscInt c) { return PetscScalar((r + c) % 2 ? 1 : -1); }},
      {"sell:4 values=sign longest=4 + csr", "codes=blocks1",
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

}  // namespace
