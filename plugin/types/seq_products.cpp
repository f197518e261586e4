#include "types/seq_products.hpp"

#include "copies/entry_check.hpp"
#include "copies/options.hpp"
#include "copies/refresh.hpp"
#include "types/view.hpp"

namespace compound::plugin {

namespace {

struct Operands {
  Op op;
  Update update;
  Vec x, z, y;
  /// z and y are one vector, so that y is read too.
  bool in_place() const { return z == y; }
};

/// The parent's flop counts, so that -log_view compares.
PetscLogDouble flops(const SeqState& st, PetscInt bs, const Operands& o) {
  const double products = 2.0 * st.statistics.entries * bs * bs;
  const bool saves_first_add = o.op == Op::none && o.update == Update::assign;
  return products - (saves_first_add ? static_cast<double>(bs) * (st.statistics.rows - st.statistics.empty_rows) : 0.0);
}

/// PETSc's products of large blocks leave y as it was where a row is empty (seen in 3.18): such rows are set first.
PetscErrorCode set_empty_rows(const SeqState& st, const Operands& o) {
  PetscFunctionBegin;
  if (o.op != Op::none || st.statistics.empty_rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!o.z)
    PetscCall(VecSet(o.y, 0));
  else if (!o.in_place())
    PetscCall(VecCopy(o.z, o.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode host_multiply(Mat A, SeqState* st, const Operands& o) {
  PetscFunctionBegin;
  const PetscScalar *x, *z = nullptr;
  PetscScalar* y;
  PetscCall(VecGetArrayRead(o.x, &x));
  if (o.z && !o.in_place()) PetscCall(VecGetArrayRead(o.z, &z));
  if (o.in_place())
    PetscCall(VecGetArray(o.y, &y));
  else
    PetscCall(VecGetArrayWrite(o.y, &y));
  PetscCall(
      guarded(comm_of(A), [&] { st->copy(Place::host).multiply_on_host(o.op, o.update, x, o.in_place() ? y : z, y); }));
  if (o.in_place())
    PetscCall(VecRestoreArray(o.y, &y));
  else
    PetscCall(VecRestoreArrayWrite(o.y, &y));
  if (o.z && !o.in_place()) PetscCall(VecRestoreArrayRead(o.z, &z));
  PetscCall(VecRestoreArrayRead(o.x, &x));
  PetscCall(PetscLogFlops(flops(*st, A->rmap->bs, o)));
  ++st->counts.products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode log_device_flops(PetscLogDouble n) {
  return PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(n) : PetscLogFlops(n);
}

/// x, z and y on the device, from take() to give_back().
struct DeviceOperands {
  DeviceVector x, z, y;

  PetscErrorCode take(const Operands& o, Backend& on, DeviceBuffers& buffers, bool* enough) {
    PetscFunctionBegin;
    PetscCall(x.take(o.x, Access::read, on, buffers[0], enough));
    if (*enough && o.z && !o.in_place()) PetscCall(z.take(o.z, Access::read, on, buffers[1], enough));
    if (*enough) PetscCall(y.take(o.y, o.in_place() ? Access::read_write : Access::write, on, buffers[2], enough));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode give_back(bool written) {
    PetscFunctionBegin;
    PetscCall(y.give_back(written));
    PetscCall(z.give_back(false));
    PetscCall(x.give_back(false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// Once: whoever asks for the device by name may not know that vectors travel at each product.
PetscErrorCode tell_of_host_vectors(Mat A, SeqState* st, const DeviceOperands& device) {
  PetscFunctionBegin;
  if (st->told_of_host_vectors || !device.x.is_copy()) PetscFunctionReturn(PETSC_SUCCESS);
  st->told_of_host_vectors = true;
  PetscCall(PetscInfo(A,
                      "Products run on the device, but vectors are on the host and are copied at each product: "
                      "-dm_vec_type cuda (or -vec_type cuda) keeps them on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `done` is false where the device's memory was full: nothing has happened to y then, as far as y was read.
PetscErrorCode device_multiply(Mat A, SeqState* st, const Operands& o, bool* done) {
  PetscFunctionBegin;
  const PackedCopy& copy = st->copy(Place::device);
  Backend& on = copy.packed->backend();
  DeviceOperands device;
  PetscCall(begin_device_work(on));
  PetscCall(device.take(o, on, st->buffers, done));
  if (*done) {
    PetscCall(tell_of_host_vectors(A, st, device));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded_memory(comm_of(A), done, [&] {
      copy.packed->multiply(o.op, o.update, device.x.data(), o.in_place() ? device.y.data() : device.z.data(),
                            device.y.data());
    }));
    PetscCall(PetscLogGpuTimeEnd());
  }
  PetscCall(device.give_back(*done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_device_flops(flops(*st, A->rmap->bs, o)));
  ++st->counts.products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_on_host(Mat A, SeqState* st, const Operands& o) {
  PetscFunctionBegin;
  if (st->copy(Place::host).packed) {
    PetscCall(host_multiply(A, st, o));
  } else {
    // The parent has Hermitian transposes of small blocks only.
    const Op same = o.op == Op::hermitian && !PetscDefined(USE_COMPLEX) ? Op::transpose : o.op;
    PetscCall(set_empty_rows(*st, o));
    PetscCall(parent_multiply(A, st, same, o.update, o.x, o.z, o.y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode parent_multiply(Mat A, SeqState* st, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  const _MatOps* parent;
  PetscCall(parent_ops(A, &parent));
  const bool add = update == Update::add;
  if (op == Op::none) PetscCall(add ? st->parent_multadd(A, x, z, y) : st->parent_mult(A, x, y));
  if (op == Op::transpose) PetscCall(add ? parent->multtransposeadd(A, x, z, y) : parent->multtranspose(A, x, y));
  if (op == Op::hermitian)
    PetscCall(add ? parent->multhermitiantransposeadd(A, x, z, y) : parent->multhermitiantranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode prepare(Mat A, SeqState* st, Op op, Place* place) {
  PetscFunctionBegin;
  if (st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(refresh(A, st, *place, op));
  if (*place == Place::host || st->copy(*place).packed) PetscFunctionReturn(PETSC_SUCCESS);
  *place = Place::host;
  PetscCall(refresh(A, st, *place, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(Mat A, SeqState* st, Place place, const Operands& o) {
  PetscFunctionBegin;
  bool done = false;
  if (st->settings.parent_only()) {
    PetscCall(parent_multiply(A, st, o.op, o.update, o.x, o.z, o.y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (st->copy(place).misfit) PetscCall(check_entries(A, {{A, place}}));
  if (place == Place::device) {
    PetscCall(device_multiply(A, st, o, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(leave_device(A, st, "for a product's vectors"));
    PetscCall(refresh(A, st, Place::host, o.op));
    if (st->copy(Place::host).misfit) PetscCall(check_entries(A, {{A, Place::host}}));
  }
  PetscCall(multiply_on_host(A, st, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode seq_prepare(Mat A, Op op, Place* place) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  PetscCall(prepare(A, st, op, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_run(Mat A, Place place, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  PetscCall(run(A, st, place, {op, update, x, z, y}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_leave_device(Mat A, const char* wanted, Place* place) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  PetscCall(leave_device(A, st, wanted));
  PetscCall(seq_prepare(A, Op::none, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  SeqState* st;
  Place place;
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(place_of_product(A, st->settings, x, &place));
  PetscCall(prepare(A, st, op, &place));
  PetscCall(view_once(A, st->settings));
  PetscCall(run(A, st, place, {op, update, x, z, y}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
