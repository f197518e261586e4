#include "petsc/base_types.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "petsc/agree.hpp"
#include "petsc/scoped.hpp"

namespace compound::plugin {

TypeOfMatrix type_of_matrix(Mat A) {
  const char* const type = reinterpret_cast<PetscObject>(A)->type_name;
  if (!type) return {};
  for (const BaseType* base_type : base_types) {
    for (const bool is_mpi : {false, true}) {
      const TypePair& types = base_type->types(is_mpi);
      if (std::strcmp(type, types.ours) == 0) return {base_type, is_mpi, true};
      if (std::strcmp(type, types.base) == 0) return {base_type, is_mpi, false};
    }
  }
  return {};
}

PetscErrorCode base_ops(const BaseType& base_type, bool is_mpi, const _MatOps** ops) {
  // The functions of a loaded libpetsc do not change between PetscInitialize calls.
  static struct {
    _MatOps ops;
    bool taken = false;
  } pristine[std::size(base_types)][2];
  PetscFunctionBegin;
  auto& of_type = pristine[std::find(std::begin(base_types), std::end(base_types), &base_type) - base_types][is_mpi];
  *ops = &of_type.ops;
  if (of_type.taken) PetscFunctionReturn(PETSC_SUCCESS);
  ScopedMat A;
  PetscCall(MatCreate(PETSC_COMM_SELF, A.out()));
  PetscCall(MatSetType(A, base_type.types(is_mpi).base));
  of_type.ops = *(*A.out())->ops;
  of_type.taken = true;
  PetscCall(A.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The base type of a matrix that must have one.
PetscErrorCode family_of(Mat A, TypeOfMatrix* k) {
  PetscFunctionBegin;
  *k = type_of_matrix(A);
  PetscCheck(k->base_type, comm_of(A), PETSC_ERR_PLIB, "A matrix of type %s is not above a base type",
             reinterpret_cast<PetscObject>(A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode base_ops(Mat A, const _MatOps** ops) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(base_ops(*k.base_type, k.is_mpi, ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode base_function(const BaseType& base_type, bool is_mpi, const char* name, void (**function)(void)) {
  return query_type(base_type.types(is_mpi).base, name, function);
}

namespace {

/// Rows of one part of a matrix that is not assembled yet: columns of the diagonal part are local, those of the other
/// one global.
struct PartRows {
  std::vector<PetscInt> lengths, column;
};

/// Columns of [first, end) are the diagonal part's. Columns ascend in each row.
void split_rows(const PetscInt* start, const PetscInt* column, PetscInt first, PetscInt end, PartRows* diagonal,
                PartRows* off_diagonal) {
  const std::size_t rows = diagonal->lengths.size();
  diagonal->column.reserve(static_cast<std::size_t>(start[rows]));
  for (std::size_t row = 0; row < rows; ++row) {
    const PetscInt *const begin = column + start[row], *const last = column + start[row + 1];
    const PetscInt *const from = std::lower_bound(begin, last, first), *const to = std::lower_bound(from, last, end);
    for (const PetscInt* c = from; c != to; ++c) diagonal->column.push_back(*c - first);
    off_diagonal->column.insert(off_diagonal->column.end(), begin, from);
    off_diagonal->column.insert(off_diagonal->column.end(), to, last);
    diagonal->lengths[row] = static_cast<PetscInt>(to - from);
    off_diagonal->lengths[row] = static_cast<PetscInt>(last - begin) - diagonal->lengths[row];
  }
}

PetscErrorCode set_rows_of_seq(Mat A, const BaseType& base_type, PetscInt bs, PetscInt rows, const PetscInt* start,
                               const PetscInt* column) {
  PetscFunctionBegin;
  std::vector<PetscInt> lengths(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = start[row + 1] - start[row];
  PetscCall(base_type.set_lengths(A, bs, lengths.data(), nullptr));
  PetscCall(base_type.set_columns(A, const_cast<PetscInt*>(column)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_rows_of_mpi(Mat A, const BaseType& base_type, PetscInt bs, PetscInt rows, const PetscInt* start,
                               const PetscInt* column) {
  PetscFunctionBegin;
  PartRows rows_of[2];
  Mat parts[2];
  PetscCall(together(comm_of(A), [&] {
    for (PartRows& rows_here : rows_of) rows_here.lengths.resize(static_cast<std::size_t>(rows));
    split_rows(start, column, A->cmap->rstart / bs, A->cmap->rend / bs, &rows_of[0], &rows_of[1]);
  }));
  PetscCall(base_type.set_lengths(A, bs, rows_of[0].lengths.data(), rows_of[1].lengths.data()));
  PetscCall(base_type.parts(A, &parts[0], &parts[1], nullptr));
  PetscCall(together(comm_of(A), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    for (int k = 0; k < 2; ++k) PetscCall(base_type.set_columns(parts[k], rows_of[k].column.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode preallocate(Mat A, PetscInt bs, const PetscInt* start, const PetscInt* column) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  const auto set_rows = k.is_mpi ? set_rows_of_mpi : set_rows_of_seq;
  const PetscBool nooffprocentries = A->nooffprocentries;
  PetscCall(set_rows(A, *k.base_type, bs, A->rmap->n / bs, start, column));
  A->nooffprocentries = PETSC_TRUE;
  PetscErrorCode code = MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  if (!code) code = MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  A->nooffprocentries = nooffprocentries;
  PetscCall(code);
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  if (!k.base_type->keeps_blocks) PetscCall(MatZeroEntries(A));  // AIJ leaves new values undefined; BAIJ has zeros
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_arrays(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(k.base_type->arrays(A, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode arrays_with_values(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(block_arrays(A, b));
  PetscCheck(b->values || b->entries() == 0, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has a pattern of %" PetscInt_FMT
             " blocks but no values (MAT_STRUCTURE_ONLY?); products need values",
             b->entries());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  PetscFunctionBegin;
  TypeOfMatrix k;
  PetscCall(family_of(A, &k));
  PetscCall(k.base_type->parts(A, diagonal, off_diagonal, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
