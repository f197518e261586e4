#include "spmv/device_copy.hpp"

#include "options/options.hpp"
#include "spmv/refresh.hpp"

namespace compound::plugin {

namespace {

/// Whether the matrix may have a copy on a device at all.
PetscErrorCode may_be_on_device(Mat A, SeqState** st, bool* yes) {
  PetscFunctionBegin;
  *yes = false;
  if (!is_seq_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, st));
  PetscCall(read_options_once(A, (*st)->settings));
  *yes = (*st)->settings.may_use_device() && !is_bound(A) && device_backend();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode device_copy(Mat A, PackedMatrix** packed) {
  PetscFunctionBegin;
  SeqState* st;
  bool may;
  *packed = nullptr;
  PetscCall(may_be_on_device(A, &st, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(refresh(A, st, Place::device));
  PackedCopy& copy = st->copy(Place::device);
  if (copy.packed && !copy.other_blocks && !copy.must_not_be_used()) *packed = &*copy.packed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
