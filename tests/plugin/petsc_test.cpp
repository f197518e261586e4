// What every plugin test has beside GoogleTest.
#include "petsc_test.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace petsc_test {

namespace {

// PETSc's own handler aborts every process but the first, so that GoogleTest could not say which test it was.
std::string first_message, trace;

PetscErrorCode remember(MPI_Comm, int line, const char* function, const char* file, PetscErrorCode code,
                        PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) {
    trace.clear();
    if (first_message.empty() && message) first_message = message;
  }
  if (message && *message && type == PETSC_ERROR_INITIAL) trace += std::string("\n  ") + message;
  trace +=
      std::string("\n    ") + (function ? function : "?") + " at " + (file ? file : "?") + ":" + std::to_string(line);
  return code;
}

}  // namespace

PetscErrorCode push_error_handler() { return PetscPushErrorHandler(remember, nullptr); }

void must(int code, const char* call, const char* file, int line) {
  if (code == 0) return;
  const auto text =
      std::string(file) + ":" + std::to_string(line) + ": " + call + " returned error " + std::to_string(code) + trace;
  trace.clear();
  throw std::runtime_error(text);
}

int rank() {
  PetscMPIInt r = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}

int size() {
  PetscMPIInt s = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &s);
  return s;
}

double max_over_ranks(double v) {
  double all = v;
  MPI_Allreduce(&v, &all, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return all;
}

bool all_ranks(bool v) {
  int mine = v ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return all == 1;
}

PetscInt64 sum_over_ranks(PetscInt64 v) {
  long long mine = v, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, PETSC_COMM_WORLD);
  return all;
}

std::string same_on_all_ranks(std::string text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

bool whole_tier() {
  const char* tier = std::getenv("COMPOUND_TIER");
  return tier && std::string(tier) == "all";
}

std::string exhaustive_tuning() {
  return std::string("-mat_compound_tune exhaustive") + (whole_tier() ? "" : " -mat_compound_tune_seconds 0");
}

const std::string& tested_type() {
  static const std::string type = [] {
    const char* asked = std::getenv("COMPOUND_TEST_TYPE");
    return std::string(asked && *asked ? asked : MATBAIJCOMPOUND);
  }();
  return type;
}

namespace {
bool tested_begins_with(const char* type) { return tested_type().rfind(type, 0) == 0; }
}  // namespace

bool tested_is_compound() { return tested_begins_with(MATBAIJCOMPOUND) || tested_is_of_scalars(); }
bool tested_is_of_scalars() { return tested_begins_with(MATAIJCOMPOUND); }

std::string parent_type(const std::string& prefix) {
  return prefix + (tested_is_of_scalars() ? MATAIJ : tested_is_compound() ? MATBAIJ : tested_type());
}
std::string type_of(Mat A) {
  MatType type;
  PETSC_OK(MatGetType(A, &type));
  return type;
}
Solver solver_for(Mat A, const char* solver, const char* preconditioner) {
  Solver ksp;
  PC pc;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPSetType(ksp, solver));
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(PCSetType(pc, preconditioner));
  return ksp;
}
std::string pinned_type(const std::string& layout) {
  return (tested_is_of_scalars() ? MATAIJCOMPOUND : MATBAIJCOMPOUND) + layout;
}

std::string file_of_run(const std::string& name, const std::string& extension) {
  return name + "_" + same_on_all_ranks(std::to_string(getpid())) + extension;
}

void begin_catching() { first_message.clear(); }

caught end_catching(int code) {
  trace.clear();
  return {code, first_message};
}

}  // namespace petsc_test
