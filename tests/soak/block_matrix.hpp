// Block matrices that are made anew again and again, by soak and by tests/memory.
#pragma once

#include <string>
#include <vector>

#include <petscmat.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

/// Square, of a type, of so many block rows a process, without entries. It reads its options, by a prefix.
inline PetscErrorCode make_block_matrix(const std::string& type, const char* prefix, PetscInt bs, PetscInt rows,
                                        Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, bs * rows, bs * rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, type.c_str()));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For five blocks in each of these rows.
inline PetscErrorCode preallocate_block_matrix(Mat A, PetscInt bs, PetscInt rows) {
  const std::vector<PetscInt> entries(rows, 5);
  PetscFunctionBeginUser;
  PetscCall(MatXAIJSetPreallocation(A, bs, entries.data(), entries.data(), entries.data(), entries.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
