#include "mat/value_operations.hpp"

#include "petsc/scoped.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/placement.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

namespace {

/// The values of A where a device alone counts; else null.
PetscErrorCode values_on_device(Mat A, MatrixValues** values) {
  PetscFunctionBegin;
  SeqState* st;
  *values = nullptr;
  if (!is_seq_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  if (st->matrix_values.are_guarded()) *values = &st->matrix_values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_work(const MatrixValues& values) {
  return values.device().is_device() ? begin_device_work(values.device()) : PETSC_SUCCESS;
}

/// f(vector of the values of A, to be changed) on the device that has them.
template <class F>
PetscErrorCode change(Mat A, MatrixValues& values, const F& f) {
  PetscFunctionBegin;
  ScopedVec v;
  PetscCall(begin_work(values));
  PetscCall(values.as_vector(A, v.out()));
  PetscCall(f(v));
  if (type_of_matrix(A).base_type == &aij) {
    PetscScalar* none = nullptr;  // tells it that inverses of its diagonal are old, and writes nothing
    PetscCall(MatSeqAIJRestoreArray(A, &none));
  }
  PetscCall(values.wrote(A));
  PetscCall(guard_values(A));
  PetscCall(v.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same by the values of X, which the device gets where it has them not. `enough` is false where it has no room.
template <class F>
PetscErrorCode change_by(Mat A, MatrixValues& values, Mat X, bool* enough, const F& f) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(X);
  MatrixValues own(*type_of_matrix(A).base_type);  // of a matrix of the base type
  MatrixValues* of_X = &own;
  ScopedVec x;
  *enough = k.base_type == type_of_matrix(A).base_type && !k.is_mpi;
  if (!*enough) PetscFunctionReturn(PETSC_SUCCESS);
  if (k.is_ours) {
    SeqState* st;
    PetscCall(seq_state(X, &st));
    of_X = &st->matrix_values;
  }
  PetscCall(begin_work(values));
  PetscCall(guarded_memory(comm_of(A), enough, [&] { of_X->read(X, values.device()); }));
  if (!*enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(of_X->device_bytes() == values.device_bytes(), comm_of(A), PETSC_ERR_ARG_INCOMP,
             "SAME_NONZERO_PATTERN was given for matrices with other numbers of entries");
  PetscCall(of_X->as_vector(X, x.out()));
  PetscCall(change(A, values, [&](Vec a) { return f(a, x); }));
  PetscCall(x.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode seq_zero_entries(Mat A) {
  PetscFunctionBegin;
  const _MatOps* base;
  MatrixValues* values;
  PetscCall(base_ops(A, &base));
  if (!A->preallocated) PetscCall(MatSetUp(A));  // 3.18 does not
  PetscCall(values_on_device(A, &values));
  PetscCall(values ? change(A, *values, [](Vec v) { return VecSet(v, 0); }) : base->zeroentries(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_scale(Mat A, PetscScalar a) {
  PetscFunctionBegin;
  const _MatOps* base;
  MatrixValues* values;
  PetscCall(base_ops(A, &base));
  PetscCall(values_on_device(A, &values));
  PetscCall(values ? change(A, *values, [a](Vec v) { return VecScale(v, a); }) : base->scale(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode add_on_device(Mat Y, PetscScalar a, Mat X, bool* done) {
  PetscFunctionBegin;
  MatrixValues* values;
  *done = false;
  PetscCall(values_on_device(Y, &values));
  if (values) PetscCall(change_by(Y, *values, X, done, [a](Vec y, Vec x) { return VecAXPY(y, a, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_on_device(Mat A, Mat B, bool* done) {
  PetscFunctionBegin;
  MatrixValues* values;
  *done = false;
  PetscCall(values_on_device(B, &values));
  if (values) PetscCall(copy_to_device(A, B, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_to_device(Mat A, Mat B, bool* done) {
  PetscFunctionBegin;
  MatrixValues* of_A;
  SeqState* to;
  *done = false;
  PetscCall(values_on_device(A, &of_A));
  if (!of_A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(B, &to));
  PetscCall(begin_work(*of_A));
  PetscCall(guarded_memory(comm_of(B), done, [&] { to->matrix_values.write(B, of_A->device(), false); }));
  if (*done) PetscCall(change_by(B, to->matrix_values, A, done, [](Vec b, Vec a) { return VecCopy(a, b); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode add_parts(Mat Y, PetscScalar a, Mat X, bool* done) {
  PetscFunctionBegin;
  MpiState* st;
  Mat of_Y[2], of_X[2];
  *done = is_mpi_compound(X) && type_of_matrix(X).base_type == type_of_matrix(Y).base_type;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_parts(Y, &of_Y[0], &of_Y[1], nullptr));
  PetscCall(mpi_state(X, &st));
  PetscCall(compound_parts(X, st, &of_X[0], &of_X[1]));
  for (int k = 0; k < 2; ++k) PetscCall(MatAXPY(of_Y[k], a, of_X[k], SAME_NONZERO_PATTERN));
  PetscCall(raise_parts(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
