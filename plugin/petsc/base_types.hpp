// The base types that there are, and which of them a matrix descends from.
#pragma once

#include "petsc/aij.hpp"
#include "petsc/baij.hpp"

namespace compound::plugin {

inline constexpr const BaseType* base_types[] = {&baij, &aij, &sbaij};

/// What a matrix is to us: of a base type or of ours above it. `base_type` is null for all others.
struct TypeOfMatrix {
  const BaseType* base_type = nullptr;
  bool is_mpi = false, is_ours = false;
};
TypeOfMatrix type_of_matrix(Mat A);

inline bool is_seq_compound(Mat A) {
  const TypeOfMatrix k = type_of_matrix(A);
  return k.is_ours && !k.is_mpi;
}
inline bool is_mpi_compound(Mat A) {
  const TypeOfMatrix k = type_of_matrix(A);
  return k.is_ours && k.is_mpi;
}
inline bool is_compound(Mat A) { return type_of_matrix(A).is_ours; }

/// The operations of a pristine matrix of the base type, which ours stand before. Taken once per process from an
/// empty matrix.
PetscErrorCode base_ops(const BaseType& base_type, bool is_mpi, const _MatOps** ops);
PetscErrorCode base_ops(Mat A, const _MatOps** ops);

/// Preallocates a matrix of ours for these blocks of its base type, in block compressed rows with global columns, and
/// assembles it; values are 0. PETSc's functions for compressed rows insert zeros row by row, which takes longer.
PetscErrorCode preallocate(Mat A, PetscInt block_size, const PetscInt* start, const PetscInt* column);

/// The function that a pristine matrix of the base type has under a name, or null. Makes such a matrix.
PetscErrorCode base_function(const BaseType& base_type, bool is_mpi, const char* name, void (**function)(void));

/// Calls `f` while A, if it is of ours above AIJ, bears its base type's name: for functions of PETSc that look for an
/// AIJ of exactly that name and read what every descendant has.
template <class F>
PetscErrorCode under_base_name(Mat A, const F& f) {
  const TypeOfMatrix k = type_of_matrix(A);
  return k.is_ours && !k.base_type->keeps_blocks ? under_type_name(A, k.base_type->types(k.is_mpi).base, f) : f();
}

/// The same above a base type that keeps one triangle: PETSc's functions look for SBAIJ by its exact name, too.
template <class F>
PetscErrorCode under_upper_name(Mat A, const F& f) {
  const TypeOfMatrix k = type_of_matrix(A);
  return k.is_ours && k.base_type->keeps_upper ? under_type_name(A, k.base_type->types(k.is_mpi).base, f) : f();
}

/// BaseType::arrays of a seq matrix. The second is for what multiplies: no values are an error.
PetscErrorCode block_arrays(Mat seq, BlockArrays* arrays);
PetscErrorCode arrays_with_values(Mat seq, BlockArrays* arrays);

/// BaseType::parts of an mpi matrix; what is not wanted is null.
PetscErrorCode mpi_parts(Mat mpi, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns);

}  // namespace compound::plugin
