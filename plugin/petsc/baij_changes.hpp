// What of BAIJ changes a matrix and tells too little of it, so that ours follow.
#pragma once

#include "petsc/baij.hpp"
#include "petsc/overrides.hpp"

namespace compound::plugin {

/// Lists for install() and compose_all(): the parent's function or operation, and after it `arrays_are_new`(A) or
/// `values_changed`(A); before functions that read or write the array, `values_read`(A) or `values_written`(A).
template <auto arrays_are_new, auto values_changed, auto values_read, auto values_written>
struct SeqBaijChanges {
  static constexpr auto functions = [](const auto& f) {
    f(FollowedFunction<baij, "MatSeqBAIJSetPreallocation_C", arrays_are_new,
                       PetscErrorCode(Mat, PetscInt, PetscInt, const PetscInt*)>{});
    f(FollowedFunction<baij, "MatSeqBAIJGetArray_C", nothing, PetscErrorCode(Mat, PetscScalar**), values_written>{});
    // Values written through the array would go unseen.
    f(FollowedFunction<baij, "MatSeqBAIJRestoreArray_C", values_changed, PetscErrorCode(Mat, PetscScalar**)>{});
    f(FollowedFunction<baij, "MatStoreValues_C", nothing, PetscErrorCode(Mat), values_read>{});
    f(FollowedFunction<baij, "MatRetrieveValues_C", values_changed, PetscErrorCode(Mat), values_written>{});
  };
  static constexpr auto operations = [](const auto& f) {
    follow<&_MatOps::conjugate, values_changed>(f);
    follow<&_MatOps::realpart, values_changed>(f);
    follow<&_MatOps::imaginarypart, values_changed>(f);
  };
};

/// Of the parts, too: the parent writes into their arrays.
template <auto arrays_are_new, auto values_changed>
struct MpiBaijChanges {
  static constexpr auto functions = [](const auto& f) {
    f(FollowedFunction<baij, "MatMPIBAIJSetPreallocation_C", arrays_are_new,
                       PetscErrorCode(Mat, PetscInt, PetscInt, const PetscInt*, PetscInt, const PetscInt*)>{});
  };
  static constexpr auto operations = [](const auto& f) {
    follow<&_MatOps::conjugate, values_changed>(f);
    follow<&_MatOps::realpart, values_changed>(f);
    follow<&_MatOps::imaginarypart, values_changed>(f);
    follow<&_MatOps::zerorows, values_changed>(f);
    follow<&_MatOps::zerorowscolumns, values_changed>(f);
    follow<&_MatOps::diagonalscale, values_changed>(f);
    follow<&_MatOps::scale, values_changed>(f);
#if PETSC_VERSION_GE(3, 20, 0)
    follow<&_MatOps::eliminatezeros, values_changed>(f);
#endif
  };
};

}  // namespace compound::plugin
