#include "mat_seq.hpp"

#include "common_operations.hpp"
#include "coo.hpp"
#include "packing.hpp"

namespace compound::plugin {

KeptSettings& kept_settings() {
  static KeptSettings kept;
  return kept;
}

namespace {

PetscErrorCode install_seq(Mat A);

PetscErrorCode assembly_end(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(set_up_for_assembly(A));
  PetscCall(parent->ops.assemblyend(A, mode));
  if (mode != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(install_seq(A));
  SeqState* st;
  PetscCall(seq_state(A, &st));
  if (st->copy(Place::device).is_filled) PetscCall(keep_filled(A, st, 1));  // MatAssemblyEnd() raises the state yet
  st->copy(Place::device).is_filled = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat* B) {
  PetscFunctionBegin;
  SeqState* st;
  const Parent* parent;
  PetscCall(seq_state(A, &st));
  PetscCall(seq_parent(&parent));
  PetscCall(parent->ops.duplicate(A, option, B));
  PetscCall(adopt_seq(*B, st->settings, st->off_diagonal));
  set_bound(*B, is_bound(A));
  PetscCall(keep_coo(A, *B));
  // PETSc leaves a duplicate with the products of any block size; ours may as well have this block size's.
  SeqState* copy;
  PetscCall(seq_state(*B, &copy));
  copy->parent_mult = st->parent_mult;
  copy->parent_multadd = st->parent_multadd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  if (auto* st = static_cast<SeqState*>(A->spptr)) keep_or_forget(A, st->settings);
  delete static_cast<SeqState*>(A->spptr);
  A->spptr = nullptr;
  if (!header_is_merging(A)) PetscCall(remove_seq_functions(A));  // else there is no list of them just now
  PetscCall(parent->ops.destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raise_state(Mat A) { return PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)); }

struct SeqType {
  using State = SeqState;
  static PetscErrorCode parent(const Parent** p) { return seq_parent(p); }
  static PetscErrorCode state(Mat A, SeqState** st) { return seq_state(A, st); }
  static PetscErrorCode multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
    return seq_multiply(A, op, update, x, z, y);
  }
  static PetscErrorCode adopt(Mat A, const Settings& settings) { return adopt_seq(A, settings); }
  static PetscErrorCode raise(Mat A) { return raise_state(A); }
  static constexpr auto get_diagonal = seq_get_diagonal;
};
using Common = CommonOperations<SeqType>;

constexpr auto overrides = [](const auto& f) {
  Common::list(f);
  f(&_MatOps::assemblyend, assembly_end);
  f(&_MatOps::duplicate, duplicate);
  f(&_MatOps::destroy, destroy);
#if PetscDefined(HAVE_CUDA)
  f(&_MatOps::invertblockdiagonal, Followed<seq_parent, tell_of_host_work, &_MatOps::invertblockdiagonal>::call);
#endif
};

/// Puts our operations before the parent's, which picks mult and multadd at each preallocation.
PetscErrorCode install_seq(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  const Parent* parent;
  PetscCall(seq_state(A, &st));
  PetscCall(seq_parent(&parent));
  finish_late_set_up(A, parent->ops);
  if (A->ops->mult != Common::mult<Op::none>) st->parent_mult = A->ops->mult;
  if (A->ops->multadd != Common::mult_add<Op::none>) st->parent_multadd = A->ops->multadd;
  install(A, overrides);
#if PetscDefined(HAVE_CUDA)
  follow_sor(A);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_preallocation(Mat A, PetscInt bs, PetscInt nz, const PetscInt* nnz) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->set_preallocation(A, bs, nz, nnz));
  PetscCall(install_seq(A));
  // New arrays may come to lie where the old ones were, and no state tells of them.
  SeqState* st;
  PetscCall(seq_state(A, &st));
  for (PackedCopy& copy : st->copies) {
    copy.pattern_key = {};
    copy.values_state = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's does not raise the state, so that values written through the array would go unseen.
PetscErrorCode restore_array(Mat A, PetscScalar** array) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->restore_array(A, array));
  PetscCall(raise_state(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode retrieve_values(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->retrieve_values(A));
  PetscCall(raise_state(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* base_converters[] = {"seqaij", "seqsbaij", "is", "hypre"};

}  // namespace

bool is_seq_compound(Mat A) { return has_type(A, MATSEQBAIJCOMPOUND); }

PetscErrorCode seq_state(Mat A, SeqState** state) { return state_of(A, compose_seq_functions, state); }

PetscErrorCode compose_seq_functions(Mat A) {
  PetscFunctionBegin;
  PetscCall(compose(A, "MatSeqBAIJSetPreallocation_C", set_preallocation));
  PetscCall(compose(A, "MatSeqBAIJRestoreArray_C", restore_array));
  PetscCall(compose(A, "MatRetrieveValues_C", retrieve_values));
  PetscCall(compose(A, "MatProductSetFromOptions_anytype_C", product_by_aij));
  PetscCall(compose_coo(A));
  PetscCall(compose_converters(A, MATSEQBAIJ, MATSEQBAIJCOMPOUND, base_converters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_seq_functions(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(compose(A, "MatSeqBAIJSetPreallocation_C", parent->set_preallocation));
  PetscCall(compose(A, "MatSeqBAIJRestoreArray_C", parent->restore_array));
  PetscCall(compose(A, "MatRetrieveValues_C", parent->retrieve_values));
  PetscCall(compose(A, "MatProductSetFromOptions_anytype_C", nullptr));
  PetscCall(remove_coo(A));
  PetscCall(remove_converters(A, MATSEQBAIJCOMPOUND, base_converters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode adopt_seq(Mat A, const Settings& settings, bool off_diagonal) {
  PetscFunctionBegin;
  const bool new_here = !is_seq_compound(A);
  if (new_here) {
    A->spptr = new SeqState;
    PetscCall(install_seq(A));
    PetscCall(compose_seq_functions(A));
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(A), MATSEQBAIJCOMPOUND));
    set_bound(A, false);
  }
  SeqState* st;
  PetscCall(seq_state(A, &st));
  st->settings = settings;
  st->off_diagonal = off_diagonal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode release_seq(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  const Parent* parent;
  PetscCall(seq_state(A, &st));
  PetscCall(seq_parent(&parent));
  uninstall(A, parent->ops, overrides);
#if PetscDefined(HAVE_CUDA)
  leave_sor(A);
#endif
  A->ops->mult = st->parent_mult;
  A->ops->multadd = st->parent_multadd;
  PetscCall(remove_seq_functions(A));
  delete st;
  A->spptr = nullptr;
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(A), MATSEQBAIJ));
  set_bound(A, true);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 parent_bytes(const BlockArrays& b) {
  const PetscInt64 entries = b.entries(), words = b.values ? PetscInt64{b.block_size} * b.block_size : 0;
  return entries * words * PetscInt64(sizeof(PetscScalar)) + (entries + b.rows + 1) * PetscInt64(sizeof(PetscInt));
}

}  // namespace compound::plugin
