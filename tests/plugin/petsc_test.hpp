// What every plugin test includes: GoogleTest and PETSc joined, on one process or several.
#pragma once

#include <gtest/gtest.h>
#include <petsccompound.h>
#include <petscdm.h>
#include <petscksp.h>

#include <cstdint>
#include <string>

#include "petsc_handle.hpp"

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
// 3.18 has no such name.
#define PETSC_SUCCESS 0
#endif

/// Ends the test (by an exception) when a PETSc call returns an error; usable in helpers and lambdas as well.
/// All processes of a collective call get the same error code, so that does not leave the others waiting.
#define PETSC_OK(...) ::petsc_test::must(static_cast<int>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

namespace petsc_test {

/// PETSc's own handler prints and aborts; this one remembers messages, for PETSC_OK() and catch_error().
PetscErrorCode push_error_handler();

void must(int code, const char* call, const char* file, int line);

int rank();
int size();

/// Largest value of `v` over all processes: tests compare this, so that all processes agree on the verdict.
double max_over_ranks(double v);
bool all_ranks(bool v);
PetscInt64 sum_over_ranks(PetscInt64 v);
/// The text of process 0 on all.
std::string same_on_all_ranks(std::string text);

/// COMPOUND_TIER is all; else what every change is to meet.
bool whole_tier();
/// -mat_compound_tune exhaustive; but for the tier all of the first plans alone, which is as much to a test of what is
/// said.
std::string exhaustive_tuning();

/// The type these tests are about: COMPOUND_TEST_TYPE ("aijcompound"), else "baijcompound". With "baij" they test
/// themselves.
const std::string& tested_type();
bool tested_is_compound();
/// Above AIJ, which keeps no blocks: those are found, and where there are none products are the parent's.
bool tested_is_of_scalars();
/// PETSc's own type that it stands above; with "seq" or "mpi" before it.
std::string parent_type(const std::string& prefix = "");
/// MatGetType()'s.
std::string type_of(Mat A);
/// A name of a file that no other run of a test has, the same on all processes: "view" -> "view_1234.txt".
std::string file_of_run(const std::string& name, const std::string& extension);
/// The constructor with a layout, "csr".
std::string pinned_type(const std::string& layout);

using compound::Handle;
using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;
using Indices = Handle<IS, ISDestroy>;
using Solver = Handle<KSP, KSPDestroy>;
using Grid = Handle<DM, DMDestroy>;
using Viewer = Handle<PetscViewer, PetscViewerDestroy>;

/// With these types, of the matrix; otherwise as KSPCreate() makes it.
Solver solver_for(Mat A, const char* solver, const char* preconditioner);

/// What a call that should fail returned, and the message of the first error raised.
struct caught {
  int code = 0;
  std::string message;
};
void begin_catching();
caught end_catching(int code);

/// Runs `call` with PETSc's error printing replaced.
template <class Call>
caught catch_error(Call&& call) {
  begin_catching();
  return end_catching(static_cast<int>(call()));
}

}  // namespace petsc_test
