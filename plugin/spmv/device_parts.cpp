#include "spmv/device_parts.hpp"

#include "petsc/agree.hpp"
#include "spmv/operator.hpp"
#include "spmv/refresh.hpp"

namespace compound::plugin {

PetscErrorCode parts_on_device(Mat A, Op op, Vec x, DeviceParts* parts, std::string* why_not) {
  PetscFunctionBegin;
  MpiState* st;
  Operator product;
  Mat own, others;
  PetscCall(mpi_state(A, &st));
  PetscCall(product.prepare(A, op, x, 0));
  *why_not = product.why_not_exchanged_by_devices(*st);
  if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_parts(A, &own, &others, nullptr));
  PetscCall(device_copy(own, &parts->diagonal));
  PetscCall(device_copy(others, &parts->off_diagonal));
  if (!parts->diagonal || !parts->off_diagonal) *why_not = no_packed_storage;
  parts->exchange = st->ghosts.exchange.get();
  parts->ghosts = st->ghosts.device_memory.data();
  parts->group = st->ghosts.group;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode share_reason(Mat A, std::string* why_not, PetscErrorCode here) {
  PetscFunctionBegin;
  bool some = !why_not->empty();
  PetscCall(is_seq_compound(A) ? here : share_error(comm_of(A), here, &some));
  if (some && why_not->empty()) *why_not = reason_of_another;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
