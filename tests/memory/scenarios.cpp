// A scenario is a function and a row of `all`, at the end.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <petsccompound/register_entry.hpp>

#include "../plugin/without_file.hpp"
#include "../soak/block_matrix.hpp"
#include "petsccompound.h"
#include "scenario.hpp"

namespace {

using Act = std::function<PetscErrorCode()>;

// Matrices.

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Of block (i, j), by rows. Symmetric and positive definite, with few different scalars; not symmetric is `skew`
/// besides.
std::array<PetscScalar, bs * bs> block(PetscInt i, PetscInt j, PetscReal factor) {
  std::array<PetscScalar, bs * bs> values;
  for (PetscInt k = 0; k < bs; ++k)
    for (PetscInt l = 0; l < bs; ++l) {
      const PetscInt at = i <= j ? k * bs + l : l * bs + k;
      values[k * bs + l] = factor * (i != j ? -0.25 / double(1 + at % 4) : k == l ? 8 + PetscReal(i % 3) : 0.25);
    }
  return values;
}

/// Columns of a row of blocks; a symmetric type has those from the diagonal on alone.
std::vector<PetscInt> columns_of(PetscInt row, PetscInt all, bool upper) {
  std::vector<PetscInt> columns;
  for (const PetscInt offset : {-5, -1, 0, 1, 5})
    if (row + offset >= (upper ? row : 0) && row + offset < all) columns.push_back(row + offset);
  return columns;
}

PetscErrorCode rows_of(Mat A, PetscInt* first, PetscInt* end, PetscInt* all) {
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, first, end));
  PetscCall(MatGetSize(A, all, nullptr));
  *first /= bs;
  *end /= bs;
  *all /= bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fill(Mat A, PetscReal factor) {
  PetscInt first, end, all;
  MatType type;
  PetscFunctionBeginUser;
  PetscCall(rows_of(A, &first, &end, &all));
  PetscCall(MatGetType(A, &type));
  for (PetscInt i = first; i < end; ++i)
    for (const PetscInt j : columns_of(i, all, has(type, "sbaij")))
      PetscCall(MatSetValuesBlocked(A, 1, &i, 1, &j, block(i, j, factor).data(), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a type, without entries. Options of `-memory_` are its own.
PetscErrorCode make(const std::string& type, Mat* A) {
  return make_block_matrix(type, "memory_", bs, rows_of_a_process, A);
}

PetscErrorCode preallocate(Mat A) { return preallocate_block_matrix(A, bs, rows_of_a_process); }

PetscErrorCode make_filled(const std::string& type, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(make(type, A));
  PetscCall(preallocate(*A));
  PetscCall(fill(*A, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscScalar x_of(PetscInt row) { return 1 + PetscScalar(row % 7) / PetscScalar(4); }

/// A's product with x_of() by the definition; a fault where it is another.
PetscErrorCode check_product(Run& run, Mat A, PetscReal factor = 1) {
  Vec x, y;
  PetscInt first, end, all;
  const PetscScalar* got;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(rows_of(A, &first, &end, &all));
  for (PetscInt row = bs * first; row < bs * end; ++row) PetscCall(VecSetValue(x, row, x_of(row), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &got));
  bool right = true;
  for (PetscInt i = first; i < end; ++i) {
    std::array<PetscScalar, bs> sums = {};
    for (const PetscInt j : columns_of(i, all, false))
      for (PetscInt k = 0; k < bs * bs; ++k) sums[k / bs] += block(i, j, factor)[k] * x_of(bs * j + k % bs);
    for (PetscInt k = 0; k < bs; ++k)
      right = right && PetscAbsScalar(got[bs * (i - first) + k] - sums[k]) < 1e-4;  // values=float, too
  }
  PetscCall(VecRestoreArrayRead(y, &got));
  if (!right) run.fault("with memory back the product is wrong");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc locks the vectors of a product, and leaves them so where that has an error.
PetscErrorCode unlock([[maybe_unused]] Vec v) {
  PetscFunctionBeginUser;
#if PETSC_VERSION_GE(3, 19, 0)
  PetscInt locks;
  PetscCall(VecLockGet(v, &locks));
  for (; locks > 0; --locks) PetscCall(VecLockReadPop(v));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(Mat A, Vec x, Vec y) {
  PetscFunctionBeginUser;
  for (Vec v : {x, y}) PetscCall(unlock(v));
  PetscMPIInt processes;
  PetscCall(MatMult(A, x, y));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &processes));
  // After the first product of an operation one asks others of nothing, and an error is its process's alone.
  if (processes == 1) PetscCall(MatMultAdd(A, x, y, y));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(VecSet(x, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options for the time of a scenario.
using OptionList = std::vector<std::pair<std::string, std::string>>;
class Options {
 public:
  explicit Options(OptionList options) : options_(std::move(options)) {
    for (const auto& [name, text] : options_)
      PetscCallAbort(PETSC_COMM_SELF, PetscOptionsSetValue(nullptr, ("-" + name).c_str(), text.c_str()));
  }
  Options(const Options&) = delete;
  ~Options() {
    for (const auto& [name, text] : options_)
      PetscCallAbort(PETSC_COMM_SELF, PetscOptionsClearValue(nullptr, ("-" + name).c_str()));
  }

 private:
  OptionList options_;
};

// What the view says.

/// A file of this process's family.
std::string file_name(const char* of) {
  return (std::filesystem::temp_directory_path() / ("compound_memory_" + std::to_string(getppid()) + "_" + of))
      .string();
}

/// The same on all processes; the first one writes it.
template <class Object>
std::string view_of(Object object, PetscErrorCode (*view)(Object, PetscViewer)) {
  const std::string file = file_name("view");
  PetscViewer viewer;
  PetscMPIInt rank;
  PetscCallAbort(PETSC_COMM_WORLD, PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), &viewer));
  PetscCallAbort(PETSC_COMM_WORLD, PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCallAbort(PETSC_COMM_WORLD, view(object, viewer));
  PetscCallAbort(PETSC_COMM_WORLD, PetscViewerDestroy(&viewer));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  std::string text;
  if (rank == 0) {
    std::ifstream in(file);
    text.assign(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove(file);
  }
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

std::string view_of(Mat A) { return view_of(A, MatView); }

/// Where memory of a device ends, products go on without it.
bool tells_of_device(Mat A) { return has(view_of(A), "the device has no memory left"); }

/// So do solvers with what they have there.
bool tells_of_device(KSP ksp, Mat A) {
  return tells_of_device(A) || has(view_of(ksp, KSPView), "the device's memory is full");
}

// Scenarios.

/// Two products, which pack the matrix.
PetscErrorCode packed(Run& run, const char* type, const char* plan) {
  Mat A;
  Vec x, y;
  PetscFunctionBeginUser;
  {
    const Options options(OptionList{{"memory_mat_compound_plan", plan}});
    PetscCall(make_filled(type, &A));
  }
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(run.act([&] { return multiply(A, x, y); }, [&] { return tells_of_device(A); }));
  PetscCall(check_product(run, A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where memory is asked for that is not needed: std::vector::shrink_to_fit(), and the room for all columns that
/// products of matrices set aside beforehand.
bool needs_no_word(Mat) { return true; }

/// With options that products of a matrix have. `says_so` must hold without a failure, too.
PetscErrorCode multiplied(Run& run, const char* type, const OptionList& with,
                          const std::function<bool(Mat)>& says_so = nullptr) {
  const Options options(with);
  Mat A;
  Vec x, y;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(run.act([&] { return multiply(A, x, y); }, [&] { return says_so ? says_so(A) : tells_of_device(A); }));
  if (says_so && !says_so(A)) run.fault("the view does not tell of what was left out");
  PetscCall(check_product(run, A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode created(Run& run, const char* type) {
  Mat A = nullptr;
  PetscFunctionBeginUser;
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(run.destroy(&A, MatDestroy));
    PetscCall(make_filled(type, &A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refreshed(Run& run, const char* type) {
  Mat A;
  Vec x, y;
  PetscFunctionBeginUser;
  {
    const Options options(OptionList{{"memory_mat_compound_plan", "entry=dense sell:8:64"}});
    PetscCall(make_filled(type, &A));
  }
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(multiply(A, x, y));
  PetscCall(run.act(
      [&] {
        PetscFunctionBeginUser;
        PetscCall(fill(A, 2));
        PetscCall(multiply(A, x, y));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      [&] { return tells_of_device(A); }));
  PetscCall(check_product(run, A, 2));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode coordinates(Run& run, const char* type) {
  Mat A;
  PetscInt first, end, all;
  std::vector<PetscInt> i, j;
  std::vector<PetscScalar> v;
  PetscFunctionBeginUser;
  PetscCall(make(type, &A));
  PetscCall(MatSetUp(A));
  PetscCall(rows_of(A, &first, &end, &all));
  // Each entry in two halves; those of a row that another process has come from the one before it.
  for (PetscInt row = first; row < end; ++row)
    for (const PetscInt from : {row, (row + rows_of_a_process) % all})
      for (const PetscInt column : columns_of(from, all, false))
        for (PetscInt k = 0; k < bs * bs; ++k) {
          i.push_back(bs * from + k / bs);
          j.push_back(bs * column + k % bs);
          v.push_back(block(from, column, 0.5)[k]);
        }
  PetscCall(run.act([&] {
    std::vector<PetscInt> rows = i, columns = j;
    PetscFunctionBeginUser;
    PetscCall(MatSetPreallocationCOO(A, static_cast<PetscCount>(i.size()), rows.data(), columns.data()));
    PetscCall(MatSetValuesCOO(A, v.data(), INSERT_VALUES));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_coordinates(Run& run) {
  Mat A;
  PetscInt first, end, all;
  std::vector<PetscInt> i, j;
  std::vector<PetscScalar> v;
  PetscFunctionBeginUser;
  PetscCall(make(MATBAIJCOMPOUND, &A));
  PetscCall(MatSetUp(A));
  PetscCall(rows_of(A, &first, &end, &all));
  for (PetscInt row = first; row < end; ++row)
    for (const PetscInt column : columns_of(row, all, false)) {
      i.push_back(row);
      j.push_back(column);
      for (const PetscScalar s : block(row, column, 1)) v.push_back(s);
    }
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(MatCompoundSetPreallocationCOO(A, static_cast<PetscCount>(i.size()), i.data(), j.data()));
    PetscCall(MatCompoundSetValuesCOO(A, v.data(), INSERT_VALUES));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix that is converted must stay as it was.
PetscErrorCode converted(Run& run, const char* from, const char* to) {
  Mat A, B = nullptr;
  PetscFunctionBeginUser;
  PetscCall(make_filled(from, &A));
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(run.destroy(&B, MatDestroy));
    PetscCall(MatConvert(A, to, MAT_INITIAL_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(check_product(run, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode converted_in_place(Run& run, const char* from, const char* to) {
  Mat A;
  PetscFunctionBeginUser;
  PetscCall(make_filled(from, &A));
  PetscCall(run.act([&] { return MatConvert(A, to, MAT_INPLACE_MATRIX, &A); }));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicated(Run& run, const char* type) {
  Mat A, B = nullptr;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(check_product(run, A));
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(run.destroy(&B, MatDestroy));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(check_product(run, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode submatrix(Run& run, const char* type) {
  Mat A, B = nullptr;
  IS all;  // not a stride, of which PETSc knows that nothing is to be done
  PetscInt first, end;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  std::vector<PetscInt> rows;
  for (PetscInt row = first / bs; row < end / bs; ++row) rows.push_back(row);
  PetscCall(
      ISCreateBlock(PETSC_COMM_WORLD, bs, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_COPY_VALUES, &all));
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(run.destroy(&B, MatDestroy));
    PetscCall(MatCreateSubMatrix(A, all, all, MAT_INITIAL_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(check_product(run, B));
  PetscCall(ISDestroy(&all));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product of two matrices, and values anew.
PetscErrorCode block_product(Run& run, const char* type) {
  Mat A, C = nullptr;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(run.act(
      [&] {
        PetscFunctionBeginUser;
        PetscCall(run.destroy(&C, MatDestroy));
        PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      [&] { return needs_no_word(A); }));
  PetscCall(check_product(run, A));
  Vec x, y, z, w;
  PetscReal norm;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(A, y, z));
  PetscCall(MatMult(C, x, w));
  PetscCall(VecAXPY(w, -1, z));
  PetscCall(VecNorm(w, NORM_INFINITY, &norm));
  if (!(norm < 1e-8)) run.fault("with memory back the product of two matrices is wrong");
  for (Vec* v : {&x, &y, &z, &w}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solver of A, set up, in place of the one of an earlier call.
PetscErrorCode set_up(Run& run, Mat A, const char* solver, const char* preconditioner, KSP* ksp) {
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(std::strcmp(preconditioner, PCGAMG) ? run.destroy(ksp, KSPDestroy) : run.leave(ksp, KSPDestroy));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, solver));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(KSPSetOptionsPrefix(*ksp, "memory_"));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Set up, and solved twice; A x is then b.
PetscErrorCode solved(Run& run, const char* type, const char* solver, const char* preconditioner,
                      const OptionList& with = {}) {
  const Options options(with);
  Mat A;
  Vec b, x, r;
  KSP ksp = nullptr;
  PetscReal norm;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(run.act(
      [&] {
        PetscFunctionBeginUser;
        PetscCall(set_up(run, A, solver, preconditioner, &ksp));
        for (Vec v : {x, b}) PetscCall(unlock(v));
        PetscCall(VecSet(x, 0));
        PetscCall(KSPSolve(ksp, b, x));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      [&] { return !std::strcmp(preconditioner, PCGAMG) ? needs_no_word(A) : tells_of_device(ksp, A); }));
  PetscCall(check_product(run, A));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_INFINITY, &norm));
  if (!(norm < 1e-6)) run.fault("with memory back the solution is wrong");
  PetscCall(KSPDestroy(&ksp));
  for (Vec* v : {&x, &b, &r}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Three right-hand sides at once; A X is then B.
PetscErrorCode solved_together(Run& run, const char* preconditioner) {
  constexpr PetscInt columns = 3;
  Mat A, B = nullptr, X = nullptr, R;
  KSP ksp = nullptr;
  PetscInt rows, all_rows;
  PetscReal norm;
  PetscFunctionBeginUser;
  PetscCall(make_filled(MATBAIJCOMPOUND, &A));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(MatGetSize(A, &all_rows, nullptr));
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    for (Mat* dense : {&B, &X}) {
      PetscCall(run.destroy(dense, MatDestroy));
      PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, all_rows, columns, nullptr, dense));
      for (PetscInt k = 0; k < columns; ++k) {
        Vec v;
        PetscCall(MatDenseGetColumnVecWrite(*dense, k, &v));
        PetscCall(VecSet(v, dense == &B ? static_cast<PetscScalar>(k + 1) : 0));
        PetscCall(MatDenseRestoreColumnVecWrite(*dense, k, &v));
      }
      PetscCall(MatAssemblyBegin(*dense, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(*dense, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(set_up(run, A, KSPCGCOMPOUND, preconditioner, &ksp));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(R, NORM_FROBENIUS, &norm));
  if (!(norm < 1e-5)) run.fault("with memory back the solutions are wrong");
  PetscCall(KSPDestroy(&ksp));
  for (Mat* m : {&R, &X, &B, &A}) PetscCall(MatDestroy(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode loaded(Run& run, const char* type) {
  const std::string file = file_name("matrix");
  Mat A;
  PetscViewer viewer = nullptr;
  PetscFunctionBeginUser;
  PetscCall(make_filled("baij", &A));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatDestroy(&A));
  PetscCall(run.act([&] {
    PetscFunctionBeginUser;
    PetscCall(run.destroy(&A, MatDestroy));
    PetscCall(run.destroy(&viewer, PetscViewerDestroy));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetBlockSize(A, bs));
    PetscCall(MatSetType(A, type));
    PetscCall(MatLoad(A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatDestroy(&A));
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".info");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode viewed(Run& run, const char* type) {
  Mat A;
  PetscFunctionBeginUser;
  PetscCall(make_filled(type, &A));
  PetscCall(check_product(run, A));
  PetscViewer viewer;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(run.act([&] {
    const char* plan;
    MatCompoundInfo info;
    PetscFunctionBeginUser;
    PetscCall(MatView(A, viewer));
    PetscCall(MatCompoundGetPlan(A, &plan));
    PetscCall(MatCompoundGetInfo(A, &info));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view tells how many plans were timed: one that finds no memory is left out. Or that the plan is in the file,
/// where memory ended after that was written and the product is made once more.
bool tells_of_timed(Mat A) {
  const std::string view = view_of(A);
  return has(view, "plans timed") || has(view, "by wisdom");
}

/// Measures plans, and writes what it found where a file is named.
PetscErrorCode tuned(Run& run, bool writes) {
  const std::string file = file_name("wisdom");
  PetscFunctionBeginUser;
  std::filesystem::remove(file);
  PetscCall(
      multiplied(run, MATBAIJCOMPOUND,
                 {{"memory_mat_compound_tune", "measure"}, {"memory_mat_compound_wisdom", writes ? file : "none"}},
                 tells_of_timed));
  std::filesystem::remove(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Under a name that is new in each run, and so long that it takes memory of its own.
PetscErrorCode registered(Run& run) {
  static int runs = 0;
  const std::string name = "full_blocks_of_run_" + std::to_string(runs++);
  compound::host_entry entry = compound::host_entry_of<without_file<compound::petsc_scalar_of<PetscReal>>>();
  entry.name = name.c_str();
  const Options options(OptionList{{"memory_mat_compound_entry", name}});
  Mat A;
  PetscFunctionBeginUser;
  PetscCall(run.act([&] { return failing::keep([&] { return MatCompoundRegisterHostEntry(&entry); }); }));
  PetscCall(make_filled(MATBAIJCOMPOUND, &A));
  PetscCall(check_product(run, A));
  if (!has(view_of(A), name.c_str())) run.fault("the view does not tell of the block format");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode pack_csr(Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense csr words=1:row"); }

const std::vector<Scenario> all = {
    {"create baij", [](Run& r) { return created(r, MATBAIJCOMPOUND); }, true},
    {"create aij", [](Run& r) { return created(r, MATAIJCOMPOUND); }, true},
    {"create sbaij", [](Run& r) { return created(r, MATSBAIJCOMPOUND); }, true},
    {"pack by default baij", [](Run& r) { return multiplied(r, MATBAIJCOMPOUND, {}); }, true, false, true},
    {"pack by default aij", [](Run& r) { return multiplied(r, MATAIJCOMPOUND, {}); }, true, false, true},
    {"pack by default sbaij", [](Run& r) { return multiplied(r, MATSBAIJCOMPOUND, {}); }, true, false, true},
    {"pack csr words", pack_csr, true, false, true},
    {"pack ellr", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense ellr"); }, true, false, true},
    {"pack sell", [](Run& r) { return packed(r, MATAIJCOMPOUND, "entry=dense sell:8:64"); }, true, false, true},
    {"pack bellpack", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense bellpack:5"); }, true, false, true},
    {"pack dia", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense dia"); }, true, false, true},
    {"pack hdia", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense hdia"); }, true, false, true},
    {"pack ccoo", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense ccoo"); }, true, false, true},
    {"pack ccoo chunks8", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense codes=chunks8 ccoo"); }, true},
    {"pack ellr + ccoo", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense ellr width=auto + ccoo"); }, true,
     false, true},
    {"pack columns8", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense csr columns=8"); }, true},
    {"pack scalars8", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense codes=scalars8 csr"); }, true},
    {"pack blocks8", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense codes=blocks8 csr"); }, true},
    {"pack float", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense sell:4 values=float"); }, true, false,
     true},
    {"pack half", [](Run& r) { return packed(r, MATBAIJCOMPOUND, "entry=dense half=symmetric csr"); }, true},
    {"pack both triangles", [](Run& r) { return packed(r, MATSBAIJCOMPOUND, "entry=dense sell:8:64"); }, true, false,
     true},
    {"re-block",
     [](Run& r) {
       return multiplied(r, MATBAIJCOMPOUND, {{"memory_mat_compound_block_size", "1"}}, needs_no_word);
     },
     true},
    {"find blocks",
     [](Run& r) {
       return multiplied(r, MATAIJCOMPOUND, {{"memory_mat_compound_block_size", "find"}}, needs_no_word);
     },
     true},
    {"find block format",
     [](Run& r) {
       return multiplied(r, MATBAIJCOMPOUND, {{"memory_mat_compound_entry", "auto"}});
     },
     true},
    {"register block format", registered},
    {"new values baij", [](Run& r) { return refreshed(r, MATBAIJCOMPOUND); }, false, false, true},
    {"new values aij", [](Run& r) { return refreshed(r, MATAIJCOMPOUND); }, false, false, true},
    {"coordinates baij", [](Run& r) { return coordinates(r, MATBAIJCOMPOUND); }, true},
    {"coordinates aij", [](Run& r) { return coordinates(r, MATAIJCOMPOUND); }, true},
    {"coordinates of blocks", block_coordinates, true},
    {"convert to baij", [](Run& r) { return converted(r, "baij", MATBAIJCOMPOUND); }},
    {"convert from baij", [](Run& r) { return converted(r, MATBAIJCOMPOUND, "baij"); }},
    {"convert to aij", [](Run& r) { return converted(r, MATBAIJCOMPOUND, MATAIJCOMPOUND); }},
    {"convert to baij in place", [](Run& r) { return converted_in_place(r, "baij", MATBAIJCOMPOUND); }},
    {"convert from aij in place", [](Run& r) { return converted_in_place(r, MATAIJCOMPOUND, "aij"); }},
    {"convert layout in place", [](Run& r) { return converted_in_place(r, MATBAIJCOMPOUND, MATBAIJCOMPOUND "sell"); }},
    {"duplicate baij", [](Run& r) { return duplicated(r, MATBAIJCOMPOUND); }},
    {"duplicate aij", [](Run& r) { return duplicated(r, MATAIJCOMPOUND); }},
    {"submatrix", [](Run& r) { return submatrix(r, MATBAIJCOMPOUND); }},
    {"view", [](Run& r) { return viewed(r, MATBAIJCOMPOUND); }},
    {"tune", [](Run& r) { return tuned(r, false); }, false, true},
    {"wisdom", [](Run& r) { return tuned(r, true); }, false, true},
    {"block product aij", [](Run& r) { return block_product(r, MATAIJCOMPOUND); }},
    {"block product baij", [](Run& r) { return block_product(r, MATBAIJCOMPOUND); }},
    {"pbjacobi", [](Run& r) { return solved(r, MATBAIJCOMPOUND, KSPCG, PCPBJACOBI); }, false, false, true},
    {"cgcompound", [](Run& r) { return solved(r, MATBAIJCOMPOUND, KSPCGCOMPOUND, PCJACOBI); }, true, false, true},
    {"cgcompound, one reduction",
     [](Run& r) {
       return solved(r, MATAIJCOMPOUND, KSPCGCOMPOUND, PCPBJACOBI, {{"memory_ksp_cgcompound_reductions", "1"}});
     },
     false, false, true},
    {"cgcompound, several right-hand sides", [](Run& r) { return solved_together(r, PCJACOBI); }, true},
    {"cgcompound, pbjacobi, several right-hand sides", [](Run& r) { return solved_together(r, PCPBJACOBI); }},
    {"bcgscompound", [](Run& r) { return solved(r, MATBAIJCOMPOUND, KSPBCGSCOMPOUND, PCPBJACOBI); }, false, false,
     true},
    {"multigrid", [](Run& r) { return solved(r, MATAIJCOMPOUND, KSPCG, PCGAMG); }},
    {"load baij", [](Run& r) { return loaded(r, MATBAIJCOMPOUND); }, true},
    {"load aij", [](Run& r) { return loaded(r, MATAIJCOMPOUND); }, true},
    {"load sbaij", [](Run& r) { return loaded(r, MATSBAIJCOMPOUND); }, true},
};

// Mistakes that the test's own test plants.

PetscErrorCode leaks(Run& run) {
  PetscFunctionBeginUser;
  PetscCall(run.act([&] {
    void* parts[4];
    PetscFunctionBeginUser;
    for (void*& part : parts) PetscCall(PetscMalloc(1000, &part));
    for (void*& part : parts) PetscCall(PetscFree(part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode swallows(Run& run) {
  PetscFunctionBeginUser;
  PetscCall(run.act([&] {
    void* part = nullptr;
    PetscFunctionBeginUser;
    (void)PetscMalloc(1000, &part);
    PetscCall(PetscFree(part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode throws(Run& run) {
  PetscFunctionBeginUser;
  PetscCall(run.act([&] {
    void* part = nullptr;
    PetscFunctionBeginUser;
    if (PetscMalloc(1000, &part)) throw std::bad_alloc();
    PetscCall(PetscFree(part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode spoils(Run& run) {
  Mat A;
  PetscFunctionBeginUser;
  PetscCall(make_filled(MATBAIJCOMPOUND, &A));
  PetscCall(run.act([&] {
    void* part = nullptr;
    PetscFunctionBeginUser;
    const PetscErrorCode code = PetscMalloc(1000, &part);
    if (code) PetscCall(MatScale(A, 2));
    PetscCall(code);
    PetscCall(PetscFree(part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_product(run, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const std::vector<Scenario> with_mistakes = {
    {"leak", leaks}, {"swallow", swallows}, {"throw", throws}, {"spoil", spoils}};

}  // namespace

const std::vector<Scenario>& scenarios() { return all; }
const std::vector<Scenario>& mistakes() { return with_mistakes; }
