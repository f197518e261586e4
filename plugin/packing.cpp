#include "packing.hpp"

#include "log.hpp"

namespace compound::plugin {

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

}  // namespace

PetscErrorCode refresh(Mat A, SeqState* st) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(block_arrays(A, &b));
  PetscCall(refresh_pattern(A, st, b));
  PetscCall(refresh_values(A, st, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
