#include "mat/common_operations.hpp"

#include "coo/coo.hpp"
#include "mat/attach.hpp"
#include "mat/converters.hpp"
#include "mat/via_aij_copy.hpp"
#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "petsc/huge_pages.hpp"
#include "petsc/late_setup.hpp"
#include "petsc/overrides.hpp"
#include "petsc/scoped.hpp"
#include "petsc/warnings.hpp"
#include "spgemm/product_results.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/vec_types.hpp"
#include "view/view.hpp"

namespace compound::plugin {

PetscErrorCode any_set_from_options(Mat A) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  PetscCall(together(comm_of(A), [&] { return read_options(A, st->settings); }));
#if PetscDefined(HAVE_CUDA)
  PetscCall(decide_vec_type(A, st->settings, Moment::before));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode any_assembly_begin(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(set_up_for_assembly(A));
  if (base->assemblybegin) PetscCall(base->assemblybegin(A, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Of this process's parts so far.
PetscErrorCode count_mallocs(Mat A, PetscLogDouble* count) {
  PetscFunctionBegin;
  Mat parts[2] = {A, nullptr};
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  *count = 0;
  for (Mat part : parts)
    if (part) *count += part->info.mallocs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A type that is set after preallocation drops it: each malloc then copies all that was inserted so far.
PetscErrorCode report_mallocs(Mat A, const Settings& settings) {
  constexpr PetscLogDouble worth_telling = 100;
  PetscFunctionBegin;
  PetscLogDouble count = 0;
  if (!settings.warn || was_said(Once::assembly)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(count_mallocs(A, &count));
  if (count < worth_telling) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(warn_once(
      Once::assembly,
      "the assembly of a matrix of type " + std::string(type_of(A)) + " with " + std::to_string(A->rmap->n) +
          " local rows allocated memory " + std::to_string(static_cast<PetscInt64>(count)) +
          " times, which is slow: preallocate it, and set its type before that, not after (-mat_type or MatSetType() "
          "before MatXAIJSetPreallocation(), create_matrix(form, type) in DOLFINx)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where any process has put in a new block, all make their off-diagonal part anew, and BAIJ reads the old one's array.
PetscErrorCode need_values_of_off_diagonal(Mat A) {
  PetscFunctionBegin;
  HasValues* const of = has_values(A);
  Mat off;
  if (!of || of->set_by_coordinates == SetByCoordinates::never) PetscFunctionReturn(PETSC_SUCCESS);
  const bool inserts_nothing =
      std::exchange(of->set_by_coordinates, SetByCoordinates::before) == SetByCoordinates::assembled_next;
  if (inserts_nothing || !of->is_mpi || &of->base_type != &baij) PetscFunctionReturn(PETSC_SUCCESS);
  const int is_whole = A->was_assembled;
  int all_are;
  PetscCallMPI(MPI_Allreduce(&is_whole, &all_are, 1, MPI_INT, MPI_LAND, comm_of(A)));
  if (all_are || !is_whole) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_parts(A, nullptr, &off, nullptr));
  PetscCall(need_host_values(off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode any_assembly_end(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  State* st;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  // BAIJ writes what other processes have sent into the arrays of its parts.
  for (const MatStash* sent : {&A->stash, &A->bstash})
    if (sent->nrecvs > 0 || sent->nrecvranks > 0) PetscCall(take_host_values(A));
  PetscCall(need_values_of_off_diagonal(A));
  PetscCall(base->assemblyend(A, mode));
  if (mode != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(install_again(A));
  PetscCall(any_state(A, &st));
  if (!st->off_diagonal) PetscCall(report_mallocs(A, st->settings));
  if (!st->is_mpi) PetscFunctionReturn(PETSC_SUCCESS);
  auto* const mpi = static_cast<MpiState*>(st);
  Mat diagonal, off;
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return compound_parts(A, mpi, &diagonal, &off); });
  PetscCall(check_ghosts(A, mpi->ghosts, code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type makes its own type of some, and calls our constructor for others.
PetscErrorCode any_duplicate(Mat A, MatDuplicateOption option, Mat* B) {
  PetscFunctionBegin;
  State *st, *of_B;
  const _MatOps* base;
  PetscCall(any_state(A, &st));
  PetscCall(base_ops(A, &base));
  Unguarded own(A, *st);  // the duplicate takes A's operations
  {
    const HugePages of_new_arrays;
    const PetscErrorCode code = base->duplicate(A, option, B);
    PetscCall(own.guard_again());
    PetscCall(code);
  }
  const auto make_whole = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(adopt(*B, st->settings, st->off_diagonal));
    if (!gathers_values(*B)) (*B)->ops->destroy = base->destroy;  // a copy of a submatrix is none
    PetscCall(install_again(*B));
    if (st->base_type.keeps_upper) PetscCall(MatPropagateSymmetryOptions(A, *B));  // 3.18 forgets that A is Hermitian
    // PETSc leaves a duplicate with the products of any block size; ours may as well have this block size's.
    PetscCall(any_state(*B, &of_B));
    of_B->base_products = st->base_products;
    of_B->ignores_others_rows = st->ignores_others_rows;
    set_bound(*B, is_bound(A));
    PetscCall(keep_coo(A, *B));
    of_B->set_by_coordinates = st->set_by_coordinates;
    PetscCall(guard_values(*B));  // of parts, which were copied with their values
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(finish_or_destroy(B, [&] { return together(comm_of(A), make_whole); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// SBAIJ gives submatrices the type's name that A bears, and on several processes makes others of another name.
PetscErrorCode submatrix_of_base_type(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(under_upper_name(A, [&] { return base->createsubmatrix(A, rows, cols, reuse, B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// In 3.26 the view of several processes makes a submatrix and takes it apart by a function that wants the base type
/// by its exact name: submatrices are the base type's own for the time of the call.
PetscErrorCode any_view(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscViewerFormat format;
  PetscCall(base_ops(A, &base));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  const bool of_figures = format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL ||
                          format == PETSC_VIEWER_ASCII_FACTOR_INFO;
  if (!of_figures) PetscCall(need_host_values(A));
  PetscCall(
      with_operation<&_MatOps::createsubmatrix>(A, submatrix_of_base_type, [&] { return base->view(A, viewer); }));
  PetscCall(view_info(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Settings and the type of vectors of A, to a new submatrix that is of ours, too.
PetscErrorCode pass_on(Mat A, Mat submatrix) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  if (type_of_matrix(submatrix).base_type != &st->base_type) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(adopt(submatrix, st->settings));
  PetscCall(take_vec_type(submatrix, {A}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// The base type cannot cut blocks (nor does it see blocks whose scalars are permuted), and makes its own type on
/// several processes.
PetscErrorCode any_create_submatrix(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const _MatOps* base;
  bool whole;
  PetscCall(base_ops(A, &base));
  PetscCall(are_whole_blocks(A, rows, cols, &whole));
  if (!whole) {
    PetscCall(submatrix_by_aij(A, rows, cols, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // On several processes the base type compares rows with block rows there, and gives up.
  if (reuse == MAT_REUSE_MATRIX) {
    ScopedMat anew;
    PetscCall(base->createsubmatrix(A, rows, cols, MAT_INITIAL_MATRIX, anew.out()));
    PetscCall(take_from(*B, anew));
    PetscCall(anew.reset());
  } else {
    PetscCall(base->createsubmatrix(A, rows, cols, reuse, B));
    PetscCall(finish_or_destroy(B, [&] { return pass_on(A, *B); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_submatrix_of_upper(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  ScopedMat anew;
  PetscCall(submatrix_of_base_type(A, rows, cols, MAT_INITIAL_MATRIX, anew.out()));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(take_from(*B, anew));
    PetscCall(anew.reset());
  } else {
    PetscCall(pass_on(A, anew));
    *B = anew.take();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_create_submatrices_of_scalars(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                                 Mat* B[]) {
  PetscFunctionBegin;
  const _MatOps* base;
  const PetscInt again = reuse == MAT_REUSE_MATRIX ? n : 0;
  PetscCall(base_ops(A, &base));
  for (PetscInt k = 0; k < again; ++k) PetscCall(overwrite_host_values((*B)[k]));
  PetscCall(base->createsubmatrices(A, n, rows, cols, reuse, B));
  // Of all rows and columns AIJ writes their arrays and does not tell.
  for (PetscInt k = 0; k < again; ++k) PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>((*B)[k])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_submatrices_of_upper(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                           Mat* B[]) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(under_upper_name(A, [&] { return base->createsubmatrices(A, n, rows, cols, reuse, B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_create_submatrix_of_scalars(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  Mat* only = B;
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, reuse, &only));
  if (reuse != MAT_INITIAL_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  *B = *only;
  PetscCall(PetscFree(only));
  PetscCall(finish_or_destroy(B, [&] { return pass_on(A, *B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_create_submatrix_of_scalars(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(base->createsubmatrix(A, rows, cols, reuse, B));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(finish_or_destroy(B, [&] { return pass_on(A, *B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type makes a matrix of our type that knows nothing of what this one was asked for.
PetscErrorCode any_transpose(Mat A, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const _MatOps* base;
  State* st;
  PetscCall(base_ops(A, &base));
  PetscCall(any_state(A, &st));
  const Settings settings = st->settings;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(take_host_values(*B));  // PETSc writes its arrays
  PetscCall(base->transpose(A, reuse, B));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(finish_or_destroy(B, [&] { return adopt(*B, settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode any_permute(Mat A, IS rows, IS cols, Mat* B) {
  PetscFunctionBegin;
  bool whole;
  PetscCall(are_whole_blocks(A, rows, cols, &whole));
  PetscCall(whole ? MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, B) : permuted_by_aij(A, rows, cols, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA)
PetscErrorCode any_get_vecs(Mat A, Vec* right, Vec* left) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(decide_vec_type(A, st->settings, Moment::making_vectors));
  PetscCall(create_vecs(A, right, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode any_set_up_coloring(Mat A, ISColoring colors, MatFDColoring coloring) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(base->fdcoloringsetup(A, colors, coloring));
  PetscCall(keep_coloring_on_host(A, coloring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode any_bind(Mat A, PetscBool bound) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  PetscCall(bind_to_cpu(A, st->settings, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

}  // namespace compound::plugin
