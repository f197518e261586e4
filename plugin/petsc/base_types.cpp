#include "petsc/base_types.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

namespace compound::plugin {

TypeOfMatrix type_of_matrix(Mat A) {
  const char* const type = reinterpret_cast<PetscObject>(A)->type_name;
  if (!type) return {};
  for (const BaseType* base_type : base_types) {
    for (const bool is_mpi : {false, true}) {
      const TypePair& types = base_type->types(is_mpi);
      if (std::strcmp(type, types.ours) == 0) return {base_type, is_mpi, true};
      if (std::strcmp(type, types.base) == 0) return {base_type, is_mpi, false};
    }
  }
  return {};
}

PetscErrorCode base_ops(const BaseType& base_type, bool is_mpi, const _MatOps** ops) {
  // The functions of a loaded libpetsc do not change between PetscInitialize calls.
  static struct {
    _MatOps ops;
    bool taken = false;
  } pristine[std::size(base_types)][2];
  PetscFunctionBegin;
  auto& of_type = pristine[std::find(std::begin(base_types), std::end(base_types), &base_type) - base_types][is_mpi];
  *ops = &of_type.ops;
  if (of_type.taken) PetscFunctionReturn(PETSC_SUCCESS);
  Mat A;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetType(A, base_type.types(is_mpi).base));
  of_type.ops = *A->ops;
  PetscCall(MatDestroy(&A));
  of_type.taken = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The base type of a matrix that must have one.
PetscErrorCode family_of(Mat A, TypeOfMatrix* k) {
  PetscFunctionBegin;
  *k = type_of_matrix(A);
  PetscCheck(k->base_type, comm_of(A), PETSC_ERR_PLIB, "A matrix of type %s is not above a base type",
             reinterpret_cast<PetscObject>(A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode base_ops(Mat A, const _MatOps** ops) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(base_ops(*k.base_type, k.is_mpi, ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode base_function(const BaseType& base_type, bool is_mpi, const char* name, void (**function)(void)) {
  return query_type(base_type.types(is_mpi).base, name, function);
}

PetscErrorCode preallocate_rows(Mat A, PetscInt bs, const PetscInt* start, const PetscInt* column, SetRows set) {
  PetscFunctionBegin;
  std::vector<PetscInt> lengths(static_cast<std::size_t>(A->rmap->n / bs));
  for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = start[row + 1] - start[row];
  PetscCall(set(A, bs, lengths.data(), column));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_arrays(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(k.base_type->arrays(A, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode arrays_with_values(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(block_arrays(A, b));
  PetscCheck(b->values || b->entries() == 0, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has a pattern of %" PetscInt_FMT
             " blocks but no values (MAT_STRUCTURE_ONLY?); products need values",
             b->entries());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(k.base_type->parts(A, diagonal, off_diagonal, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
