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

/// Ghost columns may come one by one: the off-diagonal part then stays as it is, unless the kind of entry needs the
/// blocks.
bool is_worth_it(const SeqState& st, const Reblocked& r, const PatternView& given) {
  const bool needed = st.settings.entry != "auto" && st.settings.entry != "dense";
  return !st.off_diagonal || needed || r.fill(given.entries()) >= 0.5;
}

/// The pattern in blocks of the size that was asked for.
PatternView packed_pattern(SeqState& st, const PatternView& given, int given_size, int* size) {
  *size = given_size;
  const int wanted = st.settings.packed_block_size(given_size);
  if (wanted == given_size) return given;
  try {
    st.other_blocks = SeqState::OtherBlocks{reblocked(given, given_size, wanted), {}, {}, {}};
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  if (!is_worth_it(st, st.other_blocks->shape, given)) {
    st.other_blocks.reset();
    return given;
  }
  *size = wanted;
  return st.other_blocks->shape.pattern.view();
}

/// What nobody asked for in particular and we have no code for is the parent's to multiply, as it was before; empty if
/// we have.
std::string why_left_to_parent(const SeqState& st, const Plan& plan, const Problem& problem) {
  const Settings& s = st.settings;
  const bool asked =
      !s.plan.empty() || s.layout != "auto" || s.entry != "auto" || s.backend != "auto" || st.other_blocks;
  return asked ? "" : backend(s.backend_name()).applicable(plan, problem).value_or("");
}

void pack_pattern(SeqState& st, const BlockArrays& b) {
  Pattern copy;
  int size;
  const PatternView given = pattern_of(b, copy);
  st.packed.reset();
  st.other_blocks.reset();
  st.statistics = statistics(given);
  const PatternView pattern = packed_pattern(st, given, static_cast<int>(b.block_size), &size);
  const Problem problem{{size, size}, scalar_type_of<Scalar>()};
  const Plan plan =
      choose_plan(st.settings, st.off_diagonal, st.other_blocks ? statistics(pattern) : st.statistics, problem);
  st.left_to_parent = why_left_to_parent(st, plan, problem);
  if (!st.left_to_parent.empty()) return;
  st.packed.emplace(pattern, problem, plan, backend(st.settings.backend_name()),
                    same_index_width || st.other_blocks ? PatternLifetime::outlives : PatternLifetime::temporary);
  ++st.counts.pattern_packs;
}

void pack_values(SeqState& st, const BlockArrays& b) {
  if (!st.other_blocks) return st.packed->update_values(b.values);
  Pattern copy;
  SeqState::OtherBlocks& other = *st.other_blocks;
  std::vector<Scalar> values(std::size_t{st.packed->entries()} * other.shape.to * other.shape.to);
  fill_blocks(other.shape, pattern_of(b, copy), reinterpret_cast<const Scalar*>(b.values), values.data());
  st.packed->update_values(values.data());
  if (st.packed->lies_on_blocks()) other.values = std::move(values);
}

/// For -info alone, since it looks at the whole pattern: a mesh with some nodes partly clamped makes PETSc choose block
/// size 1.
PetscErrorCode suggest_block_size(Mat A, const SeqState& st, const BlockArrays& b) {
  PetscFunctionBegin;
  PetscBool told;
  PetscCall(PetscInfoEnabled(MAT_CLASSID, &told));
  if (!told || st.off_diagonal || b.block_size != 1 || st.other_blocks) PetscFunctionReturn(PETSC_SUCCESS);
  int size = 1;
  PetscCall(guarded(comm_of(A), [&] {
    Pattern copy;
    size = dense_block_size(pattern_of(b, copy), 0.8);
  }));
  if (size > 1)
    PetscCall(PetscInfo(A,
                        "The matrix has block size 1, but its rows come in nearly dense blocks of %d: "
                        "-mat_compound_block_size %d packs them as such\n",
                        size, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_pattern(Mat A, SeqState* st, const BlockArrays& b) {
  PetscFunctionBegin;
  const SeqState::PatternKey key{A->nonzerostate, b.entries(), b.start, b.column, b.block_size, st->settings.version};
  if ((st->packed || !st->left_to_parent.empty()) && key == st->pattern_key) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(log_pack(), A, nullptr, nullptr, nullptr));
  PetscCall(guarded(comm_of(A), [&] { pack_pattern(*st, b); }));
  PetscCall(PetscLogEventEnd(log_pack(), A, nullptr, nullptr, nullptr));
  st->pattern_key = key;
  st->values_key = {};
  if (!st->packed) {
    PetscCall(PetscInfo(A, "Products are left to the parent type: %s\n", st->left_to_parent.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(suggest_block_size(A, *st, b));
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
  if (st->packed->lies_on_blocks() && !st->other_blocks) {
    PetscCall(guarded(comm_of(A), [&] { pack_values(*st, b); }));
  } else {
    PetscCall(PetscLogEventBegin(log_pack(), A, nullptr, nullptr, nullptr));
    PetscCall(guarded(comm_of(A), [&] { pack_values(*st, b); }));
    PetscCall(PetscLogEventEnd(log_pack(), A, nullptr, nullptr, nullptr));
    ++st->counts.value_packs;
  }
  st->values_key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::size_t SeqState::OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values) + of(x) + of(y) + of(shape.pattern.start) + of(shape.pattern.column);
  for (const Grouping* g : {&shape.rows, &shape.cols}) all += of(g->start) + of(g->group_of);
  return all;
}

void multiply(const SeqState& st, Op op, Update update, const PetscScalar* x, const PetscScalar* z, PetscScalar* y) {
  const auto* other = st.other_blocks ? &*st.other_blocks : nullptr;
  if (!other || (other->shape.rows.is_full() && other->shape.cols.is_full()))
    return st.packed->multiply(op, update, x, z, y);
  const Grouping& of_x = op == Op::none ? other->shape.cols : other->shape.rows;
  const Grouping& of_y = op == Op::none ? other->shape.rows : other->shape.cols;
  other->x.resize(std::size_t{1} * of_x.groups() * of_x.block);
  other->y.resize(std::size_t{1} * of_y.groups() * of_y.block);
  to_groups(of_x, reinterpret_cast<const Scalar*>(x), other->x.data());
  if (update == Update::add) to_groups(of_y, reinterpret_cast<const Scalar*>(z), other->y.data());
  st.packed->multiply(op, update, other->x.data(), update == Update::add ? other->y.data() : nullptr, other->y.data());
  from_groups(of_y, other->y.data(), reinterpret_cast<Scalar*>(y));
}

PetscErrorCode refresh(Mat A, SeqState* st) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(block_arrays(A, &b));
  PetscCall(refresh_pattern(A, st, b));
  if (st->packed) PetscCall(refresh_values(A, st, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
