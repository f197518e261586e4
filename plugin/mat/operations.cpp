// What a matrix of ours does otherwise than its base type: every operation and every function that PETSc looks up by
// name.
#include <algorithm>
#include <iterator>
#include <type_traits>

#include "coo/coo.hpp"
#include "mat/attach.hpp"
#include "mat/common_operations.hpp"
#include "mat/converters.hpp"
#include "mat/diagonals.hpp"
#include "mat/load.hpp"
#include "mat/mpi_operations.hpp"
#include "mat/seq_operations.hpp"
#include "mat/under_aij_name.hpp"
#include "mat/value_operations.hpp"
#include "mat/via_aij_copy.hpp"
#include "petsc/late_setup.hpp"
#include "petsc/overrides.hpp"
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

/// A Hermitian matrix is another than the symmetric one of the same triangle, and no state tells of the option.
template <bool is_mpi>
PetscErrorCode set_option_of_upper(Mat A, MatOption option, PetscBool on) {
  PetscFunctionBegin;
  State* st;
  const _MatOps* base;
  PetscCall(any_state(A, &st));
  PetscCall(base_ops(sbaij, is_mpi, &base));
  PetscCall(base->setoption(A, option, on));
  if (option != MAT_HERMITIAN && option != MAT_SYMMETRIC && option != MAT_SPD) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(install_again(A));
  ++st->settings.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
PetscErrorCode destroy(Mat A) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(base_type, is_mpi, &base));  // A has no type name while headers are merged
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return drop_state(A, table_of(base_type, is_mpi)); });
  PetscCall(base->destroy(A));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type reads X's arrays too. Each type has a function of its own, since PETSc takes matrices with the same
/// one for matrices of one type.
template <const BaseType& base_type, bool is_mpi>
PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure structure) {
  PetscFunctionBegin;
  const _MatOps* base;
  bool done = false;
  PetscCall(base_ops(base_type, is_mpi, &base));
  if (structure == SAME_NONZERO_PATTERN) PetscCall(is_mpi ? add_parts(Y, a, X, &done) : add_on_device(Y, a, X, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_host_values(X));
  PetscCall(take_host_values(Y));
  if (structure == SUBSET_NONZERO_PATTERN && !is_mpi) PetscCall(add_full_blocks(Y, a, X, &done));
  if (!done) PetscCall(base->axpy(Y, a, X, structure));
  if (is_mpi) PetscCall(raise_parts(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc has merged into a matrix has parts of the base type, which do not copy to parts of ours.
PetscErrorCode parts_of_ours(Mat A, Mat B) {
  PetscFunctionBegin;
  for (Mat of : {A, B}) {
    MpiState* st;
    Mat diagonal, off_diagonal;
    if (!is_mpi_compound(of)) continue;
    PetscCall(mpi_state(of, &st));
    PetscCall(compound_parts(of, st, &diagonal, &off_diagonal));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type compares this operation, too. SBAIJ looks for B's exact type.
template <const BaseType& base_type, bool is_mpi>
PetscErrorCode copy(Mat A, Mat B, MatStructure structure) {
  PetscFunctionBegin;
  const _MatOps* base;
  bool done = false;
  PetscCall(base_ops(base_type, is_mpi, &base));
  if constexpr (is_mpi)
    if (structure == SAME_NONZERO_PATTERN) PetscCall(parts_of_ours(A, B));
  if (structure == SAME_NONZERO_PATTERN && !is_mpi) PetscCall(copy_on_device(A, B, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_host_values(A));
  PetscCall(structure == SAME_NONZERO_PATTERN ? overwrite_host_values(B) : take_host_values(B));
  const auto copies = [&] { return base->copy(A, B, structure); };
  PetscCall(base_type.keeps_upper ? under_upper_name(B, copies) : copies());
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr auto common = [](const auto& f) {
  f(&_MatOps::mult, for_petsc<mult<Op::none>>);
  f(&_MatOps::multadd, for_petsc<mult_add<Op::none>>);
  f(&_MatOps::multtranspose, for_petsc<mult<Op::transpose>>);
  f(&_MatOps::multtransposeadd, for_petsc<mult_add<Op::transpose>>);
  f(&_MatOps::multhermitiantranspose, for_petsc<mult<Op::hermitian>>);
  f(&_MatOps::multhermitiantransposeadd, for_petsc<mult_add<Op::hermitian>>);
  f(&_MatOps::assemblybegin, for_petsc<any_assembly_begin>);
  f(&_MatOps::assemblyend, for_petsc<any_assembly_end>);
  f(&_MatOps::view, for_petsc<any_view>);
  f(&_MatOps::load, for_petsc<any_load>);
  f(&_MatOps::convertfrom, for_petsc<convert_to_compound>);
  f(&_MatOps::transpose, for_petsc<any_transpose>);
  f(&_MatOps::setfromoptions,
    [](auto A, auto) { return for_petsc<any_set_from_options>(A); });  // arguments differ by release
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getvecs, for_petsc<any_get_vecs>);
  f(&_MatOps::bindtocpu, for_petsc<any_bind>);
  f(&_MatOps::fdcoloringsetup, IfBaseHas{for_petsc<any_set_up_coloring>});
#endif
};

/// Of a base type with blocks of one size, which PETSc does less for than for AIJ.
constexpr auto of_blocks = [](const auto& f) {
  f(&_MatOps::createsubmatrix, for_petsc<any_create_submatrix>);
  f(&_MatOps::permute, for_petsc<any_permute>);
  f(&_MatOps::creategraph, [](auto... args) { return refuse_graph(args...); });
};

/// Of one that keeps single scalars.
template <bool is_mpi>
constexpr auto of_scalars = [](const auto& f) {
  f(&_MatOps::createsubmatrix,
    for_petsc < is_mpi ? mpi_create_submatrix_of_scalars : seq_create_submatrix_of_scalars >);
  f(&_MatOps::productsetfromoptions,
    for_petsc < is_mpi ? mpi_product_set_from_options : seq_product_set_from_options >);
  if constexpr (is_mpi)
    f(&_MatOps::createsubmatrices, for_petsc<mpi_create_submatrices_of_scalars>);
  else
    f(&_MatOps::transposesymbolic, for_petsc<transpose_symbolic_as_aij>);
};

constexpr auto seq = [](const auto& f) {
  common(f);
  f(&_MatOps::duplicate, for_petsc<seq_duplicate>);
  f(&_MatOps::zeroentries, for_petsc<seq_zero_entries>);
  f(&_MatOps::scale, for_petsc<seq_scale>);
  f(&_MatOps::creatempimatconcatenateseqmat, for_petsc<seq_concatenate>);
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getdiagonal, for_petsc<seq_get_diagonal>);
  follow<&_MatOps::invertblockdiagonal, report_host_work>(f);
#endif
};

/// Of one that keeps one triangle. Its option for Hermitian matrices puts other products in place of ours.
template <bool is_mpi>
constexpr auto of_upper = [](const auto& f) {
  f(&_MatOps::setoption, for_petsc<set_option_of_upper<is_mpi>>);
  f(&_MatOps::createsubmatrix, for_petsc<create_submatrix_of_upper>);
  f(&_MatOps::createsubmatrices, for_petsc<create_submatrices_of_upper>);
};

constexpr auto mpi = [](const auto& f) {
  common(f);
  f(&_MatOps::getdiagonalblock, for_petsc<mpi_get_diagonal_block>);
  f(&_MatOps::duplicate, for_petsc<any_duplicate>);
  f(&_MatOps::setoption, for_petsc<mpi_set_option>);
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::getdiagonal, for_petsc<mpi_get_diagonal>);
#endif
};

/// Values by coordinates: of a base type that has no way for them,
constexpr auto own_coo = [](const auto& f) {
  f(OwnFunction<"MatSetPreallocationCOO_C", coo_set_preallocation>{});
  f(OwnFunction<"MatSetValuesCOO_C", coo_set_values>{});
};
/// and of one that has, on the host.
template <bool is_mpi>
constexpr auto coo_for_base = [](const auto& f) {
  f(ReplacedFunction<is_mpi, "MatSetPreallocationCOO_C", coo_set_preallocation>{});
  f(ReplacedFunction<is_mpi, "MatSetValuesCOO_C", coo_set_values>{});
};

/// What changes a matrix and tells too little of it. The operations of several processes write into the arrays of the
/// parts.
template <bool has_blocks, bool is_mpi, auto after>
constexpr auto changing_operations = [](const auto& f) {
  follow<&_MatOps::conjugate, after>(f);
  follow<&_MatOps::realpart, after>(f);
  follow<&_MatOps::imaginarypart, after>(f);
  if constexpr (is_mpi) {
    follow<&_MatOps::zerorows, after>(f);
    follow<&_MatOps::zerorowscolumns, after>(f);
    follow<&_MatOps::diagonalscale, after>(f);
    follow<&_MatOps::scale, after>(f);
    if constexpr (!has_blocks) {  // what BAIJ has is not its own
      follow<&_MatOps::diagonalset, after>(f);
      follow<&_MatOps::setrandom, after>(f);
    }
#if PETSC_VERSION_GE(3, 19, 0)
    if constexpr (!has_blocks || PETSC_VERSION_GE(3, 20, 0)) follow<&_MatOps::eliminatezeros, after>(f);
#endif
  }
};

/// The same of functions. Arrays that they hand out are read or written unseen.
template <const BaseType& base_type, FunctionName preallocation, FunctionName get, FunctionName restore>
constexpr auto seq_block_changes = [](const auto& f) {
  f(FollowedFunction<base_type, preallocation, seq_arrays_are_new,
                     PetscErrorCode(Mat, PetscInt, PetscInt, const PetscInt*)>{});
  f(FollowedFunction<base_type, get, nothing, PetscErrorCode(Mat, PetscScalar**), take_host_values>{});
  f(FollowedFunction<base_type, restore, seq_values_changed, PetscErrorCode(Mat, PetscScalar**)>{});
};
constexpr auto seq_baij_changes =
    seq_block_changes<baij, "MatSeqBAIJSetPreallocation_C", "MatSeqBAIJGetArray_C", "MatSeqBAIJRestoreArray_C">;
constexpr auto seq_sbaij_changes =
    seq_block_changes<sbaij, "MatSeqSBAIJSetPreallocation_C", "MatSeqSBAIJGetArray_C", "MatSeqSBAIJRestoreArray_C">;
template <const BaseType& base_type, FunctionName preallocation>
constexpr auto mpi_block_changes = [](const auto& f) {
  f(FollowedFunction<base_type, preallocation, install_again,
                     PetscErrorCode(Mat, PetscInt, PetscInt, const PetscInt*, PetscInt, const PetscInt*)>{});
};
constexpr auto mpi_baij_changes = mpi_block_changes<baij, "MatMPIBAIJSetPreallocation_C">;
constexpr auto mpi_sbaij_changes = mpi_block_changes<sbaij, "MatMPISBAIJSetPreallocation_C">;
constexpr auto seq_aij_changes = [](const auto& f) {
  using SetRows = PetscErrorCode(Mat, const PetscInt*, const PetscInt*, const PetscScalar*);
  f(FollowedFunction<aij, "MatSeqAIJSetPreallocation_C", seq_arrays_are_new,
                     PetscErrorCode(Mat, PetscInt, const PetscInt*)>{});
  f(FollowedFunction<aij, "MatSeqAIJSetPreallocationCSR_C", seq_arrays_are_new, SetRows>{});
  f(FollowedFunction<aij, "MatSeqAIJSetColumnIndices_C", seq_arrays_are_new, PetscErrorCode(Mat, PetscInt*)>{});
  f(FollowedFunction<aij, "MatResetPreallocation_C", seq_arrays_are_new, PetscErrorCode(Mat)>{});
};
constexpr auto mpi_aij_changes = [](const auto& f) {
  using SetRows = PetscErrorCode(Mat, const PetscInt*, const PetscInt*, const PetscScalar*);
  f(FollowedFunction<aij, "MatMPIAIJSetPreallocation_C", install_again,
                     PetscErrorCode(Mat, PetscInt, const PetscInt*, PetscInt, const PetscInt*)>{});
  f(FollowedFunction<aij, "MatMPIAIJSetPreallocationCSR_C", install_again, SetRows>{});
  f(FollowedFunction<aij, "MatResetPreallocation_C", install_again, PetscErrorCode(Mat)>{});
  f(FollowedFunction<aij, "MatRetrieveValues_C", raise_parts, PetscErrorCode(Mat)>{});
};
template <const BaseType& base_type>
constexpr auto stored_values = [](const auto& f) {
  f(FollowedFunction<base_type, "MatStoreValues_C", nothing, PetscErrorCode(Mat), need_host_values>{});
  f(FollowedFunction<base_type, "MatRetrieveValues_C", seq_values_changed, PetscErrorCode(Mat), take_host_values>{});
};

/// By specialization: sanitizers let no compiler compare addresses.
template <const BaseType& base_type>
constexpr bool keeps_blocks = false;
template <>
constexpr bool keeps_blocks<baij> = true;
template <>
constexpr bool keeps_blocks<sbaij> = true;
template <const BaseType& base_type>
constexpr bool keeps_both_triangles = true;
template <>
constexpr bool keeps_both_triangles<sbaij> = false;

/// Over one base type: lists of operations and of functions.
template <const BaseType& base_type, bool is_mpi>
struct Row {
  static constexpr bool has_blocks = keeps_blocks<base_type>, has_both = keeps_both_triangles<base_type>;
  using StateType = std::conditional_t<is_mpi, MpiState, SeqState>;

  static constexpr auto operations = [](const auto& f) {
    if constexpr (is_mpi)
      mpi(f);
    else
      seq(f);
    if constexpr (!has_both)
      of_upper<is_mpi>(f);
    else if constexpr (has_blocks)
      of_blocks(f);
    else
      of_scalars<is_mpi>(f);
    changing_operations<has_blocks, is_mpi, is_mpi ? raise_parts : seq_values_changed>(f);
    f(&_MatOps::axpy, for_petsc<axpy<base_type, is_mpi>>);
    if constexpr (!is_mpi || !has_both) f(&_MatOps::copy, for_petsc<copy<base_type, is_mpi>>);
    f(&_MatOps::destroy, for_petsc<destroy<base_type, is_mpi>>);
  };
  static constexpr auto functions = [](const auto& f) {
    if constexpr (!is_mpi) stored_values<base_type>(f);
    if constexpr (has_blocks) {
      if constexpr (has_both) {
        is_mpi ? mpi_baij_changes(f) : seq_baij_changes(f);
        own_coo(f);
      } else {
        is_mpi ? mpi_sbaij_changes(f) : seq_sbaij_changes(f);
      }
      f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_by_aij>{});
    } else {
      is_mpi ? mpi_aij_changes(f) : seq_aij_changes(f);
      coo_for_base<is_mpi>(f);
      f(OwnFunction<"MatProductSetFromOptions_anytype_C", product_as_aij>{});
      if constexpr (!is_mpi) f(ReplacedFunction<false, "MatSeqAIJKron_C", kron_as_aij>{});
    }
  };
};

/// Keeps the base type's products, which ours take the place of.
PetscErrorCode keep_base_products(Mat A) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  if (A->ops->mult != for_petsc<mult<Op::none>>) st->base_products.mult = A->ops->mult;
  if (A->ops->multadd != for_petsc<mult_add<Op::none>>) st->base_products.multadd = A->ops->multadd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
PetscErrorCode install_row(Mat A) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(base_type, is_mpi, &base));
  finish_late_set_up(A, *base);
  PetscCall(keep_base_products(A));
  install(A, *base, Row<base_type, is_mpi>::operations);
#if PetscDefined(HAVE_CUDA)
  if (!is_mpi) follow_sor(A, base_type);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
PetscErrorCode uninstall_row(Mat A) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(base_type, is_mpi, &base));
  uninstall(A, *base, Row<base_type, is_mpi>::operations);
  State* st;
  PetscCall(any_state(A, &st));
#if PetscDefined(HAVE_CUDA)
  if (!is_mpi) leave_sor(A, base_type);
#endif
  A->ops->mult = st->base_products.mult;
  A->ops->multadd = st->base_products.multadd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
PetscErrorCode compose_row(Mat A) {
  PetscFunctionBegin;
  PetscCall(compose_all(A, Row<base_type, is_mpi>::functions));
  PetscCall(compose_converters(A, base_type.types(is_mpi)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
PetscErrorCode remove_row(Mat A) {
  PetscFunctionBegin;
  PetscCall(remove_all(A, Row<base_type, is_mpi>::functions));
  PetscCall(remove_converters(A, base_type.types(is_mpi)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const BaseType& base_type, bool is_mpi>
constexpr TypeTable table = {
    [](const BaseType& of) -> State* { return new typename Row<base_type, is_mpi>::StateType(of); },
    install_row<base_type, is_mpi>,
    uninstall_row<base_type, is_mpi>,
    compose_row<base_type, is_mpi>,
    remove_row<base_type, is_mpi>,
    for_petsc<destroy<base_type, is_mpi>>,
};

/// In the order of `base_types`.
constexpr const TypeTable* tables[std::size(base_types)][2] = {{&table<baij, false>, &table<baij, true>},
                                                               {&table<aij, false>, &table<aij, true>},
                                                               {&table<sbaij, false>, &table<sbaij, true>}};

}  // namespace

const TypeTable& table_of(const BaseType& base_type, bool is_mpi) {
  return *tables[std::find(std::begin(base_types), std::end(base_types), &base_type) - std::begin(base_types)][is_mpi];
}

}  // namespace compound::plugin
