#include "choices.hpp"

#include <algorithm>
#include <chrono>

#include "entry_choice.hpp"
#include "log.hpp"

namespace compound::plugin {

namespace {

/// Row starts of an empty matrix, which PETSc may leave unallocated.
constexpr count32 no_rows[] = {0};

/// Ghost columns may come one by one: the off-diagonal part then stays as it is, unless the kind of entry needs the
/// blocks.
bool is_worth_it(const SeqState& st, const Reblocked& r, const PatternView& given) {
  const bool needed = st.settings.entry != "auto" && st.settings.entry != "dense";
  return !st.off_diagonal || needed || r.fill(given.entries()) >= 0.5;
}

/// Whether having no code for a plan is an error: where somebody asked for it in particular. A kind of a user's own may
/// have code for one place only: the other then does without. `dense` asks for no kind to be looked for.
bool is_asked_for(const Packing& p) {
  const Settings& s = p.st.settings;
  const bool of_any_place = s.entry != "auto" && s.entry != "dense" && !entry_kind(s.entry).user_defined;
  const bool by_name = s.backend == row_of(p.place).backend;
  if (p.on_device()) return by_name;
  return by_name || !s.plan.empty() || s.layout != "auto" || of_any_place || p.copy.other_blocks;
}

/// How the plan of a part is asked for: where it comes from if it is not measured, why it then is not, by which option.
struct Wish {
  std::string origin;
  const char *why_not_measured, *option;
};
Wish wish(const Packing& p) {
  const Settings& s = p.st.settings;
  if (!s.plan_of_part(p.st.off_diagonal).empty())
    return {"asked for as a plan", "a plan was asked for", " (-mat_compound_plan)"};
  if (s.layout != "auto")
    return {"asked for as layout " + s.layout, "a layout was asked for", " (-mat_compound_layout)"};
  return {"by rule", "", ""};
}

/// Why measuring, although asked for, is not for this copy; empty if it is.
std::string why_not_measured(const Packing& p, const Plan& rule) {
  if (const char* why = wish(p).why_not_measured; *why) return why;
  if (p.copy.other_blocks) return "packed blocks are not of the matrix's size";
  if (p.b.entries() == 0) return "there are no blocks";
  return backend(row_of(p.place).backend).applicable(rule, p.copy.problem).value_or("");
}

/// Where the values lie on a device, a few of them are looked at on the host first: most matrices are dense, and that
/// is seen at once and without code for the device.
std::string_view entry_of_values(Packing& p, count32 entries) {
  const Problem& problem = p.copy.problem;
  constexpr count32 few = 1024;
  Backend& host = backend("host");
  const Scalar* const blocks = packed_blocks(p);
  const bool there = p.on_backend && !p.copy.other_blocks;
  const std::string_view entry = cheapest_entry(problem, host, blocks, there ? std::min(entries, few) : entries);
  if (!there || entry == "dense") return entry;
  return cheapest_entry(problem, backend(row_of(p.place).backend), p.on_backend, entries, Memory::backend);
}

/// The kind that `auto` stands for.
std::string_view found_entry(Packing& p, const PatternView& pattern) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string_view entry = entry_of_values(p, pattern.entries());
  p.copy.seconds_of_finding = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  p.fits = true;
  return entry;
}

bool has_code(const Packing& p, const Plan& plan) {
  return !applicable(plan, p.copy.problem) && !backend(row_of(p.place).backend).applicable(plan, p.copy.problem);
}

Plan plan_by_rule(Packing& p, const PatternView& pattern, const PatternStatistics& numbers) {
  const Settings& s = p.st.settings;
  const auto with = [&](std::string_view found) {
    return choose_plan(s, row_of(p.place).backend, p.st.off_diagonal, numbers, p.copy.problem, found);
  };
  p.fits = false;
  p.copy.finds_entry = s.finds_entry(p.st.off_diagonal);
  const Plan plan = with(p.copy.finds_entry ? found_entry(p, pattern) : "dense");
  return p.copy.finds_entry && !has_code(p, plan) ? with("dense") : plan;
}

}  // namespace

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

PatternView packed_pattern(Packing& p, const PatternView& given, int* size) {
  PackedCopy& copy = p.copy;
  const int given_size = *size = static_cast<int>(p.b.block_size);
  const int wanted = p.st.settings.packed_block_size(given_size);
  if (wanted == given_size) return given;
  try {
    copy.other_blocks = PackedCopy::OtherBlocks{reblocked(given, given_size, wanted), {}, {}, {}};
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  if (!is_worth_it(p.st, copy.other_blocks->shape, given)) {
    copy.other_blocks.reset();
    return given;
  }
  *size = wanted;
  return copy.other_blocks->shape.pattern.view();
}

std::string block_size_hint(const BlockArrays& b) {
  if (b.block_size != 1 || b.rows == 0) return "";
  const int size = likely_block_size<PetscInt>({b.start, static_cast<std::size_t>(b.rows) + 1}, b.column, 0.8);
  if (size == 1) return "";
  const std::string n = std::to_string(size);
  return "the matrix has block size 1, but its rows seem to come in nearly dense blocks of " + n +
         ": -mat_compound_block_size " + n + " packs them as such";
}

const Scalar* packed_blocks(Packing& p) {
  const auto* const given = reinterpret_cast<const Scalar*>(p.b.values);
  if (!p.copy.other_blocks) return given;
  if (p.regrouped.empty()) {
    Pattern copied;
    const Reblocked& shape = p.copy.other_blocks->shape;
    p.regrouped.resize(shape.pattern.column.size() * static_cast<std::size_t>(shape.to) * shape.to);
    fill_blocks(shape, pattern_of(p.b, copied), given, p.regrouped.data());
  }
  return p.regrouped.data();
}

std::string option_of_plan(const Packing& p) { return wish(p).option; }

void check_entry_asked_for(const Packing& p) {
  const std::string& asked = p.st.settings.entry;
  if (asked == "auto" || !p.st.settings.plan.empty()) return;
  const std::string misfit = entry_kind(asked).why_not(p.copy.problem.scalar.field, p.copy.problem.block);
  if (!misfit.empty())
    throw error(ErrorKind::argument, misfit +
                                         " (-mat_compound_entry); leave the kind to auto, ask for dense, or regroup "
                                         "the blocks by -mat_compound_block_size");
}

std::string why_left_out(const Packing& p, const Plan& plan) {
  if (p.on_device() && p.copy.other_blocks && !p.copy.other_blocks->is_full())
    return "packed blocks are not full, so that vectors would have to be regrouped (-mat_compound_block_size)";
  return is_asked_for(p) ? "" : backend(row_of(p.place).backend).applicable(plan, p.copy.problem).value_or("");
}

Plan chosen_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers) {
  const std::string_view name = row_of(p.place).backend;
  const Plan rule = plan_by_rule(p, pattern, numbers);
  p.copy.measured.clear();
  p.copy.origin = wish(p).origin;
  if (p.st.settings.tune != "measure") return rule;
  if (const std::string why = why_not_measured(p, rule); !why.empty()) {
    p.copy.origin += " (not measured: " + why + ")";
    return rule;
  }
  std::vector<Plan> candidates = near_plans(numbers, p.copy.problem, name, rule.entry);
  for (Plan& plan : candidates) plan.values = rule.values;
  const LogSpan span(Event::tune, p.A);
  p.copy.measured = measure(pattern, p.copy.problem, candidates, backend(name), p.b.values);
  const Measured& best = p.copy.measured.front();
  p.copy.origin = best.failure.empty() ? "by measurement" : "by rule (no plan could be measured: " + best.failure + ")";
  return best.failure.empty() ? best.plan : rule;
}

Misfit misfit_at(Packing& p, count32 entry) {
  Pattern copied;
  const int size = p.copy.problem.block.rows;
  const auto* const other = p.copy.other_blocks ? &p.copy.other_blocks->shape : nullptr;
  const PatternView pattern = other ? other->pattern.view() : pattern_of(p.b, copied);
  const auto after = std::upper_bound(pattern.start.begin(), pattern.start.end(), entry);
  const auto row = static_cast<idx>(after - pattern.start.begin()) - 1, column = pattern.column[entry];
  const std::string_view kind = p.copy.packed->plan().entry;
  const Scalar* const block = packed_blocks(p) + std::size_t{entry} * size * size;
  return {std::string(kind), size, other ? other->rows.start[row] : PetscInt{row} * size,
          other ? other->cols.start[column] : PetscInt{column} * size, found_in(block, kind, p.copy.problem)};
}

}  // namespace compound::plugin
