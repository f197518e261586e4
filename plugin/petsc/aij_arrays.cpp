#include "petsc/aij_arrays.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace compound::plugin {

namespace {

bool was_called;

template <class... Args>
PetscErrorCode mark(Mat, Args...) {
  was_called = true;
  return PETSC_SUCCESS;
}

/// Calls `ask` while the function at `place` is mark(): whether it was called.
template <class... Args, class Ask>
PetscErrorCode is_looked_at(PetscErrorCode (**place)(Mat, Args...), const Ask& ask, bool* yes) {
  *place = mark<Args...>;
  was_called = false;
  const PetscErrorCode code = ask();
  *place = nullptr;
  *yes = was_called;
  return code;
}

/// Whether the table is there: each function is looked at by the function of PETSc that it is for.
PetscErrorCode is_table(Mat A, AijArrayFunctions* t, bool* yes) {
  PetscFunctionBegin;
  PetscScalar* v = nullptr;
  const PetscScalar* read = nullptr;
  const PetscInt *start, *column;
  PetscMemType type;
  PetscCall(is_looked_at(
      &t->get, [&] { return MatSeqAIJGetArray(A, &v); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->restore, [&] { return MatSeqAIJRestoreArray(A, &v); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->get_read, [&] { return MatSeqAIJGetArrayRead(A, &read); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->restore_read, [&] { return MatSeqAIJRestoreArrayRead(A, &read); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->get_write, [&] { return MatSeqAIJGetArrayWrite(A, &v); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->restore_write, [&] { return MatSeqAIJRestoreArrayWrite(A, &v); }, yes));
  if (*yes)
    PetscCall(is_looked_at(
        &t->get_csr, [&] { return MatSeqAIJGetCSRAndMemType(A, &start, &column, &v, &type); }, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Before the table are other pointers, some of them null: a function is put in the place of each in turn, and PETSc's
/// looks at the table alone.
PetscErrorCode find_table(std::optional<std::size_t>* found) {
  PetscFunctionBegin;
  constexpr std::size_t most = 40;  // pointers; 26 in 3.18, 24 in 3.26, and the data go on well beyond
  Mat A;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, nullptr, &A));
  PetscCall(MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  auto* const pointers = static_cast<void**>(A->data);
  const auto is_empty = [](void* const* from) {
    for (std::size_t k = 0; k < sizeof(AijArrayFunctions) / sizeof(void*); ++k)
      if (from[k]) return false;
    return true;
  };
  for (std::size_t first = 0; first < most && !*found; ++first) {
    bool yes = false;
    if (is_empty(pointers + first))
      PetscCall(is_table(A, reinterpret_cast<AijArrayFunctions*>(pointers + first), &yes));
    if (yes) *found = first * sizeof(void*);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bytes from the beginning of a matrix's data to the table; empty where it was not found, or not looked for yet.
std::optional<std::size_t> place;

AijArrayFunctions* table_of(Mat seq) {
  return place ? reinterpret_cast<AijArrayFunctions*>(static_cast<std::byte*>(seq->data) + *place) : nullptr;
}

}  // namespace

PetscErrorCode aij_array_functions(Mat seq, AijArrayFunctions** table) {
  static bool was_looked_for = false;
  PetscFunctionBegin;
  if (!was_looked_for) PetscCall(find_table(&place));
  was_looked_for = true;
  *table = table_of(seq);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode aij_arrays(Mat seq, const PetscInt** start, const PetscInt** column, PetscScalar** values) {
  PetscFunctionBegin;
  PetscMemType type;
  AijArrayFunctions* const table = table_of(seq);
  const auto own = table ? std::exchange(table->get_csr, nullptr) : nullptr;
  const PetscErrorCode code = MatSeqAIJGetCSRAndMemType(seq, start, column, values, &type);
  if (table) table->get_csr = own;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
