// Any text as the value of any option of the plugin: an error that names the option, or right products and solutions.
#include "options/options.hpp"

#include "options/unused_options.hpp"
#include "petsc_target.hpp"

namespace {

using namespace compound::fuzz;
using Solver = compound::Handle<KSP, KSPDestroy>;

constexpr PetscInt bs = 3, blocks = 7;

/// Symmetric, with diagonals that outweigh the rest; block row 3 is full. Numbers that float has, too.
Dense some_matrix() {
  Dense a{.rows = bs * blocks, .columns = bs * blocks};
  for (PetscInt i = 0; i < a.rows; ++i)
    for (PetscInt j = 0; j <= i; ++j) {
      const PetscInt apart = i / bs - j / bs;
      if (apart <= 1 || i / bs == 3 || j / bs == 3) a.at(i, j) = a.at(j, i) = i == j ? 64 : 1 + (i * j) % 3;
    }
  return a;
}

Matrix assembled(const Dense& a, const char* type) {
  Matrix A;
  must(MatCreate(PETSC_COMM_SELF, A.out()));
  must(MatSetSizes(A, a.rows, a.columns, a.rows, a.columns));
  must(MatSetBlockSize(A, bs));
  must(MatSetType(A, type));
  must(MatSeqAIJSetPreallocation(A, a.columns, nullptr));
  must(MatSeqBAIJSetPreallocation(A, bs, blocks, nullptr));
  for (PetscInt i = 0; i < a.rows; ++i)
    for (PetscInt j = 0; j < a.columns; ++j)
      if (a.at(i, j) != 0) must(MatSetValue(A, i, j, a.at(i, j), INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

int solve(Mat A, Solver* ksp, std::vector<double>* product) {
  return tried([&] {
    PetscFunctionBegin;
    Vector b, x;
    PC pc;
    const PetscScalar* found;
    PetscCall(MatCreateVecs(A, x.out(), b.out()));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_SELF, ksp->out()));
    PetscCall(KSPSetType(*ksp, KSPCGCOMPOUND));
    PetscCall(KSPSetOperators(*ksp, A, A));
    PetscCall(KSPGetPC(*ksp, &pc));
    PetscCall(PCSetType(pc, PCPBJACOBI));
    PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    {
      const Kept kept;
      PetscCall(KSPSetFromOptions(*ksp));
    }
    PetscCall(KSPSolve(*ksp, b, x));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecGetArrayRead(b, &found));
    for (PetscInt i = 0; i < bs * blocks; ++i) product->push_back(PetscRealPart(found[i]));
    PetscCall(VecRestoreArrayRead(b, &found));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

std::vector<std::string> all_options() {
  std::vector<std::string> all;
  for (const auto& names : {compound::plugin::option_names(), compound::plugin::solver_option_names()})
    for (const std::string_view name : names)
      if (!name.starts_with("pc_")) all.push_back("-" + std::string(name));  // those are multigrid's
  return all;
}

/// False after an error, which names the option.
bool goes_on(const std::string& option, bool fine) {
  if (!fine) require(message().find(option) != std::string::npos, "'" + message() + "' names " + option);
  return fine;
}

/// Options are read when the program asks, or by the first product.
int set_from_options(Mat A) {
  const Kept kept;
  return tried([&] { return MatSetFromOptions(A); });
}

void try_option(const std::string& option, const char* type, bool asks) {
  static const Dense a = some_matrix();
  const Matrix A = assembled(a, type);
  if (asks && !goes_on(option, set_from_options(A) == 0)) return;
  for (const bool transposed : {false, true}) {
    std::vector<double> y;
    if (!goes_on(option, multiply(A, transposed, &y))) return;
    require_product(a, transposed, y, transposed ? "A^T x" : "A x");
  }
  Solver ksp;
  std::vector<double> product;
  if (!goes_on(option, solve(A, &ksp, &product) == 0)) return;
  for (const double v : product) require(std::abs(v - 1) < 1e-6, "A x is b after a solve");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  begin_petsc();
  static const std::vector<std::string> options = all_options();
  const std::string& option = options[data[0] % options.size()];
  const std::string value(text_of(data + 2, size - 2));
  must(PetscOptionsSetValue(nullptr, "-mat_compound_wisdom", "none"));  // no file of the user's
  must(PetscOptionsSetValue(nullptr, option.c_str(), value.c_str()));
  try_option(option, data[1] & 1 ? MATAIJCOMPOUND : MATBAIJCOMPOUND, data[1] & 2);
  must(PetscOptionsClear(nullptr));
  return 0;
}
