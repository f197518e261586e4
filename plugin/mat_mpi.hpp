// mpibaijcompound: an mpibaij whose parts are seqbaijcompound, with a scatter of its own.
#pragma once

#include "ghosts.hpp"
#include "packing.hpp"

namespace compound::plugin {

/// Hangs on Mat::spptr. Everything but `settings` can be made again from the parent.
struct MpiState {
  Settings settings;
  Ghosts ghosts;
  PetscObjectState parts_state = -1;
  PetscInt64 products = 0;
  /// What the processes have agreed on: no part has a block that is not of a kind of entry asked for.
  struct Checked {
    PetscObjectState state = -1;
    int settings_version = -1;
    bool operator==(const Checked&) const = default;
  } checked;
  bool ignores_others_rows = false;  ///< MAT_IGNORE_OFF_PROC_ENTRIES
};

PetscErrorCode mpi_state(Mat A, MpiState** state);

bool is_mpi_compound(Mat A);

PetscErrorCode adopt_mpi(Mat A, const Settings& settings);
PetscErrorCode release_mpi(Mat A);

/// check_entries() for prepared parts, once for each state of A. Collective.
PetscErrorCode check_parts(Mat A, MpiState* state, std::initializer_list<PlacedPart> parts);

/// The two parts, compound themselves, with this matrix's settings and states that tell of its changes.
PetscErrorCode compound_parts(Mat A, MpiState* state, Mat* diagonal, Mat* off_diagonal);

}  // namespace compound::plugin
