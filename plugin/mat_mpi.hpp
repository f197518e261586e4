// mpibaijcompound: an mpibaij whose parts are seqbaijcompound, with a scatter of its own.
#pragma once

#include <vector>

#include "mat_seq.hpp"

namespace compound::plugin {

/// Hangs on Mat::spptr. Everything but `settings` can be made again from the parent.
struct MpiState {
  Settings settings;
  Vec ghosts = nullptr;         ///< the off-diagonal part's columns of x, blocks in its column order
  Vec device_ghosts = nullptr;  ///< the same for x on a device
  Buffer<std::byte> device_ghost_memory;
  VecScatter scatter = nullptr;   ///< x to ghosts
  std::vector<PetscInt> columns;  ///< the off-diagonal part's global block columns, of which `scatter` was made
  PetscObjectState parts_state = -1;
  PetscInt64 products = 0;
  bool ignores_others_rows = false;  ///< MAT_IGNORE_OFF_PROC_ENTRIES
};

PetscErrorCode mpi_state(Mat A, MpiState** state);

bool is_mpi_compound(Mat A);

PetscErrorCode adopt_mpi(Mat A, const Settings& settings);
PetscErrorCode release_mpi(Mat A);

/// The two parts, compound themselves, with this matrix's settings and states that tell of its changes.
PetscErrorCode compound_parts(Mat A, MpiState* state, Mat* diagonal, Mat* off_diagonal);

}  // namespace compound::plugin
