// What targets of the plugin share: PETSc in the fuzzer's process, begun once, whose errors come back as codes.
#pragma once

#include <petsccompound.h>
#include <petscksp.h>

#include <cmath>
#include <vector>

#include "petsc_handle.hpp"
#include "target.hpp"

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

extern "C" {
void __lsan_disable() __attribute__((weak));
void __lsan_enable() __attribute__((weak));
}

namespace compound::fuzz {

/// What is allocated meanwhile is no leak: MPI keeps some to its end, and PETSc's own functions what they hold when
/// they end with an error.
class Kept {
 public:
  Kept() {
    if (__lsan_disable) __lsan_disable();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (__lsan_enable) __lsan_enable();
  }
};

using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;
using Viewer = Handle<PetscViewer, PetscViewerDestroy>;

/// Of the first error since tried() began.
inline std::string& message() {
  static std::string text;
  return text;
}

inline PetscErrorCode remember(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                               const char* text, void*) {
  if (type == PETSC_ERROR_INITIAL && message().empty() && text) message() = text;
  return code;
}

/// Calls of a target that are no part of what it tries.
inline void must(PetscErrorCode code) { require(code == PETSC_SUCCESS, "a call works: " + message()); }

/// The code of `call`, whose message is message() then.
template <class Call>
int tried(const Call& call) {
  message().clear();
  return static_cast<int>(call());
}

/// Once: PETSc and the plugin, without the user's options. Signals are the sanitizers'.
inline void begin_petsc() {
  static const bool begun = [] {
    const Kept kept;
    static char name[] = "fuzz", no_handler[] = "-no_signal_handler", no_file[] = "-skip_petscrc";
    static char* arguments[] = {name, no_handler, no_file, nullptr};
    int count = 3;
    char** given = arguments;
    require(PetscInitialize(&count, &given, nullptr, nullptr) == 0, "PETSc begins");
    std::atexit([] { (void)PetscFinalize(); });
    must(PetscPushErrorHandler(remember, nullptr));
    must(PetscCompoundInitialize());
    return true;
  }();
  (void)begun;
}

/// What a matrix should be: all its scalars, by rows.
struct Dense {
  PetscInt rows = 0, columns = 0;
  std::vector<double> value = std::vector<double>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));

  double& at(PetscInt i, PetscInt j) { return value[static_cast<std::size_t>(i) * columns + j]; }
  double at(PetscInt i, PetscInt j) const { return value[static_cast<std::size_t>(i) * columns + j]; }
};

/// A x or A^T x for x[k] = 1 + k % 5, as an array. False, with message(), where PETSc says why not.
inline bool multiply(Mat A, bool transposed, std::vector<double>* to) {
  Vector x, y;
  PetscInt size;
  PetscScalar* values;
  const PetscScalar* found;
  must(MatCreateVecs(A, transposed ? y.out() : x.out(), transposed ? x.out() : y.out()));
  must(VecGetSize(x, &size));
  must(VecGetArrayWrite(x, &values));
  for (PetscInt k = 0; k < size; ++k) values[k] = 1 + k % 5;
  must(VecRestoreArrayWrite(x, &values));
  if (tried([&] { return transposed ? MatMultTranspose(A, x, y) : MatMult(A, x, y); })) return false;
  must(VecGetSize(y, &size));
  must(VecGetArrayRead(y, &found));
  to->clear();
  for (PetscInt k = 0; k < size; ++k) to->push_back(PetscRealPart(found[k]));
  must(VecRestoreArrayRead(y, &found));
  return true;
}

/// The entries that `a` has: sums of them are right up to rounding, whatever is not finite left out.
inline void require_product(const Dense& a, bool transposed, const std::vector<double>& y, const std::string& what,
                            double tolerance = 1e-13) {
  const PetscInt lines = transposed ? a.columns : a.rows, others = transposed ? a.rows : a.columns;
  require(y.size() == static_cast<std::size_t>(lines), what + " has " + std::to_string(lines) + " components");
  for (PetscInt i = 0; i < lines; ++i) {
    double sum = 0, size = 0;
    for (PetscInt j = 0; j < others; ++j) {
      const double term = (transposed ? a.at(j, i) : a.at(i, j)) * (1 + j % 5);
      sum += term;
      size += std::abs(term);
    }
    if (!std::isfinite(size)) continue;
    require(std::abs(y[static_cast<std::size_t>(i)] - sum) <= tolerance * size,
            what + ": component " + std::to_string(i) + " is " + std::to_string(y[static_cast<std::size_t>(i)]) +
                ", not " + std::to_string(sum));
  }
}

inline void require_products(Mat A, const Dense& a, const std::string& what, double tolerance = 1e-13) {
  std::vector<double> y;
  for (const bool transposed : {false, true}) {
    require(multiply(A, transposed, &y), what + " multiplies: " + message());
    require_product(a, transposed, y, what + (transposed ? ": A^T x" : ": A x"), tolerance);
  }
}

}  // namespace compound::fuzz
