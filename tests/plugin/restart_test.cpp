// PETSc started, ended and started again in one process: types and events register anew, but not where PETSc is another
// one than the plugin was built for; and packages of solvers that PETSc knew before. A program of its own, because the
// other tests share one PetscInitialize().
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "../src/support/environment.hpp"
#include "petsc_test.hpp"

namespace {

enum class Petsc { as_it_is, of_another_release, with_another_index, with_other_scalars };
Petsc seen = Petsc::as_it_is;

template <class Int>
void write_number(int number, PetscInt* to) {
  const Int written = number;
  std::memcpy(to, &written, sizeof(written));
}

}  // namespace

/// Hides PETSc's own from the plugin, too.
extern "C" PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor,
                                                PetscInt* release) {
  using Another = std::conditional_t<sizeof(PetscInt) == 4, std::int64_t, std::int32_t>;
  const int numbers[] = {PETSC_VERSION_MAJOR, seen == Petsc::of_another_release ? 99 : PETSC_VERSION_MINOR,
                         PETSC_VERSION_SUBMINOR, PETSC_VERSION_RELEASE};
  PetscInt* const to[] = {major, minor, subminor, release};
  for (int k = 0; k < 4; ++k)
    if (to[k]) (seen == Petsc::with_another_index ? write_number<Another> : write_number<PetscInt>)(numbers[k], to[k]);
  return static_cast<PetscErrorCode>(0);
}
extern "C" PetscErrorCode PetscDataTypeFromString(const char* name, PetscDataType* type, PetscBool* found) {
  const auto petscs = reinterpret_cast<decltype(&PetscDataTypeFromString)>(dlsym(RTLD_NEXT, "PetscDataTypeFromString"));
  const PetscErrorCode code = petscs(name, type, found);
  if (seen == Petsc::with_other_scalars && std::strcmp(name, "scalar") == 0) *type = PETSC_FLOAT;
  return code;
}

namespace {

/// Whether the plugin refuses another PETSc in these words, and takes this one.
bool refuses_others() {
  const std::string release = std::to_string(PETSC_VERSION_MAJOR) + ".", minor = std::to_string(PETSC_VERSION_MINOR),
                    fits = "it was built for ", but = ", this program runs with ";
  const bool narrow = sizeof(PetscInt) == 4;
  const struct {
    Petsc petsc;
    std::string says;
  } others[] = {{Petsc::of_another_release, fits + "release " + release + minor + but + release + "99;"},
                {Petsc::with_another_index,
                 fits + "index width " + (narrow ? "32" : "64") + " bit" + but + (narrow ? "64" : "32") + " bit;"},
                {Petsc::with_other_scalars,
                 fits + "scalar type " + PetscDataTypes[PETSC_SCALAR] + but + PetscDataTypes[PETSC_FLOAT] + ";"}};
  bool right = true;
  for (const auto& other : others) {
    seen = other.petsc;
    const auto found = petsc_test::catch_error(PetscCompoundInitialize);
    right = found.code != 0 && found.message.find(other.says) != std::string::npos && right;
    if (!right) std::printf("not '%s' but '%s'\n", other.says.c_str(), found.message.c_str());
  }
  seen = Petsc::as_it_is;
  return PetscCompoundInitialize() == 0 && right;
}

std::string name_for_package;

PetscErrorCode factor_of_package(Mat A, MatFactorType, Mat* factor) {
  name_for_package = petsc_test::type_of(A);
  return MatCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), factor);
}

/// MKL CPARDISO, for one, takes a matrix for MPIAIJ whose name is no other that it knows.
PetscErrorCode test_name_for_package(bool* right) {
  PetscFunctionBegin;
  constexpr const char* package = "mkl_cpardiso";
  int ranks;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const std::string number = ranks > 1 ? "mpi" : "seq";
  PetscCall(MatInitializePackage());  // MatSolverTypeRegister() would lose what this registers
  for (const std::string base : {"aij", "baij", "sbaij"})
    PetscCall(MatSolverTypeRegister(package, (number + base).c_str(), MAT_FACTOR_CHOLESKY, factor_of_package));
  PetscCall(PetscCompoundInitialize());
  *right = true;
  for (const std::string base : {"aij", "baij", "sbaij"})
    for (const std::string& type : {base, base + "compound"}) {
      Mat A, factor;
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, 2, 2, PETSC_DETERMINE, PETSC_DETERMINE));
      PetscCall(MatSetType(A, type.c_str()));
      PetscCall(MatSetUp(A));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatGetFactor(A, package, MAT_FACTOR_CHOLESKY, &factor));
      const std::string after = petsc_test::type_of(A);
      if (name_for_package != number + base || after != number + type) {
        std::printf("a package sees %s as %s, and leaves it as %s\n", type.c_str(), name_for_package.c_str(),
                    after.c_str());
        *right = false;
      }
      PetscCall(MatDestroy(&factor));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// Without -dll_append: with it PetscInitialize() would end with the error, and register before packages that are
/// added.
int test_without_append() {
  const compound::test::Variable options("PETSC_OPTIONS", {});
  if (PetscInitialize(nullptr, nullptr, nullptr, nullptr)) return 1;
  bool right = false;
  const bool named = test_name_for_package(&right) == 0 && right;
  const bool ended = PetscFinalize() == 0;
  if (PetscInitialize(nullptr, nullptr, nullptr, nullptr)) return 1;
  (void)petsc_test::push_error_handler();
  const bool refused = refuses_others();
  (void)PetscPopErrorHandler();
  const bool ended_again = PetscFinalize() == 0;
  std::printf("packages: %s\nother PETScs: %s\n", named && ended ? "passed" : "failed",
              refused && ended_again ? "refused" : "failed");
  return named && ended && refused && ended_again ? 0 : 1;
}

PetscErrorCode multiply_once() {
  PetscFunctionBegin;
  Mat A;
  Vec x, y;
  PetscReal norm;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(A, 2));
  PetscCall(MatSetType(A, "baijcompound"));
  PetscCall(MatSetUp(A));
  PetscInt first, last;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.5));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCheck(norm == 3.0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "2 * 1.5 gave %g", static_cast<double>(norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = test_without_append();
  for (int round = 0; round < 3 && !failed; ++round) {
    int count = argc;
    failed = PetscInitialize(&count, &argv, nullptr, nullptr) || multiply_once() || PetscFinalize();
    std::printf("round %d: %s\n", round, failed ? "failed" : "passed");
  }
  MPI_Finalize();
  return failed;
}
