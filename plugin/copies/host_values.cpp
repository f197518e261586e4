#include "copies/host_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "copies/guarded_operations.hpp"
#include "edge/log.hpp"
#include "edge/parts.hpp"

namespace compound::plugin {

namespace {

/// The parent's array, and how many scalars it has.
PetscErrorCode array_of(Mat seq, const SeqState& st, PetscScalar** values, std::size_t* count) {
  PetscFunctionBegin;
  PartArrays part;
  PetscCall(st.family.arrays(seq, &part.blocks));
  *values = const_cast<PetscScalar*>(part.blocks.values);
  *count = part.blocks.values ? part.scalars() : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bring_back(Mat seq, SeqState& st) {
  PetscFunctionBegin;
  bool missing;
  PetscScalar* to = nullptr;
  std::size_t count = 0;
  PetscCall(are_host_values_missing(seq, st, &missing));
  if (!missing) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(array_of(seq, st, &to, &count));
  const std::size_t bytes = count * sizeof(PetscScalar);
  PetscCheck(bytes == st.apart.values.bytes(), comm_of(seq), PETSC_ERR_PLIB,
             "A matrix has other arrays than when its values were left on the device");
  PetscCall(guarded(comm_of(seq), [&] { st.apart.on->download(to, st.apart.values.data(), bytes); }));
  if (st.apart.on->is_device()) PetscCall(log_download(bytes));
  PetscCall(PetscInfo(seq, "Values that were on the device alone are brought to the host, which asks for them\n"));
  st.apart.missing = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not by the type's name, which may be the parent's for the time of a call.
PetscErrorCode need(Mat A, State& st, bool keep) {
  PetscFunctionBegin;
  unguard_host_values(A, st);
  st.keeps_host_values = st.keeps_host_values || keep;
  if (!st.is_mpi) {
    PetscCall(bring_back(A, static_cast<SeqState&>(st)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat parts[2] = {};
  if (A->preallocated && A->data) PetscCall(st.family.parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts)
    if (part && is_seq_compound(part) && part->spptr) PetscCall(need(part, *static_cast<State*>(part->spptr), keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode need_if_ours(Mat A, bool keep) {
  if (!A || !A->spptr || !is_compound(A)) return PETSC_SUCCESS;
  return need(A, *static_cast<State*>(A->spptr), keep);
}

template <class T>
PetscErrorCode need_of_argument([[maybe_unused]] const T& argument) {
  if constexpr (std::is_same_v<T, Mat>) return need_if_ours(argument, false);
  return PETSC_SUCCESS;
}

/// Of each type its own: PETSc takes matrices with the same operation for matrices of one type.
template <const Family& family, bool is_mpi, auto Member>
struct Guard;
template <const Family& family, bool is_mpi, class... Args, PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct Guard<family, is_mpi, Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    PetscCheck(A->spptr && static_cast<State*>(A->spptr)->unguarded, comm_of(A), PETSC_ERR_PLIB,
               "A matrix has the operations of another whose values are on the device (-mat_compound_host_values)");
    PetscCall(need(A, *static_cast<State*>(A->spptr), false));
    PetscErrorCode code = PETSC_SUCCESS;
    ((code = code ? code : need_of_argument(args)), ...);
    PetscCall(code);
    PetscCall((A->ops[0].*Member)(A, args...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <const Family& family, bool is_mpi, class F, auto... Members>
void for_each_guard_of(Operations<Members...>, const F& f) {
  (f(Members, Guard<family, is_mpi, Members>::call), ...);
}

/// f(member, guard) for each.
template <class F>
void for_each_guard(const State& st, const F& f) {
  if (&st.family == &baij)
    st.is_mpi ? for_each_guard_of<baij, true>(GuardedOperations{}, f)
              : for_each_guard_of<baij, false>(GuardedOperations{}, f);
  else
    st.is_mpi ? for_each_guard_of<aij, true>(GuardedOperations{}, f)
              : for_each_guard_of<aij, false>(GuardedOperations{}, f);
}

void guard(Mat A, State& st) {
  if (!st.unguarded) st.unguarded = std::make_unique<_MatOps>(*A->ops);
  const auto put = [&](auto member, auto ours) {
    if (!(A->ops[0].*member) || A->ops[0].*member == ours) return;
    st.unguarded.get()->*member = A->ops[0].*member;
    A->ops[0].*member = ours;
  };
  for_each_guard(st, put);
}

bool is_nan(PetscScalar s) { return PetscIsNanScalar(s); }

}  // namespace

bool stays_apart(const State& of_whole, const State& of_part, const Backend& on) {
  if (of_whole.settings.host_values != "never" || of_whole.keeps_host_values || of_part.keeps_host_values) return false;
  if (of_whole.settings.parent_only()) return false;
  return on.is_device() || std::getenv("COMPOUND_VALUES_APART");  // tests on machines without a device set it
}

PetscErrorCode are_host_values_missing(Mat seq, SeqState& st, bool* missing) {
  PetscFunctionBegin;
  PetscObjectState state;
  PetscScalar* values = nullptr;
  std::size_t count = 0;
  *missing = st.apart.missing;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(seq), &state));
  if (!*missing || state == st.apart.state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(array_of(seq, st, &values, &count));
  const auto nans = static_cast<std::size_t>(std::count_if(values, values + count, is_nan));
  PetscCheck(nans == count || nans == 0, comm_of(seq), PETSC_ERR_ARG_WRONGSTATE,
             "Some values of the matrix were written to the parent's array while all others are on the device alone "
             "(-mat_compound_host_values never): use MatSetValues(), or -mat_compound_host_values always");
  *missing = st.apart.missing = nans == count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode leave_out_host_values(Mat seq, SeqState& st) {
  PetscFunctionBegin;
  PetscScalar* values = nullptr;
  std::size_t count = 0;
  if (st.apart.missing) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(array_of(seq, st, &values, &count));
  constexpr PetscReal nan = std::numeric_limits<PetscReal>::quiet_NaN();
  std::fill_n(values, count, petsc_scalar(Scalar(nan)));
  st.apart.missing = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode note_state(Mat seq, SeqState& st, int raises) {
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(seq), &st.apart.state));
  st.apart.state += raises;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode need_host_values(Mat A) { return need_if_ours(A, false); }

PetscErrorCode keep_host_values(Mat A) { return need_if_ours(A, true); }

PetscErrorCode guard_host_values(Mat A, int raises) {
  PetscFunctionBegin;
  State* const st = static_cast<State*>(A->spptr);
  Mat parts[2] = {A, nullptr};
  bool missing = false;
  if (st->settings.host_values != "never") PetscFunctionReturn(PETSC_SUCCESS);
  if (st->is_mpi) PetscCall(st->family.parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (!part || !is_seq_compound(part) || !part->spptr) continue;
    SeqState& of_part = *static_cast<SeqState*>(static_cast<State*>(part->spptr));
    bool of_this;
    PetscCall(are_host_values_missing(part, of_part, &of_this));
    PetscCall(note_state(part, of_part, st->is_mpi ? 0 : raises));
    missing = missing || of_this;
  }
  if (missing) guard(A, *st);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void unguard_host_values(Mat A, State& st) {
  if (!st.unguarded) return;
  const auto take_off = [&](auto member, auto ours) {
    if (A->ops[0].*member == ours) A->ops[0].*member = st.unguarded.get()->*member;
  };
  for_each_guard(st, take_off);
  st.unguarded.reset();
}

}  // namespace compound::plugin
