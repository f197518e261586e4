#include "values/guards.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "petsc/aij_arrays.hpp"
#include "petsc/parts.hpp"
#include "values/guarded_operations.hpp"

namespace compound::plugin {

namespace {

enum class Access { read, write, overwrite };

/// Both parts of an mpi matrix of ours, as far as they are of ours, too; or the seq matrix itself.
using SeqMats = std::array<Mat, 2>;
PetscErrorCode seq_mats(Mat A, const HasValues& of, SeqMats* mats) {
  PetscFunctionBegin;
  *mats = {};
  if (!of.is_mpi) {
    *mats = {A, nullptr};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (A->preallocated && A->data) PetscCall(of.base_type.parts(A, &(*mats)[0], &(*mats)[1], nullptr));
  for (Mat& part : *mats)
    if (part && (!is_seq_compound(part) || !part->spptr)) part = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not by the type's name, which may be the base type's for the time of a call.
PetscErrorCode ask(Mat A, HasValues& of, Access access) {
  PetscFunctionBegin;
  if (access != Access::read) unguard(A, of);
  if (MatrixValues* const values = of.values()) {
    if (access != Access::overwrite && !values->are_on_host(A))
      PetscCall(guarded(comm_of(A), [&] { values->read(A); }));
    if (access != Access::read && values->are_guarded()) values->leave_to_host(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SeqMats parts;
  PetscCall(seq_mats(A, of, &parts));
  for (Mat part : parts)
    if (part) PetscCall(ask(part, *has_values(part), access));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ask_if_ours(Mat A, Access access) {
  if (!A || !A->spptr || !is_compound(A)) return PETSC_SUCCESS;
  return ask(A, *has_values(A), access);
}

template <class T>
PetscErrorCode ask_argument([[maybe_unused]] const T& argument) {
  if constexpr (std::is_same_v<T, Mat>) return ask_if_ours(argument, Access::write);
  return PETSC_SUCCESS;
}

/// Of each type its own: PETSc takes matrices with the same operation for matrices of one type.
template <const BaseType& base_type, bool is_mpi, Access access, auto Member>
struct Guard;
template <const BaseType& base_type, bool is_mpi, Access access, class... Args,
          PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct Guard<base_type, is_mpi, access, Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    HasValues* const of = has_values(A);
    if (of && !of->unguarded) PetscCall(of->recall(A));  // PETSc has replaced the header, and put the guards back
    const auto operation = of && of->unguarded ? of->unguarded.get()->*Member : A->ops[0].*Member;
    PetscCheck(of && operation != for_petsc<call>, comm_of(A), PETSC_ERR_PLIB,
               "A matrix has the operations of another whose values are on a device");
    PetscCall(ask(A, *of, access));
    PetscErrorCode code = PETSC_SUCCESS;
    ((code = code ? code : ask_argument(args)), ...);
    PetscCall(code);
    PetscCall(operation(A, args...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <const BaseType& base_type, bool is_mpi, Access access, class F, auto... Members>
void for_each_guard_of(Operations<Members...>, const F& f) {
  (f(Members, for_petsc<Guard<base_type, is_mpi, access, Members>::call>), ...);
}

template <const BaseType& base_type, bool is_mpi, class F>
void for_each_guard_of(const F& f) {
  for_each_guard_of<base_type, is_mpi, Access::read>(ReadingOperations{}, f);
  for_each_guard_of<base_type, is_mpi, Access::write>(WritingOperations{}, f);
}

/// f(member, guard) for each. Values of SBAIJ are never written on a device.
template <class F>
void for_each_guard(const HasValues& of, const F& f) {
  if (&of.base_type == &baij)
    of.is_mpi ? for_each_guard_of<baij, true>(f) : for_each_guard_of<baij, false>(f);
  else
    of.is_mpi ? for_each_guard_of<aij, true>(f) : for_each_guard_of<aij, false>(f);
}

void guard(Mat A, HasValues& of) {
  if (!of.unguarded) of.unguarded = std::make_unique<_MatOps>(*A->ops);
  const auto put = [&](auto member, auto ours) {
    if (!(A->ops[0].*member) || A->ops[0].*member == ours) return;
    of.unguarded.get()->*member = A->ops[0].*member;
    A->ops[0].*member = ours;
  };
  for_each_guard(of, put);
}

/// For MatSeqAIJGetArray() and its kin, while the table of a matrix has these.
PetscErrorCode get_array(Mat A, PetscScalar** values) {
  PetscFunctionBegin;
  PetscCall(ask(A, *has_values(A), Access::write));
  PetscCall(MatSeqAIJGetArray(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_array_to_read(Mat A, const PetscScalar** values) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(ask(A, *has_values(A), Access::read));
  PetscCall(has_values(A)->base_type.arrays(A, &b));
  *values = b.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_array_to_write(Mat A, PetscScalar** values) {
  PetscFunctionBegin;
  PetscCall(ask(A, *has_values(A), Access::overwrite));
  PetscCall(MatSeqAIJGetArrayWrite(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_csr(Mat A, const PetscInt** start, const PetscInt** column, PetscScalar** values,
                       PetscMemType* type) {
  PetscFunctionBegin;
  PetscCall(ask(A, *has_values(A), Access::write));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, start, column, values, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr AijArrayFunctions guards_of_aij = {
    for_petsc<get_array>, nullptr, for_petsc<get_array_to_read>, nullptr, for_petsc<get_array_to_write>, nullptr,
    for_petsc<get_csr>};

/// Requests for the array of a seq matrix ask first, too. BAIJ's function for it is always ours.
PetscErrorCode guard_array(Mat seq, const BaseType& base_type, bool* can_be) {
  PetscFunctionBegin;
  *can_be = true;
  if (&base_type == &baij) PetscFunctionReturn(PETSC_SUCCESS);
  AijArrayFunctions* table;
  PetscCall(aij_array_functions(seq, &table));
  *can_be = table != nullptr;
  if (table) *table = guards_of_aij;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode guard_seq(Mat seq, HasValues& of, bool unasked) {
  PetscFunctionBegin;
  bool can_be;
  PetscCall(guard_array(seq, of.base_type, &can_be));
  if (unasked || of.is_read_unasked || !can_be) PetscCall(guarded(comm_of(seq), [&] { of.values()->read(seq); }));
  if (can_be)
    guard(seq, of);
  else
    of.values()->leave_to_host(seq);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode guard_values(Mat A) {
  PetscFunctionBegin;
  HasValues& of = *has_values(A);
  SeqMats mats;
  bool any = false;
  PetscCall(seq_mats(A, of, &mats));
  for (Mat mat : mats) {
    if (!mat || !has_values(mat)->values()->are_on_device(mat)) continue;
    PetscCall(guard_seq(mat, *has_values(mat), of.is_read_unasked));
    any = true;
  }
  if (of.is_mpi && any) guard(A, of);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode need_host_values(Mat A) { return ask_if_ours(A, Access::read); }

PetscErrorCode take_host_values(Mat A) { return ask_if_ours(A, Access::write); }

PetscErrorCode overwrite_host_values(Mat A) { return ask_if_ours(A, Access::overwrite); }

PetscErrorCode keep_host_values(Mat A) {
  PetscFunctionBegin;
  PetscCall(need_host_values(A));
  if (!A || !A->spptr || !is_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  HasValues& of = *has_values(A);
  SeqMats mats;
  PetscCall(seq_mats(A, of, &mats));
  of.is_read_unasked = true;
  for (Mat mat : mats)
    if (mat) has_values(mat)->is_read_unasked = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void unguard(Mat A, HasValues& of) {
  AijArrayFunctions* table = nullptr;
  if (!of.unguarded) return;
  const auto take_off = [&](auto member, auto ours) {
    if (A->ops[0].*member == ours) A->ops[0].*member = of.unguarded.get()->*member;
  };
  for_each_guard(of, take_off);
  of.unguarded.reset();
  if (&of.base_type == &aij && !of.is_mpi && A->data) static_cast<void>(aij_array_functions(A, &table));
  if (table) *table = {};
}

PetscErrorCode begin_host_write(Mat seq, Scalar** values) {
  PetscFunctionBegin;
  PetscScalar* array;
  PetscCall(overwrite_host_values(seq));
  PetscCall(type_of_matrix(seq).base_type->get_array(seq, &array));
  *values = reinterpret_cast<Scalar*>(array);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode end_host_write(Mat seq, Scalar** values) {
  PetscFunctionBegin;
  auto* array = reinterpret_cast<PetscScalar*>(*values);
  PetscCall(type_of_matrix(seq).base_type->restore_array(seq, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
