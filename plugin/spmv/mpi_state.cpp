#include "spmv/mpi_state.hpp"

#include "spmv/attached.hpp"
#include "spmv/input_blocks.hpp"

namespace compound::plugin {

namespace {

/// A part's settings: the matrix's own; parts have no prefix and read no options.
PetscErrorCode push_settings(Mat part, const Settings& settings, bool off_diagonal, BlockShape of_whole) {
  PetscFunctionBegin;
  SeqState* st;
  if (is_compound(part)) {
    PetscCall(seq_state(part, &st));
    st->input.of_whole = of_whole;
    if (st->settings.options_read && st->settings.version == settings.version && st->off_diagonal == off_diagonal)
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  Settings of_part = settings;
  of_part.options_read = true;
  of_part.view = false;
  PetscCall(adopt(part, of_part, off_diagonal));
  PetscCall(seq_state(part, &st));
  st->input.of_whole = of_whole;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode diagonal_state(Mat A, SeqState** st) {
  PetscFunctionBegin;
  Mat part = A;
  *st = nullptr;
  if (A->assembled && is_mpi_compound(A)) PetscCall(mpi_parts(A, &part, nullptr, nullptr));
  if (is_seq_compound(part)) PetscCall(seq_state(part, st));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raise_parts(Mat A) {
  PetscFunctionBegin;
  Mat parts[2];
  MpiState* st;
  PetscCall(mpi_state(A, &st));  // MatAXPY() may have merged the header of a matrix of the base type into A's
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (part) PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(part)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compound_parts(Mat A, MpiState* st, Mat* diagonal, Mat* off_diagonal) {
  PetscFunctionBegin;
  PetscCall(st->base_type.parts(A, diagonal, off_diagonal, nullptr));
  const BlockShape blocks = own_block(A);
  PetscCall(push_settings(*diagonal, st->settings, false, blocks));
  PetscCall(push_settings(*off_diagonal, st->settings, true, blocks));
  for (Mat part : {*diagonal, *off_diagonal}) PetscCall(MatBindToCPU(part, is_bound(A) ? PETSC_TRUE : PETSC_FALSE));
  PetscObjectState state;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  if (state != st->parts_state) PetscCall(raise_parts(A));
  st->parts_state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_parts(Mat A, MpiState* st, std::initializer_list<PartInSpace> parts) {
  PetscFunctionBegin;
  MpiState::Checked now{-1, st->settings.version};
  const Settings& s = st->settings;
  if ((!s.names_entry() && !s.names_layout()) || s.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &now.state));
  if (now == st->checked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_copies(A, parts));
  st->checked = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
