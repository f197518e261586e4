// Operations: what puts another matrix in the place of the first, or the same one in another layout.
#include "operations.hpp"

namespace petsc_test {

namespace {

template <MatDuplicateOption option>
void duplicated(Side& side, Random& random) {
  Matrix copy;
  PETSC_OK(MatDuplicate(side, option, copy.out()));
  if (option != MAT_COPY_VALUES) {
    const Problem problem{side.shape, own_blocks(side), random.next(), side.kind};
    insert_blocks(copy, problem, problem.seed, INSERT_VALUES);
    assemble(copy);
  }
  side.matrix = std::move(copy);
}

void copied_to_the_same_pattern(Side& side, Random&) {
  Matrix copy;
  PETSC_OK(MatDuplicate(side, MAT_DO_NOT_COPY_VALUES, copy.out()));
  (void)product_of(copy, all_products().front(), 41);
  PETSC_OK(MatCopy(side, copy, SAME_NONZERO_PATTERN));
  side.matrix = std::move(copy);
}

void copied_from_another_pattern(Side& side, Random& random) {
  const Problem problem{side.shape, random_blocks(random, side.shape, 0.2, false), random.next()};
  const auto other = side.make(problem);
  allow_new_nonzeros(side);
  PETSC_OK(MatCopy(other, side, DIFFERENT_NONZERO_PATTERN));
}

/// To another type and back, in place. What was asked for by option is lost with the type and must be read again.
void there_and_back(Side& side, const char* type) {
  PETSC_OK(MatConvert(side, type, MAT_INPLACE_MATRIX, side.matrix.in_place()));
  PETSC_OK(MatConvert(side, side.type().c_str(), MAT_INPLACE_MATRIX, side.matrix.in_place()));
  side.read_options();
}

void to_aij_and_back(Side& side, Random&) { there_and_back(side, MATAIJ); }
/// Not to BAIJ from AIJ: PETSc allocates by the first row of each block, which may be the emptiest.
void to_another_and_back(Side& side, Random&) { there_and_back(side, parent_type() == MATAIJ ? MATAIJPERM : MATBAIJ); }

void factored_copy(Side& side, Random&) {
  Mat block = nullptr;
  PETSC_OK(MatGetDiagonalBlock(side, &block));
  Matrix copy, factors;
  PETSC_OK(MatDuplicate(block, MAT_COPY_VALUES, copy.out()));
  allow_new_nonzeros(copy);
  PETSC_OK(MatShift(copy, 1000.0));
  PETSC_OK(MatGetFactor(copy, MATSOLVERPETSC, MAT_FACTOR_LU, factors.out()));
  Indices rows, cols;
  PETSC_OK(MatGetOrdering(copy, MATORDERINGNATURAL, rows.out(), cols.out()));
  MatFactorInfo info;
  PETSC_OK(MatFactorInfoInitialize(&info));
  PETSC_OK(MatLUFactorSymbolic(factors, copy, rows, cols, &info));
  PETSC_OK(MatLUFactorNumeric(factors, copy, &info));
  const auto b = left_vector(copy, 42), x = right_vector(copy, 43);
  PETSC_OK(MatSolve(factors, b, x));
}

void destroyed_and_made_anew(Side& side, Random& random) {
  const int bs = side.shape.bs;
  const int rows = 1 + random.below(12), cols = random.chance(0.6) ? rows : 1 + random.below(12);
  const auto shape = scatter(random, bs, rows, cols);
  const auto variants = all_variants();
  side.variant = variants[static_cast<std::size_t>(random.below(static_cast<int>(variants.size())))];
  side.shape = shape;
  side.matrix.reset();
  const bool with_diagonal = shape.is_square() && random.chance(0.5);
  const auto blocks = random_blocks(random, shape, 0.3, with_diagonal);
  side.matrix = side.make({shape, blocks, random.next(), side.kind});
}

/// Asked for at run time; the plain twin has no layouts.
void another_layout(Side& side, Random& random) {
  const char* const layouts[] = {"csr", "ellr", "sell:2", "sell:8:64", "bellpack:5", "dia", "hdia", "ccoo:64"};
  const std::string layout = layouts[random.below(std::size(layouts))];
  if (!tested_is_compound()) return;
  side.variant.plan = layout;
  side.variant.options = "-mat_compound_layout " + layout;
  if (side.tested) PETSC_OK(MatCompoundSetLayout(side, layout.c_str()));
}

void pinned_by_set_type(Side& side, Random& random) {
  const char* const layouts[] = {"csr", "ellr", "bellpack", "sell", "dia", "hdia", "ccoo"};
  const std::string layout = layouts[random.below(std::size(layouts))], type = pinned_type(layout);
  if (!tested_is_compound()) return;
  side.variant.type = type;
  side.variant.plain = parent_type();
  side.variant.plan = layout;
  side.variant.options.clear();
  if (side.tested) PETSC_OK(MatSetType(side, type.c_str()));
}

}  // namespace

const std::vector<Operation>& replacements() {
  static const std::vector<Operation> all = {
      {"duplicated", duplicated<MAT_COPY_VALUES>},
      {"duplicated_without_values", duplicated<MAT_DO_NOT_COPY_VALUES>},
      {"duplicated_sharing_the_pattern", duplicated<MAT_SHARE_NONZERO_PATTERN>, false, Sequences::none},
      {"copied_to_the_same_pattern", copied_to_the_same_pattern},
      {"copied_from_another_pattern", copied_from_another_pattern},
      {"to_aij_and_back", to_aij_and_back, false, PETSC_VERSION_LT(3, 19, 0) ? Sequences::sequential : Sequences::all},
      {"to_another_and_back", to_another_and_back},
      {"factored_copy", factored_copy, true},
      {"destroyed_and_made_anew", destroyed_and_made_anew},
      {"another_layout", another_layout},
      {"pinned_by_set_type", pinned_by_set_type},
  };
  return all;
}

}  // namespace petsc_test
