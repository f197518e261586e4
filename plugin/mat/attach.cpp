#include "mat/attach.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace compound::plugin {

namespace {

const TypeTable& table_of(const TypeOfMatrix& k) { return table_of(*k.base_type, k.is_mpi); }

/// Of whatever kind A is by then.
PetscErrorCode compose_again(Mat A) { return table_of(type_of_matrix(A)).compose(A); }

std::string names_of_types() {
  std::string names;
  for (const BaseType* base_type : base_types)
    names += (names.empty() ? "" : ", ") + std::string(base_type->root) + " (-mat_type " + base_type->root + ")";
  return names;
}

/// Or A stays as it is.
PetscErrorCode become_ours(Mat A) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  const TypeTable& table = table_of(k);
  NewTypeName name;
  PetscCall(name.make(k.base_type->types(k.is_mpi).ours));
  // MatIncreaseOverlap() of mpisbaij writes the base type's name into that of the diagonal part.
  if (A->spptr && A->ops->destroy == table.destroy) {
    name.exchange(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::unique_ptr<State> state(table.make_state(*k.base_type));
  A->spptr = static_cast<HasValues*>(state.get());
  PetscErrorCode code = table.install(A);
  if (!code) {
    code = guarded(PETSC_COMM_SELF, [&] { return table.compose(A); });
    if (code) PetscCall(table.uninstall(A));
    if (code) PetscCall(table.remove(A));
  }
  if (code) A->spptr = nullptr;
  PetscCall(code);
  static_cast<void>(state.release());
  name.exchange(A);
  set_bound(A, false);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode adopt(Mat A, const Settings& settings, bool off_diagonal) {
  PetscFunctionBegin;
  Settings own = settings;
  if (!is_compound(A)) PetscCall(become_ours(A));
  State* st;
  PetscCall(any_state(A, &st));
  st->settings = std::move(own);
  st->off_diagonal = off_diagonal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// What a matrix of ours has that its base type has not.
struct StateOfOurs {
  Mat mat = nullptr;
  State* state = nullptr;
  bool is_bound = false;
  PetscErrorCode (*destroy)(Mat) = nullptr;  ///< ours, or what PETSc gives a submatrix
  NewTypeName name = {};
};

PetscErrorCode become_base(Mat A, StateOfOurs* aside) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  const TypeTable& table = table_of(k);
  auto* const destroy = A->ops->destroy;
  PetscCall(aside->name.make(k.base_type->types(k.is_mpi).base));
  PetscCall(table.uninstall(A));
  PetscCall(table.remove(A));
  aside->mat = A;
  aside->state = static_cast<State*>(static_cast<HasValues*>(std::exchange(A->spptr, nullptr)));
  aside->is_bound = is_bound(A);
  aside->destroy = destroy;
  aside->name.exchange(A);
  set_bound(A, true);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode become_ours_again(StateOfOurs& aside) {
  PetscFunctionBegin;
  Mat const A = aside.mat;
  const TypeOfMatrix k = type_of_matrix(A);
  const TypeTable& table = table_of(k);
  A->spptr = static_cast<HasValues*>(aside.state);
  aside.name.exchange(A);
  PetscCall(table.install(A));
  A->ops->destroy = aside.destroy;
  PetscCall(table.compose(A));
  set_bound(A, aside.is_bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

using WithParts = std::array<Mat, 3>;

/// Null where there is none of ours.
PetscErrorCode with_parts(Mat A, WithParts* mats) {
  PetscFunctionBegin;
  *mats = {};
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &(*mats)[1], &(*mats)[2], nullptr));
  (*mats)[0] = A;
  for (Mat& mat : *mats)
    if (mat && !is_compound(mat)) mat = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode release(Mat A) {
  PetscFunctionBegin;
  WithParts mats;
  PetscCall(take_host_values(A));
  PetscCall(with_parts(A, &mats));
  for (Mat mat : mats) {
    StateOfOurs aside;
    if (!mat) continue;
    PetscCall(become_base(mat, &aside));
    delete aside.state;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode as_base_type(Mat A, const std::function<PetscErrorCode()>& f) {
  PetscFunctionBegin;
  WithParts mats;
  StateOfOurs asides[std::tuple_size_v<WithParts>] = {};
  PetscCall(take_host_values(A));
  PetscCall(with_parts(A, &mats));
  for (std::size_t i = 0; i < mats.size(); ++i)
    if (mats[i]) PetscCall(become_base(mats[i], &asides[i]));
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, f);
  for (StateOfOurs& aside : asides)
    if (aside.mat) PetscCall(become_ours_again(aside));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

template <class M>
bool has_active_hash([[maybe_unused]] const M& A) {
  if constexpr (requires { A.hash_active; })
    return A.hash_active;
  else
    return false;
}

}  // namespace

bool gathers_values(Mat A) { return has_active_hash(*A); }

PetscErrorCode install_again(Mat A) {
  PetscFunctionBegin;
  State* st;
  const _MatOps* base;
  if (gathers_values(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(any_state(A, &st));
  PetscCall(base_ops(A, &base));
  Unguarded own(A, *st);
  auto* const destroy = A->ops->destroy;
  PetscCall(table_of(type_of_matrix(A)).install(A));
  // That of a submatrix frees what PETSc sent for it, and then calls ours.
  if (destroy != base->destroy) A->ops->destroy = destroy;
  PetscCall(own.guard_again());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_state(Mat A, const TypeTable& table) {
  PetscFunctionBegin;
  State* const st = attached_state(A);
  if (st && header_is_merging(A)) {
    kept_settings.keep(A, std::move(st->kept),
                       {std::move(st->settings), compose_again, std::move(st->unguarded), st->base_products});
  } else {
    if (st) unguard(A, *st);
    kept_settings.forget(A);
  }
  delete st;
  A->spptr = nullptr;
  if (!header_is_merging(A)) PetscCall(table.remove(A));  // else there is no list of them just now
  PetscFunctionReturn(PETSC_SUCCESS);
}

void make_state(Mat A) {
  const TypeOfMatrix k = type_of_matrix(A);
  A->spptr = static_cast<HasValues*>(table_of(k).make_state(*k.base_type));
}

PetscErrorCode settings_of(Mat A, Settings** settings) {
  PetscFunctionBegin;
  PetscCheck(is_compound(A), comm_of(A), PETSC_ERR_ARG_WRONG,
             "The matrix has type %s; MatCompound functions are for %s", type_of(A), names_of_types().c_str());
  State* st;
  PetscCall(any_state(A, &st));
  *settings = &st->settings;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
