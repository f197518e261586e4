// The guard against stale packed values: random operations on a compound matrix and its plain twin, compared each step;
// and on two of them and on what is made of both.
#include "operations.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "kinds.hpp"
#include "random_runs.hpp"

namespace {

using namespace petsc_test;

constexpr int length = 30;

bool is_mpi(Mat A) {
  PetscBool mpi = PETSC_FALSE;
  PETSC_OK(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATMPIBAIJ, &mpi));
  return mpi == PETSC_TRUE;
}

/// Of several processes, of which there may be one.
bool has_type_of_several(Mat A) { return type_of(A).starts_with("mpi"); }

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
  return none ? "" : one_of(names, random);
}

Twins random_twins_of(const Shape& shape, Random& random) {
  const auto variant = one_of(all_variants(), random);
  const auto kind = random_kind(random, shape.bs);
  return filled_twins(variant, {shape, random_blocks(random, shape, 0.3, random.chance(0.5)), random.next(), kind});
}

Twins random_twins(Random& random) {
  const int bs = 1 + random.below(9);
  const int rows = 1 + random.below(14), cols = random.chance(0.7) ? rows : 1 + random.below(14);
  return random_twins_of(random.chance(0.5) ? spread(bs, rows, cols) : scatter(random, bs, rows, cols), random);
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
  for (int k = 1 + random.below(3); k > 0; --k) {
    const auto product = one_of(all_products(), random);
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
    const auto& operation = *one_of(operations_for(twins), random);
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
  run_sequences(whole_tier() ? 200 : 120 / static_cast<std::uint64_t>(size()), run_sequence);
}

/// Makes a matrix of A, or of A and B, which have the same square shape; or makes it again.
struct Derivation {
  const char* name;
  PetscErrorCode (*make)(const Side& A, const Side& B, std::uint64_t seed, MatReuse reuse, Mat* made);
  enum Limit {
    none,
    of_two,
    of_square,  ///< MPIBAIJ of PETSc 3.18 fails where there are more rows than columns
    /// Plain MPIBAIJ is wrong (transposes, see the operations) or says that it cannot be (submatrices on one process).
    once_of_mpibaij
  } limit = none;
};

PetscErrorCode convert_to_own(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatConvert(A, A.type().c_str(), reuse, made);
}
PetscErrorCode convert_to_base(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatConvert(A, parent_type().c_str(), reuse, made);
}
/// Of plain MPIBAIJ a copy, anew each time: PETSc 3.18 makes the off-diagonal part anew, with other options, and the
/// AIJ lacks columns without entries, which conversion with reuse needs.
PetscErrorCode convert_to_aij(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  if (A.tested || !is_mpi(A)) return MatConvert(A, MATAIJ, reuse, made);
  Matrix copy;
  PetscFunctionBeginUser;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatDestroy(made));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
  PetscCall(MatConvert(copy, MATAIJ, MAT_INITIAL_MATRIX, made));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode convert_to_dense(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatConvert(A, MATDENSE, reuse, made);
}
PetscErrorCode transpose(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatTranspose(A, reuse, made);
}
PetscErrorCode hermitian_transpose(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatHermitianTranspose(A, reuse, made);
}

/// About two of three of this process's.
Indices some_blocks(const std::vector<int>& counts, int bs, std::uint64_t seed) {
  const auto here = counts.begin() + rank();
  const int first = std::accumulate(counts.begin(), here, 0);
  Random random(seed);
  std::vector<PetscInt> chosen;
  for (int k = 0; k < first + *here; ++k)
    if (random.chance(2.0 / 3) && k >= first) chosen.push_back(k);
  Indices blocks;
  PETSC_OK(ISCreateBlock(PETSC_COMM_WORLD, bs, static_cast<PetscInt>(chosen.size()), chosen.data(), PETSC_COPY_VALUES,
                         blocks.out()));
  return blocks;
}

PetscErrorCode submatrix(const Side& A, const Side&, std::uint64_t seed, MatReuse reuse, Mat* made) {
  const auto rows = some_blocks(A.shape.rows, A.shape.bs, seed), cols = some_blocks(A.shape.cols, A.shape.bs, seed + 1);
  return MatCreateSubMatrix(A, rows, cols, reuse, made);
}

/// The same blocks on each process.
PetscErrorCode submatrix_of_each_process(const Side& A, const Side&, std::uint64_t seed, MatReuse reuse, Mat* made) {
  const int counts[] = {A.shape.block_rows(), A.shape.block_cols()};
  Indices sets[2];
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Random random(seed + static_cast<std::uint64_t>(k));
    std::vector<PetscInt> chosen;
    for (int block = 0; block < counts[k]; ++block)
      if (random.chance(2.0 / 3)) chosen.push_back(block);
    PetscCall(ISCreateBlock(PETSC_COMM_SELF, A.shape.bs, static_cast<PetscInt>(chosen.size()), chosen.data(),
                            PETSC_COPY_VALUES, sets[k].out()));
  }
  const IS rows = sets[0], cols = sets[1];
  Mat* all = made;
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, reuse, &all));
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(*made = all[0])));
    PetscCall(MatDestroySubMatrices(1, &all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_on_each_process(const Side& A, const Side&, std::uint64_t, MatReuse reuse, Mat* made) {
  return MatCreateRedundantMatrix(A, size(), MPI_COMM_NULL, reuse, made);
}

/// Plain BAIJ has no products of two matrices: there of AIJ, and anew each time.
template <auto multiply>
PetscErrorCode product(const Side& A, const Side& B, std::uint64_t, MatReuse reuse, Mat* made) {
  if (A.tested || parent_type() == MATAIJ) return multiply(A, B, reuse, PETSC_DEFAULT, made);
  Matrix a, b;
  PetscFunctionBeginUser;
  PetscCall(convert_to_aij(A, A, 0, MAT_INITIAL_MATRIX, a.out()));
  PetscCall(convert_to_aij(B, B, 0, MAT_INITIAL_MATRIX, b.out()));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatDestroy(made));
  PetscCall(multiply(a, b, MAT_INITIAL_MATRIX, PETSC_DEFAULT, made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Derivation derivations[] = {{"its own type", convert_to_own},
                                      {"its base type", convert_to_base},
                                      {"aij", convert_to_aij},
                                      {"dense", convert_to_dense},
                                      {"the transpose", transpose, Derivation::once_of_mpibaij},
                                      {"the Hermitian transpose", hermitian_transpose, Derivation::once_of_mpibaij},
                                      {"a submatrix", submatrix, Derivation::once_of_mpibaij},
                                      {"a submatrix of each process", submatrix_of_each_process, Derivation::of_square},
                                      {"a copy on each process", copy_on_each_process, Derivation::of_square},
                                      {"the product A B", product<MatMatMult>, Derivation::of_two},
                                      {"the product A^T B", product<MatTransposeMatMult>, Derivation::of_two},
                                      {"the product B^T A B", product<MatPtAP>, Derivation::of_two}};

/// After these PETSc makes matrices again, with reuse.
constexpr std::string_view keep_patterns[] = {"scaled",
                                              "diagonally_scaled_left",
                                              "diagonally_scaled_right",
                                              "diagonally_scaled",
                                              "rows_zeroed_pattern_kept",
                                              "conjugated",
                                              "real_part",
                                              "imaginary_part",
                                              "entries_zeroed",
                                              "new_values",
                                              "added_values",
                                              "written_through_the_array"};

/// Two matrices that change, and matrices made of them.
class Family {
 public:
  Family(std::uint64_t seed, std::string& history) : random_(seed), history_(history) {
    auto shape = scatter(random_, 1 + random_.below(6), 8, 8);
    shape.cols = shape.rows;
    for (int k = 0; k < 2; ++k) members_.push_back(random_twins_of(shape, random_));
    history_ += "A " + described(members_[0]) + "; B " + described(members_[1]);
  }

  testing::AssertionResult step() {
    const double what = random_.real();
    if (what < 0.35)
      change(index_below(2, random_));
    else if (what < 0.6 || made_.empty())
      make();
    else if (what < 0.9)
      make_again(index_below(made_.size(), random_));
    else
      change_what_was_made(made_[index_below(made_.size(), random_)]);
    for (int k = 1 + random_.below(3); k > 0; --k)
      if (auto result = same_one(); !result) return result;
    return testing::AssertionSuccess();
  }

 private:
  struct Made {
    const Derivation* how;
    std::size_t from[2];  ///< A and B of the derivation
    std::uint64_t seed;
    bool can_be_made_again;
    Matrix tested, plain;
  };

  void change(std::size_t which) {
    auto& twins = members_[which];
    const auto& operation = *one_of(operations_for(twins), random_);
    history_ += "\n  " + name_of(which) + " " + operation.name;
    apply(operation, twins, random_.next());
    on_both(twins, [](Mat A) { assemble(A); });
    tame(twins);
    if (std::ranges::find(keep_patterns, operation.name) == std::end(keep_patterns))
      for (auto& m : made_)
        if (is_of(m, which)) m.can_be_made_again = false;
  }

  void make() {
    if (made_.size() == 4) made_.erase(made_.begin() + random_.below(4));
    const auto first = index_below(2, random_);
    const auto& how = derivations[index_below(std::size(derivations), random_)];
    if (how.limit == Derivation::of_two && !are_alike()) return;
    if (how.limit == Derivation::of_square && !members_[first].plain.shape.is_square()) return;
    const bool again = how.limit != Derivation::once_of_mpibaij || !is_mpi(members_[first].plain);
    Made m{&how, {first, 1 - first}, random_.next(), again, {}, {}};
    history_ += "\n  made " + described_of(m);
    make(m, MAT_INITIAL_MATRIX);
    made_.push_back(std::move(m));
  }

  /// With reuse, unless a pattern has changed.
  void make_again(std::size_t index) {
    auto& m = made_[index];
    history_ += "\n  " + std::string(m.can_be_made_again ? "made again " : "left ") + described_of(m);
    if (m.can_be_made_again)
      make(m, MAT_REUSE_MATRIX);
    else
      made_.erase(made_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void make(Made& m, MatReuse reuse) {
    const auto &A = members_[m.from[0]], &B = members_[m.from[1]];
    const bool anew = reuse == MAT_INITIAL_MATRIX;
    PETSC_OK(m.how->make(A.tested, B.tested, m.seed, reuse, anew ? m.tested.out() : m.tested.in_place()));
    PETSC_OK(m.how->make(A.plain, B.plain, m.seed, reuse, anew ? m.plain.out() : m.plain.in_place()));
  }

  void change_what_was_made(Made& m) {
    history_ += "\n  scaled " + described_of(m);
    for (Mat made : {Mat(m.tested), Mat(m.plain)}) PETSC_OK(MatScale(made, 1.25));
  }

  testing::AssertionResult same_one() {
    const auto which = index_below(2 + made_.size(), random_);
    const auto product = one_of(all_products(), random_);
    const auto seed = random_.next();
    if (which < 2) {
      auto result = same_product(members_[which].tested, members_[which].plain, product, seed);
      return result ? result : testing::AssertionFailure() << name_of(which) << ": " << result.message();
    }
    const auto& m = made_[which - 2];
    const bool is_ours = type_of(m.tested).find("compound") != std::string::npos;
    if (product.hermitian && !is_ours) return testing::AssertionSuccess();  // as in same_product
    // Plain BAIJ does not always write rows without entries.
    auto result =
        is_ours || is_of_two(m) ? same_product(m.tested, m.plain, product, seed) : same_values(m.tested, m.plain);
    return result ? result : testing::AssertionFailure() << described_of(m) << ": " << result.message();
  }

  static bool is_of_two(const Made& m) { return m.how->limit == Derivation::of_two; }
  static bool is_of(const Made& m, std::size_t which) {
    return m.from[0] == which || (is_of_two(m) && m.from[1] == which);
  }
  bool are_alike() const {
    const auto &A = members_[0], &B = members_[1];
    return A.plain.shape.is_square() && B.plain.shape.is_square() && A.plain.shape.rows == B.plain.shape.rows &&
           has_type_of_several(A.plain) == has_type_of_several(B.plain) &&
           has_type_of_several(A.tested) == has_type_of_several(B.tested);
  }
  static std::string name_of(std::size_t which) { return which == 0 ? "A" : "B"; }
  static std::string described_of(const Made& m) {
    return std::string(m.how->name) + (is_of_two(m) && m.from[0] == 1 ? ", A and B exchanged" : "") +
           (is_of_two(m) ? "" : " of " + name_of(m.from[0]));
  }

  Random random_;
  std::string& history_;
  std::vector<Twins> members_;
  std::vector<Made> made_;
};

testing::AssertionResult run_family(std::uint64_t seed, std::string& history) {
  Family family(seed, history);
  for (int step = 0; step < length; ++step)
    if (auto result = family.step(); !result) return result;
  return testing::AssertionSuccess();
}

TEST(RandomSequences, OfTwoMatricesAgreeInWhatIsMadeOfThem) {
  run_sequences(whole_tier() ? 200 : 60 / static_cast<std::uint64_t>(size()), run_family);
}

}  // namespace
