#include "mat_seq.hpp"

#include "kept_settings.hpp"
#include "log.hpp"
#include "overrides.hpp"
#include "types.hpp"
#include "view.hpp"

namespace compound::plugin {

KeptSettings& kept_settings() {
  static KeptSettings kept;
  return kept;
}

namespace {

constexpr bool same_index_width = sizeof(PetscInt) == sizeof(idx);

/// Row starts of an empty matrix, which PETSc may leave unallocated.
constexpr count32 no_rows[] = {0};

/// The parent's integers as a pattern: a view where the widths agree, else `copy`.
PatternView pattern_of(const BlockArrays& b, Pattern& copy) {
  if (b.rows == 0) return {0, static_cast<idx>(b.cols), no_rows, {}};
  if constexpr (same_index_width) {
    const auto entries = static_cast<std::size_t>(b.start[b.rows]);
    const PatternView view{static_cast<idx>(b.rows),
                           static_cast<idx>(b.cols),
                           {reinterpret_cast<const count32*>(b.start), static_cast<std::size_t>(b.rows) + 1},
                           {reinterpret_cast<const idx*>(b.column), entries}};
    check(view);
    return view;
  } else {
    using Wide = std::conditional_t<same_index_width, std::int32_t, std::int64_t>;
    copy =
        pattern_from(b.rows, b.cols, reinterpret_cast<const Wide*>(b.start), reinterpret_cast<const Wide*>(b.column));
    return copy.view();
  }
}

void pack_pattern(SeqState& st, const BlockArrays& b) {
  Pattern copy;
  const PatternView pattern = pattern_of(b, copy);
  const Problem problem{{static_cast<int>(b.block_size), static_cast<int>(b.block_size)}, scalar_type_of<Scalar>()};
  st.packed.reset();
  st.statistics = statistics(pattern);
  const Plan plan = choose_plan(st.settings, st.off_diagonal, st.statistics, problem);
  st.packed.emplace(pattern, problem, plan, backend(st.settings.backend_name()),
                    same_index_width ? PatternLifetime::outlives : PatternLifetime::temporary);
  ++st.counts.pattern_packs;
}

PetscErrorCode refresh_pattern(Mat A, SeqState* st, const BlockArrays& b) {
  PetscFunctionBegin;
  const SeqState::PatternKey key{A->nonzerostate, b.entries(), b.start, b.column, b.block_size, st->settings.version};
  if (st->packed && key == st->pattern_key) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(log_pack(), A, nullptr, nullptr, nullptr));
  PetscCall(guarded(comm_of(A), [&] { pack_pattern(*st, b); }));
  PetscCall(PetscLogEventEnd(log_pack(), A, nullptr, nullptr, nullptr));
  st->pattern_key = key;
  st->values_key = {};
  PetscCall(PetscInfo(A, "%d x %d blocks of %d, %u stored: plan '%s'\n", st->statistics.rows, st->statistics.cols,
                      static_cast<int>(b.block_size), st->statistics.entries, to_string(st->packed->plan()).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_values(Mat A, SeqState* st, const BlockArrays& b) {
  PetscFunctionBegin;
  PetscObjectState state;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  const SeqState::ValuesKey key{state, b.values};
  if (key == st->values_key) PetscFunctionReturn(PETSC_SUCCESS);
  if (st->packed->lies_on_blocks()) {
    PetscCall(guarded(comm_of(A), [&] { st->packed->update_values(b.values); }));
  } else {
    PetscCall(PetscLogEventBegin(log_pack(), A, nullptr, nullptr, nullptr));
    PetscCall(guarded(comm_of(A), [&] { st->packed->update_values(b.values); }));
    PetscCall(PetscLogEventEnd(log_pack(), A, nullptr, nullptr, nullptr));
    ++st->counts.value_packs;
  }
  st->values_key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's flop counts, so that -log_view compares.
PetscLogDouble flops(const SeqState& st, PetscInt bs, Op op, Update update) {
  const double products = 2.0 * st.statistics.entries * bs * bs;
  const bool saves_first_add = op == Op::none && update == Update::assign;
  return products - (saves_first_add ? static_cast<double>(bs) * (st.statistics.rows - st.statistics.empty_rows) : 0.0);
}

PetscErrorCode parent_multiply(Mat A, SeqState* st, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  const bool add = update == Update::add;
  if (op == Op::none) PetscCall(add ? st->parent_multadd(A, x, z, y) : st->parent_mult(A, x, y));
  if (op == Op::transpose)
    PetscCall(add ? parent->ops.multtransposeadd(A, x, z, y) : parent->ops.multtranspose(A, x, y));
  if (op == Op::hermitian)
    PetscCall(add ? parent->ops.multhermitiantransposeadd(A, x, z, y) : parent->ops.multhermitiantranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode packed_multiply(Mat A, SeqState* st, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  const PetscScalar *xa, *za = nullptr;
  PetscScalar* ya;
  const bool in_place = z == y;
  PetscCall(VecGetArrayRead(x, &xa));
  if (z && !in_place) PetscCall(VecGetArrayRead(z, &za));
  if (in_place)
    PetscCall(VecGetArray(y, &ya));
  else
    PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(guarded(comm_of(A), [&] { st->packed->multiply(op, update, xa, in_place ? ya : za, ya); }));
  if (in_place)
    PetscCall(VecRestoreArray(y, &ya));
  else
    PetscCall(VecRestoreArrayWrite(y, &ya));
  if (z && !in_place) PetscCall(VecRestoreArrayRead(z, &za));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscLogFlops(flops(*st, A->rmap->bs, op, update)));
  ++st->counts.products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Op op>
PetscErrorCode mult(Mat A, Vec x, Vec y) {
  return seq_multiply(A, op, Update::assign, x, nullptr, y);
}

template <Op op>
PetscErrorCode mult_add(Mat A, Vec x, Vec z, Vec y) {
  return seq_multiply(A, op, Update::add, x, z, y);
}

PetscErrorCode install_seq(Mat A);

PetscErrorCode assembly_end(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  if (!A->preallocated) PetscCall(MatSetUp(A));
  PetscCall(parent->ops.assemblyend(A, mode));
  if (mode == MAT_FINAL_ASSEMBLY) PetscCall(install_seq(A));
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
  PetscCall(remove_seq_functions(A));
  PetscCall(parent->ops.destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Items>
PetscErrorCode set_from_options(Mat A, Items) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  PetscCall(read_options(A, st->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_op(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->ops.view(A, viewer));
  PetscCall(view_info(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raise_state(Mat A) { return PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)); }

/// An inherited operation after which PETSc (3.18) does not raise the matrix's state.
template <auto Member, class F>
void raising(const F& f) {
  f(Member, Followed<seq_parent, raise_state, Member>::call);
}

constexpr auto overrides = [](const auto& f) {
  f(&_MatOps::mult, mult<Op::none>);
  f(&_MatOps::multadd, mult_add<Op::none>);
  f(&_MatOps::multtranspose, mult<Op::transpose>);
  f(&_MatOps::multtransposeadd, mult_add<Op::transpose>);
  f(&_MatOps::multhermitiantranspose, mult<Op::hermitian>);
  f(&_MatOps::multhermitiantransposeadd, mult_add<Op::hermitian>);
  f(&_MatOps::assemblyend, assembly_end);
  f(&_MatOps::duplicate, duplicate);
  f(&_MatOps::destroy, destroy);
  f(&_MatOps::view, view_op);
  f(&_MatOps::convertfrom, convert_to_compound);
  f(&_MatOps::setfromoptions, [](auto A, auto items) { return set_from_options(A, items); });
  raising<&_MatOps::conjugate>(f);
  raising<&_MatOps::realpart>(f);
  raising<&_MatOps::imaginarypart>(f);
};

/// Puts our operations before the parent's, which picks mult and multadd at each preallocation.
PetscErrorCode install_seq(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  const Parent* parent;
  PetscCall(seq_state(A, &st));
  PetscCall(seq_parent(&parent));
  finish_late_set_up(A, parent->ops);
  if (A->ops->mult != mult<Op::none>) st->parent_mult = A->ops->mult;
  if (A->ops->multadd != mult_add<Op::none>) st->parent_multadd = A->ops->multadd;
  install(A, overrides);
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
  st->pattern_key = {};
  st->values_key = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's does not raise the state, so that values written through the array would go unseen.
PetscErrorCode restore_array(Mat A, PetscScalar** array) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->restore_array(A, array));
  PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode retrieve_values(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(parent->retrieve_values(A));
  PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* base_converters[] = {"seqaij", "seqsbaij", "is", "hypre"};

}  // namespace

bool is_seq_compound(Mat A) { return has_type(A, MATSEQBAIJCOMPOUND); }

PetscErrorCode seq_state(Mat A, SeqState** state) {
  PetscFunctionBegin;
  if (!A->spptr) A->spptr = new SeqState;
  *state = static_cast<SeqState*>(A->spptr);
  if (auto kept = kept_settings().take(A)) {
    kept->version = (*state)->settings.version + 1;
    (*state)->settings = std::move(*kept);
    PetscCall(compose_seq_functions(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_seq_functions(Mat A) {
  PetscFunctionBegin;
  PetscCall(compose(A, "MatSeqBAIJSetPreallocation_C", set_preallocation));
  PetscCall(compose(A, "MatSeqBAIJRestoreArray_C", restore_array));
  PetscCall(compose(A, "MatRetrieveValues_C", retrieve_values));
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
  A->ops->mult = st->parent_mult;
  A->ops->multadd = st->parent_multadd;
  PetscCall(remove_seq_functions(A));
  delete st;
  A->spptr = nullptr;
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(A), MATSEQBAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_prepare(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  if (st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  BlockArrays b;
  PetscCall(block_arrays(A, &b));
  PetscCall(refresh_pattern(A, st, b));
  PetscCall(refresh_values(A, st, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(view_once(A, st->settings));
  if (st->settings.parent_only()) {
    PetscCall(parent_multiply(A, st, op, update, x, z, y));
  } else {
    PetscCall(seq_prepare(A));
    PetscCall(packed_multiply(A, st, op, update, x, z, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 parent_bytes(const BlockArrays& b) {
  const PetscInt64 entries = b.entries();
  return entries * b.block_size * b.block_size * PetscInt64(sizeof(PetscScalar)) +
         (entries + b.rows + 1) * PetscInt64(sizeof(PetscInt));
}

}  // namespace compound::plugin
