// What the seq and the mpi type do alike, written once over a description of the type.
#pragma once

#include "by_aij.hpp"
#include "device_operations.hpp"
#include "kept_settings.hpp"
#include "overrides.hpp"
#include "types.hpp"
#include "view.hpp"

namespace compound::plugin {

/// `Type` names its parts: `State`, `parent(&p)`, `state(A, &st)`, `multiply(A, op, update, x, z, y)`,
/// `adopt(parent's matrix, settings)` and `raise(A)`, which tells of changed values.
template <class Type>
struct CommonOperations {
  template <Op op>
  static PetscErrorCode mult(Mat A, Vec x, Vec y) {
    return Type::multiply(A, op, Update::assign, x, nullptr, y);
  }

  template <Op op>
  static PetscErrorCode mult_add(Mat A, Vec x, Vec z, Vec y) {
    return Type::multiply(A, op, Update::add, x, z, y);
  }

  template <class Items>
  static PetscErrorCode set_from_options(Mat A, Items) {
    PetscFunctionBegin;
    typename Type::State* st;
    PetscCall(Type::state(A, &st));
    PetscCall(read_options(A, st->settings));
#if PetscDefined(HAVE_CUDA)
    PetscCall(decide_vec_type(A, st->settings, Moment::before));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// In 3.26 mpibaij's view makes a submatrix and takes it apart by MatMPIBAIJGetSeqBAIJ(), which wants the
  /// parent's type by its exact name: submatrices are the parent's own for the time of the call.
  static PetscErrorCode view(Mat A, PetscViewer viewer) {
    PetscFunctionBegin;
    const Parent* parent;
    PetscCall(Type::parent(&parent));
    PetscCall(with_operation<&_MatOps::createsubmatrix>(A, parent->ops.createsubmatrix,
                                                        [&] { return parent->ops.view(A, viewer); }));
    PetscCall(view_info(A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The parent cannot cut blocks (nor does it see blocks whose scalars are permuted), and makes plain BAIJ on several
  /// processes.
  static PetscErrorCode create_submatrix(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B) {
    PetscFunctionBegin;
    const Parent* parent;
    typename Type::State* st;
    bool whole;
    PetscCall(Type::parent(&parent));
    PetscCall(Type::state(A, &st));
    PetscCall(are_whole_blocks(A, rows, cols, &whole));
    if (!whole) {
      PetscCall(submatrix_by_aij(A, rows, cols, reuse, B));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (reuse == MAT_REUSE_MATRIX) {  // mpibaij compares rows with block rows there, and gives up
      Mat anew;
      PetscCall(parent->ops.createsubmatrix(A, rows, cols, MAT_INITIAL_MATRIX, &anew));
      PetscCall(take_from(*B, anew));
      PetscCall(MatDestroy(&anew));
    } else {
      PetscCall(parent->ops.createsubmatrix(A, rows, cols, reuse, B));
      PetscCall(Type::adopt(*B, st->settings));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The parent makes a matrix of our type that knows nothing of what this one was asked for.
  static PetscErrorCode transpose(Mat A, MatReuse reuse, Mat* B) {
    PetscFunctionBegin;
    const Parent* parent;
    typename Type::State* st;
    PetscCall(Type::parent(&parent));
    PetscCall(Type::state(A, &st));
    const Settings settings = st->settings;
    PetscCall(parent->ops.transpose(A, reuse, B));
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(Type::adopt(*B, settings));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode permute(Mat A, IS rows, IS cols, Mat* B) {
    PetscFunctionBegin;
    bool whole;
    PetscCall(are_whole_blocks(A, rows, cols, &whole));
    PetscCall(whole ? MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, B) : permuted_by_aij(A, rows, cols, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

#if PetscDefined(HAVE_CUDA)
  static PetscErrorCode get_vecs(Mat A, Vec* right, Vec* left) {
    PetscFunctionBegin;
    typename Type::State* st;
    PetscCall(Type::state(A, &st));
    PetscCall(read_options_once(A, st->settings));
    PetscCall(decide_vec_type(A, st->settings, Moment::making_vectors));
    PetscCall(create_vecs(A, right, left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode set_up_coloring(Mat A, ISColoring colors, MatFDColoring coloring) {
    PetscFunctionBegin;
    const Parent* parent;
    PetscCall(Type::parent(&parent));
    PetscCall(parent->ops.fdcoloringsetup(A, colors, coloring));
    PetscCall(keep_coloring_on_host(A, coloring));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode bind(Mat A, PetscBool bound) {
    PetscFunctionBegin;
    typename Type::State* st;
    PetscCall(Type::state(A, &st));
    PetscCall(bind_to_cpu(A, st->settings, bound));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif

  template <class F>
  static void list_for_devices([[maybe_unused]] const F& f) {
#if PetscDefined(HAVE_CUDA)
    f(&_MatOps::getvecs, get_vecs);
    f(&_MatOps::bindtocpu, bind);
    f(&_MatOps::fdcoloringsetup, set_up_coloring);
    f(&_MatOps::getdiagonal, Type::get_diagonal);
#endif
  }

  /// The rows of the override list that both types have.
  template <class F>
  static void list(const F& f) {
    f(&_MatOps::mult, mult<Op::none>);
    f(&_MatOps::multadd, mult_add<Op::none>);
    f(&_MatOps::multtranspose, mult<Op::transpose>);
    f(&_MatOps::multtransposeadd, mult_add<Op::transpose>);
    f(&_MatOps::multhermitiantranspose, mult<Op::hermitian>);
    f(&_MatOps::multhermitiantransposeadd, mult_add<Op::hermitian>);
    f(&_MatOps::view, view);
    f(&_MatOps::convertfrom, convert_to_compound);
    f(&_MatOps::createsubmatrix, create_submatrix);
    f(&_MatOps::permute, permute);
    f(&_MatOps::transpose, transpose);
    f(&_MatOps::creategraph, [](auto... args) { return refuse_graph(args...); });
    f(&_MatOps::setfromoptions, [](auto A, auto items) { return set_from_options(A, items); });
    list_for_devices(f);
    raising<&_MatOps::conjugate>(f);
    raising<&_MatOps::realpart>(f);
    raising<&_MatOps::imaginarypart>(f);
  }

  /// A row for an inherited operation that changes values without telling whoever holds packed copies of them.
  template <auto Member, class F>
  static void raising(const F& f) {
    f(Member, Followed<Type::parent, Type::raise, Member>::call);
  }
};

/// The state on Mat::spptr; made anew, with the settings that were kept, when PETSc moved the header away from it.
template <class State>
PetscErrorCode state_of(Mat A, PetscErrorCode (*compose_functions)(Mat), State** state) {
  PetscFunctionBegin;
  if (!A->spptr) A->spptr = new State;
  *state = static_cast<State*>(A->spptr);
  if (auto kept = kept_settings().take(A)) {
    kept->version = (*state)->settings.version + 1;
    (*state)->settings = std::move(*kept);
    PetscCall(compose_functions(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
