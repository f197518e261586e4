// What a matrix of ours does otherwise than its parent: every operation and every function that PETSc looks up by name.
#include <algorithm>
#include <iterator>

#include "coo/coo.hpp"
#include "mat/attach.hpp"
#include "mat/common_operations.hpp"
#include "mat/converters.hpp"
#include "mat/diagonals.hpp"
#include "mat/mpi_operations.hpp"
#include "mat/seq_operations.hpp"
#include "mat/under_aij_name.hpp"
#include "mat/value_operations.hpp"
#include "mat/via_aij_copy.hpp"
#include "petsc/aij_changes.hpp"
#include "petsc/baij_changes.hpp"
#include "petsc/late_setup.hpp"
#include "spgemm/block_sums.hpp"
#include "spgemm/products_of_matrices.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/operator.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

template <Op op>
PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return multiply(A, op, Update::assign, x, nullptr, y);
}

template <Op op>
PetscErrorCode mult_add(Mat A, Vec x, Vec z, Vec y) {
  return multiply(A, op, Update::add, x, z, y);
}

template <const Family& family, bool is_mpi>
PetscErrorCode destroy(Mat A) {
  PetscFunctionBegin;
  const _MatOps* parent;
  PetscCall(parent_ops(family, is_mpi, &parent));  // A has no type name while headers are merged
  PetscCall(drop_state(A, table_of(family, is_mpi)));
  PetscCall(parent->destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent reads X's arrays too. Each type has a function of its own, since PETSc takes matrices with the same one
/// for matrices of one type.
template <const Family& family, bool is_mpi>
PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure structure) {
  PetscFunctionBegin;
  const _MatOps* parent;
  bool done = false;
  PetscCall(parent_ops(family, is_mpi, &parent));
  if (structure == SAME_NONZERO_PATTERN) PetscCall(is_mpi ? add_parts(Y, a, X, &done) : add_on_device(Y, a, X, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_host_values(X));
  PetscCall(take_host_values(Y));
  if (structure == SUBSET_NONZERO_PATTERN && !is_mpi) PetscCall(add_full_blocks(Y, a, X, &done));
  if (!done) PetscCall(parent->axpy(Y, a, X, structure));
  if (is_mpi) PetscCall(raise_parts(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type compares this operation, too.
template <const Family& family>
PetscErrorCode copy(Mat A, Mat B, MatStructure structure) {
  PetscFunctionBegin;
  const _MatOps* parent;
  bool done = false;
  PetscCall(parent_ops(family, false, &parent));
  if (structure == SAME_NONZERO_PATTERN) PetscCall(copy_on_device(A, B, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_host_values(A));
  PetscCall(structure == SAME_NONZERO_PATTERN ? overwrite_host_values(B) : take_host_values(B));
  PetscCall(parent->copy(A, B, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr auto common = [](const auto& f) {
  f(&_MatOps::mult, mult<Op::none>);
  f(&_MatOps::multadd, mult_add<Op::none>);
  f(&_MatOps::multtranspose, mult<Op::transpose>);
  f(&_MatOps::multtransposeadd, mult_add<Op::transpose>);
  f(&_MatOps::multhermitiantranspose, mult<Op::hermitian>);
  f(&_MatOps::multhermitiantransposeadd, mult_add<Op::hermitian>);
  f(&_MatOps::view, any_view);
  f(&_MatOps::convertfrom, convert_to_compound);
  f(&_MatOps::transpose, any_transpose);
  f(&_MatOps::setfromoptions, [](auto A, auto) { return any_set_from_options(A); });  // arguments differ by release
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getvecs, any_get_vecs);
  f(&_MatOps::bindtocpu, any_bind);
  f(&_MatOps::fdcoloringsetup, any_set_up_coloring);
#endif
};

/// Of a parent with blocks of one size, which PETSc does less for than for AIJ.
constexpr auto of_blocks = [](const auto& f) {
  f(&_MatOps::createsubmatrix, any_create_submatrix);
  f(&_MatOps::permute, any_permute);
  f(&_MatOps::creategraph, [](auto... args) { return refuse_graph(args...); });
};

constexpr auto seq = [](const auto& f) {
  common(f);
  f(&_MatOps::assemblyend, seq_assembly_end);
  f(&_MatOps::duplicate, seq_duplicate);
  f(&_MatOps::zeroentries, seq_zero_entries);
  f(&_MatOps::scale, seq_scale);
  f(&_MatOps::creatempimatconcatenateseqmat, seq_concatenate);
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getdiagonal, seq_get_diagonal);
  follow<&_MatOps::invertblockdiagonal, tell_of_host_work>(f);
#endif
};

constexpr auto mpi = [](const auto& f) {
  common(f);
  f(&_MatOps::assemblybegin, mpi_assembly_begin);
  f(&_MatOps::assemblyend, mpi_assembly_end);
  f(&_MatOps::getdiagonalblock, mpi_get_diagonal_block);
  f(&_MatOps::duplicate, any_duplicate);
  f(&_MatOps::setoption, mpi_set_option);
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getdiagonal, mpi_get_diagonal);
#endif
};

/// Values by coordinates: of a parent that has no way for them,
constexpr auto own_coo = [](const auto& f) {
  f(OwnFunction<"MatSetPreallocationCOO_C", coo_set_preallocation>{});
  f(OwnFunction<"MatSetValuesCOO_C", coo_set_values>{});
};
/// and of one that has, on the host.
template <bool is_mpi>
constexpr auto coo_for_parents = [](const auto& f) {
  f(ReplacedFunction<is_mpi, "MatSetPreallocationCOO_C", coo_set_preallocation>{});
  f(ReplacedFunction<is_mpi, "MatSetValuesCOO_C", coo_set_values>{});
};

/// One row: lists of operations and of functions, over the parent of one family.
template <const Family& family, bool is_mpi>
struct Row;

using SeqBaij = SeqBaijChanges<seq_arrays_are_new, seq_values_changed, need_host_values, take_host_values>;
using MpiBaij = MpiBaijChanges<install_again, raise_parts>;
using SeqAij = SeqAijChanges<seq_arrays_are_new, seq_values_changed, need_host_values, take_host_values>;
using MpiAij = MpiAijChanges<install_again, raise_parts>;

template <>
struct Row<baij, false> {
  using StateType = SeqState;
  static constexpr auto operations = [](const auto& f) {
    seq(f);
    of_blocks(f);
    SeqBaij::operations(f);
    f(&_MatOps::axpy, axpy<baij, false>);
    f(&_MatOps::copy, copy<baij>);
    f(&_MatOps::destroy, destroy<baij, false>);
  };
  static constexpr auto functions = [](const auto& f) {
    SeqBaij::functions(f);
    own_coo(f);
    f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_by_aij>{});
  };
};

template <>
struct Row<baij, true> {
  using StateType = MpiState;
  static constexpr auto operations = [](const auto& f) {
    mpi(f);
    of_blocks(f);
    MpiBaij::operations(f);
    f(&_MatOps::axpy, axpy<baij, true>);
    f(&_MatOps::destroy, destroy<baij, true>);
  };
  static constexpr auto functions = [](const auto& f) {
    MpiBaij::functions(f);
    own_coo(f);
    f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_by_aij>{});
  };
};

template <>
struct Row<aij, false> {
  using StateType = SeqState;
  static constexpr auto operations = [](const auto& f) {
    seq(f);
    f(&_MatOps::createsubmatrix, seq_create_submatrix_of_scalars);
    f(&_MatOps::transposesymbolic, transpose_symbolic_as_aij);
    f(&_MatOps::productsetfromoptions, seq_product_set_from_options);
    SeqAij::operations(f);
    f(&_MatOps::axpy, axpy<aij, false>);
    f(&_MatOps::copy, copy<aij>);
    f(&_MatOps::destroy, destroy<aij, false>);
  };
  static constexpr auto functions = [](const auto& f) {
    SeqAij::functions(f);
    coo_for_parents<false>(f);
    f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_as_aij>{});
    f(ReplacedFunction<false, "MatSeqAIJKron_C", kron_as_aij>{});
  };
};

template <>
struct Row<aij, true> {
  using StateType = MpiState;
  static constexpr auto operations = [](const auto& f) {
    mpi(f);
    f(&_MatOps::createsubmatrix, mpi_create_submatrix_of_scalars);
    f(&_MatOps::productsetfromoptions, mpi_product_set_from_options);
    MpiAij::operations(f);
    f(&_MatOps::axpy, axpy<aij, true>);
    f(&_MatOps::destroy, destroy<aij, true>);
  };
  static constexpr auto functions = [](const auto& f) {
    MpiAij::functions(f);
    coo_for_parents<true>(f);
    f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_as_aij>{});
  };
};

/// The parent picks its products by block size at each preallocation: they are kept while ours stand before them.
PetscErrorCode keep_parents_products(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  if (A->ops->mult != mult<Op::none>) st->parent_mult = A->ops->mult;
  if (A->ops->multadd != mult_add<Op::none>) st->parent_multadd = A->ops->multadd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Family& family, bool is_mpi>
PetscErrorCode install_row(Mat A) {
  PetscFunctionBegin;
  const _MatOps* parent;
  PetscCall(parent_ops(family, is_mpi, &parent));
  finish_late_set_up(A, *parent);
  if (!is_mpi) PetscCall(keep_parents_products(A));
  install(A, Row<family, is_mpi>::operations);
#if PetscDefined(HAVE_CUDA)
  if (!is_mpi) follow_sor(A, family);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Family& family, bool is_mpi>
PetscErrorCode uninstall_row(Mat A) {
  PetscFunctionBegin;
  const _MatOps* parent;
  PetscCall(parent_ops(family, is_mpi, &parent));
  uninstall(A, *parent, Row<family, is_mpi>::operations);
  if (is_mpi) PetscFunctionReturn(PETSC_SUCCESS);
  SeqState* st;
  PetscCall(seq_state(A, &st));
#if PetscDefined(HAVE_CUDA)
  leave_sor(A, family);
#endif
  A->ops->mult = st->parent_mult;
  A->ops->multadd = st->parent_multadd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Family& family, bool is_mpi>
PetscErrorCode compose_row(Mat A) {
  PetscFunctionBegin;
  PetscCall(compose_all(A, Row<family, is_mpi>::functions));
  PetscCall(compose_converters(A, family.descent(is_mpi)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Family& family, bool is_mpi>
PetscErrorCode remove_row(Mat A) {
  PetscFunctionBegin;
  PetscCall(remove_all(A, Row<family, is_mpi>::functions));
  PetscCall(remove_converters(A, family.descent(is_mpi)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Family& family, bool is_mpi>
constexpr TypeTable table = {
    [](const Family& of) -> State* { return new typename Row<family, is_mpi>::StateType(of); },
    install_row<family, is_mpi>,
    uninstall_row<family, is_mpi>,
    compose_row<family, is_mpi>,
    remove_row<family, is_mpi>,
};

/// In the order of `families`.
constexpr const TypeTable* tables[std::size(families)][2] = {{&table<baij, false>, &table<baij, true>},
                                                             {&table<aij, false>, &table<aij, true>}};

}  // namespace

const TypeTable& table_of(const Family& family, bool is_mpi) {
  return *tables[std::find(std::begin(families), std::end(families), &family) - std::begin(families)][is_mpi];
}

}  // namespace compound::plugin
