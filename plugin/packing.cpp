#include "packing.hpp"

#include <cstdio>

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

/// One copy in the making.
struct Packing {
  Mat A;
  SeqState& st;
  Place place;
  const BlockArrays& b;
  PackedCopy& copy = st.copy(place);
  bool on_device() const { return place == Place::device; }
};

/// The pattern in blocks of the size that was asked for.
PatternView packed_pattern(const SeqState& st, PackedCopy& copy, const PatternView& given, int given_size, int* size) {
  *size = given_size;
  const int wanted = st.settings.packed_block_size(given_size);
  if (wanted == given_size) return given;
  try {
    copy.other_blocks = PackedCopy::OtherBlocks{reblocked(given, given_size, wanted), {}, {}, {}};
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  if (!is_worth_it(st, copy.other_blocks->shape, given)) {
    copy.other_blocks.reset();
    return given;
  }
  *size = wanted;
  return copy.other_blocks->shape.pattern.view();
}

/// Whether having no code for a plan is an error: where somebody asked for it in particular.
bool is_asked_for(const Packing& p) {
  const Settings& s = p.st.settings;
  const bool by_name = s.backend == row_of(p.place).backend;
  if (p.on_device()) return by_name;
  return by_name || !s.plan.empty() || s.layout != "auto" || s.entry != "auto" || p.copy.other_blocks;
}

/// Why the next place is to multiply; empty if this one can. What nobody asked for in particular and we have no code
/// for is the parent's to multiply, as it was before.
std::string why_left_out(const Packing& p, const Plan& plan, const Problem& problem) {
  if (p.on_device() && p.copy.other_blocks && !p.copy.other_blocks->is_full())
    return "packed blocks are not full, so that vectors would have to be regrouped (-mat_compound_block_size)";
  return is_asked_for(p) ? "" : backend(row_of(p.place).backend).applicable(plan, problem).value_or("");
}

/// Where the effort for the plan is to be by measuring: nobody named a plan, and there are blocks to multiply with.
bool is_to_measure(const Packing& p) {
  const Settings& s = p.st.settings;
  return s.tune == "measure" && s.plan.empty() && s.layout == "auto" && !p.copy.other_blocks && p.b.entries() > 0;
}

/// The plan by the effort that was asked for; what was measured stays in the copy, for -info.
Plan tuned_plan(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                const Problem& problem) {
  const std::string_view name = row_of(p.place).backend;
  const Plan rule = choose_plan(p.st.settings, name, p.st.off_diagonal, numbers, problem);
  p.copy.measured.clear();
  if (!is_to_measure(p) || backend(name).applicable(rule, problem)) return rule;
  std::vector<Plan> candidates = near_plans(numbers, problem, name);
  for (Plan& plan : candidates) {
    set_entry(plan, rule.entry);
    plan.values = rule.values;
  }
  const LogSpan span(Event::tune, p.A);
  p.copy.measured = measure(pattern, problem, candidates, backend(name), p.b.values);
  const Measured& best = p.copy.measured.front();
  return best.failure.empty() ? best.plan : rule;
}

void pack_pattern(const Packing& p) {
  Pattern copied;
  int size;
  PackedCopy& copy = p.copy;
  const PatternView given = pattern_of(p.b, copied);
  copy.packed.reset();
  copy.other_blocks.reset();
  p.st.statistics = statistics(given);
  const PatternView pattern = packed_pattern(p.st, copy, given, static_cast<int>(p.b.block_size), &size);
  const Problem problem = copy.problem = {{size, size}, scalar_type_of<Scalar>()};
  const Plan plan = tuned_plan(p, pattern, copy.other_blocks ? statistics(pattern) : p.st.statistics, problem);
  copy.left_out = why_left_out(p, plan, problem);
  if (!copy.left_out.empty()) return;
  copy.packed.emplace(pattern, problem, plan, backend(row_of(p.place).backend),
                      same_index_width || copy.other_blocks ? PatternLifetime::outlives : PatternLifetime::temporary);
  ++p.st.counts.pattern_packs;
}

void pack_values(const Packing& p) {
  PackedCopy& copy = p.copy;
  if (!copy.other_blocks) return copy.packed->update_values(p.b.values);
  Pattern copied;
  PackedCopy::OtherBlocks& other = *copy.other_blocks;
  std::vector<Scalar> values(std::size_t{copy.packed->entries()} * other.shape.to * other.shape.to);
  fill_blocks(other.shape, pattern_of(p.b, copied), reinterpret_cast<const Scalar*>(p.b.values), values.data());
  copy.packed->update_values(values.data());
  if (copy.packed->lies_on_blocks()) other.values = std::move(values);
}

/// The pattern that is packed, once more.
void pack_transposed(const Packing& p) {
  Pattern copied;
  const PatternView pattern = p.copy.other_blocks ? p.copy.other_blocks->shape.pattern.view() : pattern_of(p.b, copied);
  p.copy.packed->prepare_transposed(pattern, p.st.settings.transposed_values());
}

/// Packs by `body`; on a device that has no memory left the copy is given up.
template <class Body>
PetscErrorCode within_memory(const Packing& p, const char* wanted, const Body& body) {
  PetscFunctionBegin;
  if (!p.on_device()) {
    PetscCall(guarded(comm_of(p.A), body));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool enough;
  PetscCall(guarded_memory(comm_of(p.A), &enough, body));
  if (!enough) PetscCall(leave_device(p.A, &p.st, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For -info alone, since it looks at the whole pattern: a mesh with some nodes partly clamped makes PETSc choose block
/// size 1.
PetscErrorCode suggest_block_size(const Packing& p) {
  PetscFunctionBegin;
  const auto& [A, st, place, b, copy] = p;
  PetscBool told;
  PetscCall(PetscInfoEnabled(MAT_CLASSID, &told));
  if (!told || st.off_diagonal || b.block_size != 1 || copy.other_blocks) PetscFunctionReturn(PETSC_SUCCESS);
  int size = 1;
  PetscCall(guarded(comm_of(p.A), [&] {
    Pattern copied;
    size = dense_block_size(pattern_of(p.b, copied), 0.8);
  }));
  if (size > 1)
    PetscCall(PetscInfo(A,
                        "The matrix has block size 1, but its rows come in nearly dense blocks of %d: "
                        "-mat_compound_block_size %d packs them as such\n",
                        size, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f us", 1e6 * seconds);
  return text;
}

/// What -info tells of a copy that was just made, or was not.
PetscErrorCode tell_of_pattern(const Packing& p) {
  PetscFunctionBegin;
  if (!p.copy.packed) {
    PetscCall(PetscInfo(p.A, "Products are left to %s: %s\n", row_of(p.place).next, p.copy.left_out.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PatternStatistics& s = p.st.statistics;
  PetscCall(suggest_block_size(p));
  for (const Measured& m : p.copy.measured)
    PetscCall(PetscInfo(p.A, "Measured: %s %s%s\n", to_string(m.plan).c_str(),
                        m.failure.empty() ? microseconds(m.seconds).c_str() : "failed: ", m.failure.c_str()));
  PetscCall(PetscInfo(p.A, "%d x %d blocks of %d, %u stored: plan '%s'\n", s.rows, s.cols,
                      static_cast<int>(p.b.block_size), s.entries, to_string(p.copy.packed->plan()).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a device needs beside a copy's integers: they have travelled, and code for the plan.
PetscErrorCode follow_to_device(const Packing& p) {
  PetscFunctionBegin;
  if (!p.on_device() || !p.copy.packed) PetscFunctionReturn(PETSC_SUCCESS);
  PackedMatrix& packed = *p.copy.packed;
  PetscCall(log_upload(packed.bytes().integers));
  PetscCall(logged(Event::compile, p.A, [&] { return within_memory(p, "for code", [&] { packed.compile(); }); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_pattern(const Packing& p) {
  PetscFunctionBegin;
  const BlockArrays& b = p.b;
  PackedCopy& copy = p.copy;
  const PackedCopy::PatternKey key{p.A->nonzerostate, b.entries(),  b.start,
                                   b.column,          b.block_size, p.st.settings.version};
  if ((copy.packed || !copy.left_out.empty()) && key == copy.pattern_key) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      logged(Event::pack, p.A, [&] { return within_memory(p, "for a packed pattern", [&] { pack_pattern(p); }); }));
  copy.pattern_key = key;
  copy.values_key = {};
  PetscCall(follow_to_device(p));
  PetscCall(tell_of_pattern(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_values(const Packing& p) {
  PetscFunctionBegin;
  PackedCopy& copy = p.copy;
  PetscObjectState state;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(p.A), &state));
  const PackedCopy::ValuesKey key{state, p.b.values};
  if (!copy.packed || key == copy.values_key) PetscFunctionReturn(PETSC_SUCCESS);
  const auto pack = [&] { return within_memory(p, "for packed values", [&] { pack_values(p); }); };
  if (copy.packed->lies_on_blocks() && !copy.other_blocks) {
    PetscCall(pack());
  } else {
    PetscCall(logged(p.on_device() ? Event::upload : Event::pack, p.A, pack));
    ++p.st.counts.value_packs;
  }
  if (p.on_device() && copy.packed) {
    const auto size = static_cast<std::size_t>(copy.problem.block.rows);
    PetscCall(log_upload(copy.packed->entries() * size * size * sizeof(Scalar)));
  }
  copy.values_key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_transposed(const Packing& p, Op op) {
  PetscFunctionBegin;
  if (op == Op::none || !p.on_device() || !p.copy.packed || p.copy.packed->has_transposed())
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      logged(Event::pack, p.A, [&] { return within_memory(p, "for the transpose", [&] { pack_transposed(p); }); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::size_t PackedCopy::bytes() const {
  return (packed ? packed->bytes().total() : 0) + (other_blocks ? other_blocks->bytes() : 0);
}

std::size_t PackedCopy::OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values) + of(x) + of(y) + of(shape.pattern.start) + of(shape.pattern.column);
  for (const Grouping* g : {&shape.rows, &shape.cols}) all += of(g->start) + of(g->group_of);
  return all;
}

void multiply(const PackedCopy& copy, Op op, Update update, const PetscScalar* x, const PetscScalar* z,
              PetscScalar* y) {
  const auto* other = copy.other_blocks ? &*copy.other_blocks : nullptr;
  if (!other || other->is_full()) return copy.packed->multiply(op, update, x, z, y);
  const Grouping& of_x = op == Op::none ? other->shape.cols : other->shape.rows;
  const Grouping& of_y = op == Op::none ? other->shape.rows : other->shape.cols;
  other->x.resize(std::size_t{1} * of_x.groups() * of_x.block);
  other->y.resize(std::size_t{1} * of_y.groups() * of_y.block);
  to_groups(of_x, reinterpret_cast<const Scalar*>(x), other->x.data());
  if (update == Update::add) to_groups(of_y, reinterpret_cast<const Scalar*>(z), other->y.data());
  copy.packed->multiply(op, update, other->x.data(), update == Update::add ? other->y.data() : nullptr,
                        other->y.data());
  from_groups(of_y, other->y.data(), reinterpret_cast<Scalar*>(y));
}

PetscErrorCode leave_device(Mat A, SeqState* st, const char* wanted) {
  PetscFunctionBegin;
  PackedCopy& copy = st->copy(Place::device);
  copy.packed.reset();
  copy.other_blocks.reset();
  st->buffers = {};
  copy.left_out = std::string("the device has no memory left ") + wanted;
  PetscCall(PetscInfo(A, "Products run on the host: %s\n", copy.left_out.c_str()));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "petsc-compound: products of a matrix of %" PetscInt_FMT
                         " local rows run on the host from now on: %s\n",
                         A->rmap->n, copy.left_out.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_pattern(Mat A, SeqState* st, Place place) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(block_arrays(A, &b));
  const Packing p{A, *st, place, b};
  if (p.on_device()) PetscCall(begin_device_work(backend(row_of(place).backend)));
  PetscCall(refresh_pattern(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode keep_filled(Mat A, SeqState* st, int raises) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscObjectState state;
  PetscCall(block_arrays(A, &b));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  st->copy(Place::device).values_key = {state + raises, b.values};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh(Mat A, SeqState* st, Place place, Op op) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(block_arrays(A, &b));
  const Packing p{A, *st, place, b};
  if (p.on_device()) PetscCall(begin_device_work(backend(row_of(place).backend)));
  PetscCall(refresh_pattern(p));
  PetscCall(refresh_values(p));
  PetscCall(refresh_transposed(p, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
