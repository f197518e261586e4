// What every plugin test includes: GoogleTest and PETSc joined, on one process or several.
#pragma once

#include <gtest/gtest.h>
#include <petscksp.h>
#include <petsccompound.h>

#ifndef PETSC_SUCCESS
// 3.18 has no such name.
#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif
#endif

/// Fails the test (fatally) when a PETSc call returns an error.
/// All processes of a collective call get the same error code, so a fatal failure does not leave the others waiting.
#define PETSC_OK(...) ASSERT_EQ(static_cast<int>(__VA_ARGS__), 0) << #__VA_ARGS__

namespace petsc_test {

int rank();
int size();

/// Largest value of `v` over all processes: tests compare this, so that all processes agree on the verdict.
double max_over_ranks(double v);
bool all_ranks(bool v);

/// Runs `call` with PETSc's error printing replaced, and returns its code and the message of the first error raised.
struct caught {
  int code = 0;
  std::string message;
};
template <class Call>
caught catch_error(Call &&call);

caught begin_catching();
caught end_catching(int code);

template <class Call>
caught catch_error(Call &&call) {
  begin_catching();
  return end_catching(static_cast<int>(call()));
}

}  // namespace petsc_test
