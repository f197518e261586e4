// Values put in in every way PETSc has, against plain BAIJ; and what is packed again when they change.
#include "allocated.hpp"
#include "operations.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

using namespace petsc_test;

std::vector<PetscScalar> words_of(const Problem& problem, const Block& b, bool column_major) {
  const int bs = problem.shape.bs;
  std::vector<PetscScalar> words(static_cast<std::size_t>(bs * bs));
  for (int r = 0; r < bs; ++r)
    for (int c = 0; c < bs; ++c)
      words[static_cast<std::size_t>(column_major ? c * bs + r : r * bs + c)] =
          value(problem.seed, b.row * bs + r, b.col * bs + c);
  return words;
}

/// Calls f(block) for this process's blocks; with `others`, for those of the next process, which then travel.
template <class F>
void for_blocks(const Problem& problem, bool others, const F& f) {
  const auto& rows = problem.shape.rows;
  for (const auto& b : problem.blocks) {
    int owner = 0;
    for (int first = 0; b.row >= first + rows[static_cast<std::size_t>(owner)]; ++owner)
      first += rows[static_cast<std::size_t>(owner)];
    if ((others ? (owner + 1) % size() : owner) == rank()) f(b);
  }
}

void by_blocks(Mat A, const Problem& p) { insert_blocks(A, p, p.seed, INSERT_VALUES); }

/// One scalar at a time; `map` numbers scalar rows and columns.
template <class Set, class Map>
void by_scalars(const Problem& p, bool others, const Set& set, const Map& map) {
  const int bs = p.shape.bs;
  for_blocks(p, others, [&](const Block& b) {
    for (int k = 0; k < bs * bs; ++k) {
      const PetscInt row = b.row * bs + k / bs, col = b.col * bs + k % bs;
      set(map(row), map(col), value(p.seed, row, col));
    }
  });
}

template <bool others>
void one_by_one(Mat A, const Problem& p) {
  const auto set = [A](PetscInt row, PetscInt col, PetscScalar v) {
    PETSC_OK(MatSetValues(A, 1, &row, 1, &col, &v, INSERT_VALUES));
  };
  by_scalars(p, others, set, [](PetscInt i) { return i; });
}

void blocks_of_others(Mat A, const Problem& p) {
  for_blocks(p, true, [&](const Block& b) {
    const PetscInt row = b.row, col = b.col;
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, words_of(p, b, false).data(), INSERT_VALUES));
  });
}

void column_oriented_blocks(Mat A, const Problem& p) {
  PETSC_OK(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));
  for_blocks(p, false, [&](const Block& b) {
    const PetscInt row = b.row, col = b.col;
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, words_of(p, b, true).data(), INSERT_VALUES));
  });
}

/// Halves of numbers are exact, so that the sum is the number.
void sums_of_two(Mat A, const Problem& p) {
  for (int time = 0; time < 2; ++time)
    for_blocks(p, time == 1, [&](const Block& b) {
      const PetscInt row = b.row, col = b.col;
      auto words = words_of(p, b, false);
      for (auto& w : words) w *= 0.5;
      PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, words.data(), ADD_VALUES));
    });
}

/// Local numbers run backwards over all block rows (columns), so that none is the global one by chance.
void set_local_numbering(Mat A, const Problem& p) {
  ISLocalToGlobalMapping maps[2];
  const int counts[2] = {p.shape.block_rows(), p.shape.block_cols()};
  for (int k = 0; k < 2; ++k) {
    std::vector<PetscInt> global;
    for (PetscInt i = counts[k]; i-- > 0;) global.push_back(i);
    PETSC_OK(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, p.shape.bs, counts[k], global.data(), PETSC_COPY_VALUES,
                                          &maps[k]));
  }
  PETSC_OK(MatSetLocalToGlobalMapping(A, maps[0], maps[1]));
  for (auto& map : maps) PETSC_OK(ISLocalToGlobalMappingDestroy(&map));
}

void local_blocks(Mat A, const Problem& p) {
  set_local_numbering(A, p);
  for_blocks(p, false, [&](const Block& b) {
    const PetscInt row = p.shape.block_rows() - 1 - b.row, col = p.shape.block_cols() - 1 - b.col;
    PETSC_OK(MatSetValuesBlockedLocal(A, 1, &row, 1, &col, words_of(p, b, false).data(), INSERT_VALUES));
  });
}

void local_scalars(Mat A, const Problem& p) {
  set_local_numbering(A, p);
  const int bs = p.shape.bs, blocks = p.shape.block_rows();
  const auto set = [A](PetscInt row, PetscInt col, PetscScalar v) {
    PETSC_OK(MatSetValuesLocal(A, 1, &row, 1, &col, &v, INSERT_VALUES));
  };
  by_scalars(p, false, set, [&](PetscInt i) { return (blocks - 1 - i / bs) * bs + i % bs; });
}

void exactly(Mat A, const Problem& p) { preallocate(A, p); }

void generously(Mat A, const Problem& p) {
  const int most = p.shape.block_cols();
  PETSC_OK(MatSeqBAIJSetPreallocation(A, p.shape.bs, most, nullptr));
  PETSC_OK(MatMPIBAIJSetPreallocation(A, p.shape.bs, most, nullptr, most, nullptr));
  const PetscInt scalars = p.shape.bs * most;
  PETSC_OK(MatSeqAIJSetPreallocation(A, scalars, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, scalars, nullptr, scalars, nullptr));
}

void not_at_all(Mat A, const Problem&) { PETSC_OK(MatSetUp(A)); }

using Step = void (*)(Mat, const Problem&);
struct Named {
  const char* name;
  Step run;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

const Named fillings[] = {{"by_blocks", by_blocks},
                          {"one_by_one", one_by_one<false>},
                          {"one_by_one_of_others", one_by_one<true>},
                          {"blocks_of_others", blocks_of_others},
                          {"column_oriented_blocks", column_oriented_blocks},
                          {"sums_of_two", sums_of_two},
                          {"local_blocks", local_blocks},
                          {"local_scalars", local_scalars}};
const Named preallocations[] = {{"exactly", exactly}, {"generously", generously}, {"not_at_all", not_at_all}};

using Case = std::tuple<Named, Named, Variant, int>;
struct Insertion : testing::TestWithParam<Case> {};

TEST_P(Insertion, GivesWhatBaijHolds) {
  const auto& [filling, preallocation, variant, bs] = GetParam();
  Random random(70);
  const auto shape = spread(bs, 10, 10);
  const Problem problem{shape, random_blocks(random, shape, 0.3, true), 71};
  const Twins expected = filled_twins(variant, problem);
  Twins twins = empty_twins(variant, shape);

  on_both(twins, [&](Mat A) {
    preallocation.run(A, problem);
    filling.run(A, problem);
    assemble(A);
  });

  EXPECT_TRUE(same_values(twins.plain, expected.plain));
  EXPECT_TRUE(still_twins(twins, 72));
}

INSTANTIATE_TEST_SUITE_P(All, Insertion,
                         testing::Combine(testing::ValuesIn(fillings), testing::ValuesIn(preallocations),
                                          testing::ValuesIn(some_variants()), testing::Values(1, 3, 7)),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param).name) + "_preallocated_" +
                                  std::get<1>(param_info.param).name + "_" + std::get<2>(param_info.param).name +
                                  "_bs" + std::to_string(std::get<3>(param_info.param));
                         });

struct ByLayout : testing::TestWithParam<Variant> {
  Problem problem = [] {
    Random random(73);
    const auto shape = spread(3, 12, 12);
    return Problem{shape, random_blocks(random, shape, 0.25, true), 74};
  }();
};

TEST_P(ByLayout, CompressedRowsComeInAtOnce) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "in blocks, which AIJ has none of";
  Twins twins = empty_twins(GetParam(), problem.shape);
  std::vector<PetscInt> start{0}, col;
  std::vector<PetscScalar> words;
  for (int row = 0; row < problem.shape.block_rows(); ++row) {
    if (!problem.shape.owns_row(row)) continue;
    for (const auto& b : problem.blocks) {
      if (b.row != row) continue;
      col.push_back(b.col);
      const auto block = words_of(problem, b, true);
      words.insert(words.end(), block.begin(), block.end());
    }
    start.push_back(static_cast<PetscInt>(col.size()));
  }

  on_both(twins, [&](Mat A) {
    PETSC_OK(MatSeqBAIJSetPreallocationCSR(A, 3, start.data(), col.data(), words.data()));
    PETSC_OK(MatMPIBAIJSetPreallocationCSR(A, 3, start.data(), col.data(), words.data()));
  });

  EXPECT_TRUE(still_twins(twins, 75));
}

TEST_P(ByLayout, ANewMatrixIsPackedOnceHoweverManyProducts) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto A = filled_matrix(GetParam().type, GetParam().options, problem);
  (void)product_of(A, all_products().front(), 76);
  const auto once = info_of(A);

  for (const auto& product : all_products()) (void)product_of(A, product, 77);

  const auto after = info_of(A);
  EXPECT_TRUE(all_ranks(after.pattern_packs == once.pattern_packs && after.value_packs == once.value_packs));
  EXPECT_TRUE(all_ranks(once.pattern_packs >= 1));
}

TEST_P(ByLayout, NewValuesArePackedAgainButNotThePattern) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  auto twins = filled_twins(GetParam(), problem);
  ASSERT_TRUE(same_mult(twins.tested, twins.plain, 78));
  const auto before = info_of(twins.tested);

  on_both(twins, [&](Mat A) {
    insert_blocks(A, problem, 79, INSERT_VALUES);
    assemble(A);
  });

  EXPECT_TRUE(same_mult(twins.tested, twins.plain, 80));
  const auto after = info_of(twins.tested);
  // A plan on the base type's own arrays never packs values; else each part does, once.
  const bool packs = before.value_packs > 0;
  const PetscInt64 rise = after.value_packs - before.value_packs;
  EXPECT_TRUE(all_ranks(after.pattern_packs == before.pattern_packs));
  EXPECT_TRUE(all_ranks(packs ? rise >= 1 && rise <= (size() > 1 ? 2 : 1) : rise == 0));
}

TEST_P(ByLayout, NewNonzerosArePackedAgain) {
  auto twins = filled_twins(GetParam(), problem);
  ASSERT_TRUE(same_mult(twins.tested, twins.plain, 81));
  const auto before = info_of(twins.tested);

  on_both(twins, [&](Mat A) {
    allow_new_nonzeros(A);
    const PetscInt row = 0, col = problem.shape.block_cols() * 3 - 1;
    const PetscScalar v = 0.75;
    if (rank() == 0) PETSC_OK(MatSetValues(A, 1, &row, 1, &col, &v, ADD_VALUES));
    assemble(A);
  });

  EXPECT_TRUE(still_twins(twins, 82));
  const bool had_it = std::any_of(problem.blocks.begin(), problem.blocks.end(), [&](const Block& b) {
    return b.row == 0 && b.col == problem.shape.block_cols() - 1;
  });
  ASSERT_FALSE(had_it) << "the seed must leave this block empty";
  if (tested_is_compound()) {
    EXPECT_GT(sum_over_ranks(info_of(twins.tested).pattern_packs), sum_over_ranks(before.pattern_packs));
  }
}

TEST_P(ByLayout, LeftToThePetscBackendIsNotCounted) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto twins = filled_twins(GetParam(), problem);
  PETSC_OK(MatCompoundSetBackend(twins.tested, "petsc"));

  EXPECT_TRUE(same_products(twins.tested, twins.plain, 83));

  EXPECT_TRUE(all_ranks(info_of(twins.tested).products == 0));
  PETSC_OK(MatCompoundSetBackend(twins.tested, "auto"));
  EXPECT_TRUE(still_twins(twins, 84));
}

INSTANTIATE_TEST_SUITE_P(All, ByLayout, testing::ValuesIn(all_variants()),
                         [](const auto& param_info) { return param_info.param.name; });

/// While it lives, PETSc's large arrays come apart from each other and lie where the last freed one of about that size
/// lay, as malloc's sometimes do.
class SamePlaces {
  static constexpr std::size_t unit = 64 * 1024;
  static inline std::map<std::size_t, std::vector<void*>> freed;
  static inline std::map<void*, std::size_t> taken;
  static inline decltype(PetscTrMalloc) petsc_malloc;
  static inline decltype(PetscTrFree) petsc_free;

  static PetscErrorCode take(std::size_t bytes, PetscBool clear, int line, const char* function, const char* file,
                             void** place) {
    if (bytes < unit) return petsc_malloc(bytes, clear, line, function, file, place);
    const std::size_t units = (bytes + unit - 1) / unit;
    auto& same = freed[units];
    if (same.empty()) same.push_back(std::aligned_alloc(64, units * unit));
    *place = same.back();
    same.pop_back();
    taken[*place] = units;
    if (clear) std::memset(*place, 0, bytes);
    return PETSC_SUCCESS;
  }
  static PetscErrorCode give_back(void* place, int line, const char* function, const char* file) {
    const auto found = taken.find(place);
    if (found == taken.end()) return petsc_free(place, line, function, file);
    freed[found->second].push_back(place);
    taken.erase(found);
    return PETSC_SUCCESS;
  }

 public:
  SamePlaces() {
    petsc_malloc = PetscTrMalloc;
    petsc_free = PetscTrFree;
    PetscTrMalloc = take;
    PetscTrFree = give_back;
    PETSC_OK(PetscMallocSetCoalesce(PETSC_FALSE));
  }
  /// All that was taken has been given back.
  ~SamePlaces() {
    EXPECT_TRUE(taken.empty());
    for (auto& [units, places] : freed)
      for (void* place : places) std::free(place);
    freed.clear();
    PetscTrMalloc = petsc_malloc;
    PetscTrFree = petsc_free;
    PETSC_OK(PetscMallocSetCoalesce(PETSC_TRUE));
  }
};

/// A sequential matrix whose row i has blocks in columns i and i + n / 2, so that its arrays are of different sizes.
struct LargePattern {
  static constexpr PetscInt n = 20000;
  Matrix A;
  Vector x, y;

  LargePattern() {
    PETSC_OK(MatCreate(PETSC_COMM_SELF, A.out()));
    PETSC_OK(MatSetSizes(A, n, n, n, n));
    PETSC_OK(MatSetType(A, tested_type().c_str()));
    preallocate(2);
    PETSC_OK(MatCreateVecs(A, x.out(), y.out()));
    PetscScalar* numbers;
    PETSC_OK(VecGetArrayWrite(x, &numbers));
    for (PetscInt i = 0; i < n; ++i) numbers[i] = static_cast<PetscReal>(i);
    PETSC_OK(VecRestoreArrayWrite(x, &numbers));
  }
  void preallocate(PetscInt blocks) const {
    PETSC_OK(MatSeqBAIJSetPreallocation(A, 1, blocks, nullptr));
    PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    for (PetscInt i = 0; i < n; ++i) {
      insert(i, i);
      insert(i, (i + n / 2) % n);
    }
  }
  void insert(PetscInt row, PetscInt col) const {
    const PetscScalar one = 1;
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, &one, INSERT_VALUES));
  }
  /// Component `row` of A x, in which column j stands for j.
  PetscReal product(PetscInt row) const {
    PetscScalar found;
    PETSC_OK(MatMult(A, x, y));
    PETSC_OK(VecGetValues(y, 1, &row, &found));
    return PetscRealPart(found);
  }
  /// Where the arrays lie.
  std::pair<const PetscInt*, const PetscInt*> places() const {
    PetscInt rows;
    const PetscInt *start, *column;
    PetscBool done;
    PETSC_OK(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &rows, &start, &column, &done));
    const std::pair found{start, column};
    PETSC_OK(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &rows, &start, &column, &done));
    return found;
  }
};

#if PETSC_VERSION_GE(3, 19, 0)
/// Where a table is to gather the values.
TEST(Duplicates, OfMatricesWithoutValuesLeaveNothingBehind) {
  if (!has_count) GTEST_SKIP() << "skipped: the sanitizer's allocator keeps no count, and finds leaks itself";
  if (parent_type() != MATAIJ) GTEST_SKIP() << "skipped: BAIJ duplicates assembled matrices alone";
  constexpr int many = 1000;
  const auto A = empty_matrix(tested_type(), "", spread(2, 9, 9));
  PETSC_OK(MatSetUp(A));
  const auto copy = [&] {
    Matrix B;
    PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, B.out()));
  };
  for (int i = 0; i < many / 10; ++i) copy();
  const auto before = allocated();
  for (int i = 0; i < many; ++i) copy();
  EXPECT_TRUE(all_ranks(allocated() - before < 100 * many)) << allocated() - before << " bytes";  // a State has more
}
#endif

/// Two blocked insertions move the arrays away and back, and PETSc 3.18 does not raise the nonzero state there: the
/// number of blocks alone tells.
TEST(ArraysInTheirOldPlaces, BlockedInsertionsAreSeen) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "AIJ raises its nonzero state";
  const SamePlaces same;
  const LargePattern p;
  assemble(p.A);
  EXPECT_EQ(p.product(7), 7 + 10007);
  const auto before = p.places();

  for (const PetscInt col : {100, 200}) {
    p.insert(7, col);
    assemble(p.A);
  }

  ASSERT_EQ(p.places(), before);
  EXPECT_EQ(p.product(7), 7 + 10007 + 100 + 200);
}

/// No state tells of a matrix that was preallocated anew, nor need the number of blocks.
TEST(ArraysInTheirOldPlaces, APatternThatWasPreallocatedAnewIsSeen) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "AIJ raises its nonzero state";
  const SamePlaces same;
  const LargePattern p;
  p.insert(7, 100);
  assemble(p.A);
  EXPECT_EQ(p.product(7), 7 + 10007 + 100);
  const auto before = p.places();

  for (int time = 0; time < 2; ++time) {
    p.preallocate(2);
    p.insert(7, 200);
    assemble(p.A);
  }

  ASSERT_EQ(p.places(), before);
  EXPECT_EQ(p.product(7), 7 + 10007 + 200);
}

}  // namespace
