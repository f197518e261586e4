// What hangs on a matrix of ours on several processes, and its parts, which are of ours themselves.
#pragma once

#include <initializer_list>

#include "spmv/entry_check.hpp"
#include "spmv/ghosts.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

struct MpiState final : State {
  explicit MpiState(const BaseType& of) : State(of, true) {}

  Ghosts ghosts;
  PetscObjectState parts_state = -1;
  PetscInt64 products = 0;
  struct Prepared {
    PetscObjectState state = -1;
    int settings_version = -1;
    PetscInt vectors = 0;  ///< at most in one product since
    bool operator==(const Prepared&) const = default;
  } prepared[3];  ///< products of each Op were, on all processes
  /// What the processes have agreed on: no part has a copy that must not be used.
  struct Checked {
    PetscObjectState state = -1;
    int settings_version = -1;
    bool operator==(const Checked&) const = default;
  } checked;
};

inline PetscErrorCode mpi_state(Mat A, MpiState** state) { return state_of(A, state); }

/// The state of the matrix or of its diagonal part; null where there is none yet.
PetscErrorCode diagonal_state(Mat A, SeqState** state);

/// The two parts, of ours, with this matrix's settings and states that tell of its changes.
PetscErrorCode compound_parts(Mat A, MpiState* state, Mat* diagonal, Mat* off_diagonal);

/// Tells holders of a part (PCBJACOBI) of changed values: they would multiply with stale packed ones.
PetscErrorCode raise_parts(Mat A);

/// check_copies() for prepared parts, once for each state of A. Collective.
PetscErrorCode check_parts(Mat A, MpiState* state, std::initializer_list<PartInSpace> parts);

}  // namespace compound::plugin
