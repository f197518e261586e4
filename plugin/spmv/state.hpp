// What hangs on the Mat::spptr of a matrix of ours. All but the settings can be made again from the base type.
#pragma once

#include <array>
#include <memory>
#include <type_traits>

#include "options/settings.hpp"
#include "petsc/base_types.hpp"
#include "spmv/device_vectors.hpp"
#include "spmv/kept_input_blocks.hpp"
#include "spmv/kept_settings.hpp"
#include "spmv/packed_copy.hpp"
#include "spmv/placement.hpp"
#include "storage/device_product.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

struct State : HasValues {
  using HasValues::HasValues;
  PetscErrorCode recall(Mat A) override;

  Settings settings;
  KeptSettings::Place kept = KeptSettings::place();  ///< of the settings, should PETSc replace the header
  bool off_diagonal = false;                         ///< a part of an mpi matrix of ours
  bool ignores_others_rows = false;                  ///< MAT_IGNORE_OFF_PROC_ENTRIES, of an mpi matrix
  BaseProducts base_products;
};

struct Counts {
  PetscInt64 products = 0, pattern_packs = 0, value_packs = 0;
};

/// A pattern that products of matrices have placed on a device; the matrix had this state then.
struct PlacedRowsOf {
  PetscObjectState nonzeros = -1;
  std::shared_ptr<const PlacedPattern> pattern;
};

/// Of a seq matrix, which has packed copies.
struct SeqState final : State {
  explicit SeqState(const BaseType& of) : State(of, false), matrix_values(of) {}
  MatrixValues* values() override { return &matrix_values; }

  MatrixValues matrix_values;
  std::array<PackedCopy, memory_spaces.size()> copies;
  PackedCopy& copy(MemorySpace space) { return copies[static_cast<int>(space)]; }
  const PackedCopy& copy(MemorySpace space) const { return copies[static_cast<int>(space)]; }
  PatternStatistics statistics;  ///< of the base type's pattern, in the blocks that are given
  BlockShape input_block{1, 1};  ///< the size of these
  InputBlocks input;

  DeviceBuffers buffers;
  PlacedRowsOf placed;
  bool reported_host_vectors = false, reported_host_work = false;
  Counts counts;
};

/// Null where there is none.
inline State* attached_state(Mat A) { return static_cast<State*>(has_values(A)); }

/// The state, of type S; made anew, with the settings that were kept, when PETSc moved the header away from it.
template <class S>
PetscErrorCode state_of(Mat A, S** state) {
  PetscFunctionBegin;
  if constexpr (!std::is_same_v<S, State>)
    if (!A->spptr) A->spptr = static_cast<HasValues*>(new S(*type_of_matrix(A).base_type));
  State* const any = attached_state(A);
  *state = static_cast<S*>(any);
  if (!kept_settings.empty()) PetscCall(any->recall(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode seq_state(Mat A, SeqState** state) { return state_of(A, state); }

inline bool ignores_others_rows(Mat A) { return A->spptr && attached_state(A)->ignores_others_rows; }

}  // namespace compound::plugin
