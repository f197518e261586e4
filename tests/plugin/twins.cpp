#include "twins.hpp"

#include <algorithm>
#include <numeric>

#include "kinds.hpp"

namespace petsc_test {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  auto z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

PetscScalar value(std::uint64_t seed, PetscInt i, PetscInt j) {
  Random random(seed * 0x100000001b3u + static_cast<std::uint64_t>(i) * 0x10001u + static_cast<std::uint64_t>(j));
  random.next();
  const auto number = [&random] { return static_cast<PetscReal>(2 * random.real() - 1); };
#if defined(PETSC_USE_COMPLEX)
  const PetscReal re = number(), im = number();
  return PetscCMPLX(re, im);
#else
  return number();
#endif
}

namespace {
int sum(const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); }

std::vector<int> even_parts(int n) {
  std::vector<int> parts(static_cast<std::size_t>(size()), n / size());
  for (int r = 0; r < n % size(); ++r) ++parts[static_cast<std::size_t>(r)];
  return parts;
}

std::vector<int> random_parts(Random& random, int n) {
  std::vector<int> parts(static_cast<std::size_t>(size()), 0);
  int left = n;
  for (int r = 0; r + 1 < size(); ++r) {
    const int here = random.chance(0.15) ? 0 : random.below(left + 1);
    parts[static_cast<std::size_t>(r)] = here;
    left -= here;
  }
  parts.back() = left;
  return parts;
}
}  // namespace

int Shape::block_rows() const { return sum(rows); }
int Shape::block_cols() const { return sum(cols); }
int Shape::first_row() const { return std::accumulate(rows.begin(), rows.begin() + rank(), 0); }
bool Shape::owns_row(int block_row) const {
  return block_row >= first_row() && block_row < first_row() + rows[static_cast<std::size_t>(rank())];
}

Shape spread(int bs, int block_rows, int block_cols) { return {bs, even_parts(block_rows), even_parts(block_cols)}; }

Shape scatter(Random& random, int bs, int block_rows, int block_cols) {
  const auto rows = random_parts(random, block_rows);
  return {bs, rows, block_cols == block_rows ? rows : random_parts(random, block_cols)};
}

std::vector<Block> random_blocks(Random& random, const Shape& shape, double density, bool with_diagonal) {
  std::vector<Block> blocks;
  for (int i = 0; i < shape.block_rows(); ++i) {
    const bool empty = random.chance(0.1);
    for (int j = 0; j < shape.block_cols(); ++j) {
      const bool wanted = random.chance(density) && !empty;
      if (wanted || (with_diagonal && i == j)) blocks.push_back({i, j});
    }
  }
  return blocks;
}

Problem random_problem(std::uint64_t seed, const Shape& shape, double density) {
  Random random(seed);
  return {shape, random_blocks(random, shape, density, false), seed};
}

Variant default_variant() { return {"default", tested_type(), "", ""}; }

std::vector<Variant> all_variants() {
  const auto type = tested_type();
  const Variant mpi{"mpi", "mpi" + type, "", "", parent_type("mpi")};
  if (!tested_is_compound()) return {default_variant(), mpi};
  std::vector<Variant> all{default_variant(), mpi};
  for (const char* layout : {"csr", "ellr", "sell", "bellpack", "dia", "hdia", "ccoo"})
    all.push_back({layout, pinned_type(layout), "", layout});
  all.push_back({"sell_odd", type, "-mat_compound_layout sell:3", "sell:3"});
  all.push_back({"sell_sorted", type, "-mat_compound_layout sell:8:64", "sell:8:64"});
  all.push_back({"ellr_option", type, "-mat_compound_layout ellr", "ellr"});
  all.push_back({"csr_rows", type, "-mat_compound_plan csr words=1:row rowlist", "words=1:row"});
  all.push_back({"sell_words", type, "-mat_compound_plan sell:4:all words=all:row", "bellpack:4"});
  all.push_back({"parts", type,
                 "-mat_compound_plan sell:4 longest=2 + csr longest=4 + ccoo:32 off: csr longest=1 + sell:2",
                 " longest=4 + ccoo:32"});
  all.push_back(
      {"hybrid", type, "-mat_compound_plan ellr width=2 + ccoo:32 off: ellr width=1 + ccoo:32", " width=2 + ccoo:32"});
  return all;
}

std::vector<Variant> some_variants() {
  if (!tested_is_compound()) return {default_variant()};
  return {default_variant(), {"sell_sorted", tested_type(), "-mat_compound_layout sell:4:16", "sell:4:16"}};
}

namespace {
/// One prefix per text of options: PETSc's options database holds 512 entries. A test may have cleared it since.
std::string prefix_for(const std::string& options) {
  if (options.empty()) return "plain_";
  static std::vector<std::string> known;
  const auto found = std::find(known.begin(), known.end(), options);
  const auto prefix = "t" + std::to_string(found - known.begin()) + "_";
  if (found == known.end()) known.push_back(options);
  for (std::size_t from = 0; from < options.size();) {
    const auto space = options.find(' ', from), end = std::min(options.find(" -", space), options.size());
    const auto name = "-" + prefix + options.substr(from + 1, space - from - 1);
    PETSC_OK(PetscOptionsSetValue(nullptr, name.c_str(), options.substr(space + 1, end - space - 1).c_str()));
    from = end + 1;
  }
  return prefix;
}
}  // namespace

Matrix empty_matrix(const std::string& type, const std::string& options, const Shape& shape) {
  const auto prefix = prefix_for(options);

  const auto me = static_cast<std::size_t>(rank());
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, shape.rows[me] * shape.bs, shape.cols[me] * shape.bs, shape.block_rows() * shape.bs,
                       shape.block_cols() * shape.bs));
  PETSC_OK(MatSetBlockSize(A, shape.bs));
  PETSC_OK(MatSetOptionsPrefix(A, prefix.c_str()));
  PETSC_OK(MatSetType(A, type.c_str()));
  PETSC_OK(MatSetFromOptions(A));
  return A;
}

void preallocate(Mat A, const Problem& problem) {
  const auto& shape = problem.shape;
  const auto me = static_cast<std::size_t>(rank());
  const auto first_col = std::accumulate(shape.cols.begin(), shape.cols.begin() + rank(), 0);
  std::vector<PetscInt> diagonal(static_cast<std::size_t>(shape.rows[me])), other(diagonal.size());
  for (const auto& b : problem.blocks) {
    if (!shape.owns_row(b.row)) continue;
    const bool in_diagonal = b.col >= first_col && b.col < first_col + shape.cols[me];
    auto& counts = in_diagonal ? diagonal : other;
    ++counts[static_cast<std::size_t>(b.row - shape.first_row())];
  }
  PETSC_OK(MatXAIJSetPreallocation(A, shape.bs, diagonal.data(), other.data(), nullptr, nullptr));
}

void insert_blocks(Mat A, const Problem& problem, std::uint64_t seed, InsertMode mode) {
  const int bs = problem.shape.bs;
  std::vector<PetscScalar> words(static_cast<std::size_t>(bs * bs));
  for (const auto& b : problem.blocks) {
    if (!problem.shape.owns_row(b.row)) continue;
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c)
        words[static_cast<std::size_t>(r * bs + c)] = value(seed, b.row * bs + r, b.col * bs + c);
    if (!problem.kind.empty())
      words = block_of(problem.kind, bs, seed + static_cast<std::uint64_t>(b.row * 1000 + b.col));
    const PetscInt row = b.row, col = b.col;
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &col, words.data(), mode));
  }
}

void assemble(Mat A, MatAssemblyType type) {
  PETSC_OK(MatAssemblyBegin(A, type));
  PETSC_OK(MatAssemblyEnd(A, type));
}

Matrix filled_matrix(const std::string& type, const std::string& options, const Problem& problem) {
  Matrix A = empty_matrix(type, options, problem.shape);
  preallocate(A, problem);
  insert_blocks(A, problem, problem.seed, INSERT_VALUES);
  assemble(A);
  return A;
}

Matrix Side::make(const Problem& problem) const {
  return filled_matrix(type(), tested ? variant.options : "", problem);
}

void Side::read_options() const {
  PETSC_OK(MatSetOptionsPrefix(matrix, prefix_for(tested ? variant.options : "").c_str()));
  PETSC_OK(MatSetFromOptions(matrix));
}

Twins empty_twins(const Variant& variant, const Shape& shape) {
  return {{empty_matrix(variant.type, variant.options, shape), variant, shape, true},
          {empty_matrix(variant.plain, "", shape), variant, shape, false}};
}

Twins filled_twins(const Variant& variant, const Problem& problem) {
  Twins twins = {{{}, variant, problem.shape, true}, {{}, variant, problem.shape, false}};
  on_both(twins, [&problem](Side& side) {
    side.matrix = side.make(problem);
    side.kind = problem.kind;
  });
  return twins;
}

}  // namespace petsc_test
