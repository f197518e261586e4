#include "spmv/choices.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "petsc/log.hpp"
#include "petsc/warnings.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"
#include "planner/search.hpp"

namespace compound::plugin {

namespace {

/// Whether having no code for a plan is an error: where an option asks for it in particular. A kind of a user's own may
/// have code for one memory space only: the other then does without. `dense` asks for no kind to be looked for.
bool is_asked_for(const Settings& s, MemorySpace space, bool of_other_blocks) {
  if (space == MemorySpace::device) return s.backend == BackendChoice::cuda;
  const bool of_any_place = s.names_kind() && !entry_kind(s.entry).user_defined;
  return s.backend == BackendChoice::host || s.names_layout() || of_any_place || of_other_blocks;
}

/// How the plan of a part is asked for: where it comes from before it is tuned, and by which option.
struct PlanRequest {
  std::string origin;
  const char* option;
};
PlanRequest plan_request(const Packing& p) {
  const Settings& s = p.st.settings;
  if (!s.plan_of_part(p.st.off_diagonal).empty()) return {"asked for as a plan", " (-mat_compound_plan)"};
  if (!s.layout.empty()) return {"asked for as layout " + s.layout, " (-mat_compound_layout)"};
  return {"default heuristic", ""};
}

/// Why single scalars are the base type's to multiply; empty where they are not.
std::string why_scalars_stay(const Packing& p) {
  const Settings& s = p.st.settings;
  if (p.st.base_type.keeps_blocks || p.problem().block != BlockShape{1, 1} || p.space == MemorySpace::device) return "";
  if (is_asked_for(s, p.space, false) || s.tune != Effort::rule || s.precision) return "";
  return "its rows are of single scalars, which the base type multiplies as fast";
}

/// Of the first rows of a matrix whose values lie on a device.
std::string_view entry_of_first_rows(Packing& p, const PatternView& pattern) {
  constexpr count32 few = 1024;
  const auto enough = std::ranges::lower_bound(pattern.start, few);
  const auto rows = std::min(static_cast<idx>(enough - pattern.start.begin()), pattern.rows);
  const count32 entries = pattern.start[rows];
  std::vector<Scalar> values(entries * scalars_in(p.problem().block));
  p.st.matrix_values.read_first(p.A, values.size(), values.data());
  const PatternView first{rows, pattern.cols, pattern.start.first(rows + std::size_t{1}),
                          pattern.column.first(entries)};
  return cheapest_entry(first, p.problem(), backend("host"), values.data());
}

/// Where the values lie on a device, a few of them are looked at on the host first: most matrices are dense, and that
/// is seen at once, without code for the device, and without all values on the host.
std::string_view entry_of_values(Packing& p, const PatternView& pattern) {
  const Problem problem = p.problem();
  const Scalar* const there = p.values_on_device();
  if (there && entry_of_first_rows(p, pattern) == "dense") return "dense";
  if (!there || problem.order == ValueOrder::rows) return cheapest_entry(pattern, problem, backend("host"), p.values());
  return cheapest_entry(problem, p.backend(), there, pattern.entries(), Memory::backend);
}

bool has_code(const Packing& p, const Plan& plan) { return !why_not(plan, p.problem(), p.backend()); }

/// The plan that the settings ask for, by rule where they leave it open: then none that pads too much or owns too much
/// memory: `capped` then says which that would be, in words. `found` is the kind of entry where none was asked for.
/// Throws `argument` when what was asked for does not fit it.
Plan plan_from_settings(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                        std::string_view found, std::string* capped) {
  const Settings& s = p.st.settings;
  const Problem problem = p.problem();
  const std::string_view backend = row_of(p.space).backend;
  const std::string_view entry = s.entry.empty() ? found : s.entry;
  const bool by_rule = s.layout.empty() && s.plan_of_part(p.st.off_diagonal).empty();
  if (problem.upper)
    return plan_for_line(is_hermitian(p.A) ? "csr half=hermitian" : "csr half=symmetric", Plan{}, numbers, problem,
                         backend, entry, s.precision);
  Plan base = s.plan_of_layout(numbers, problem, backend, entry);
  const auto pads = [&] { return too_much_padding(pattern, problem, base, s.most_padding).has_value(); };
  if (by_rule && !base.later.empty() && pads())
    base = default_plan(numbers, problem, backend, entry, s.precision, Parts::one);
  if (by_rule && pads()) base = plan_for_layout("csr", numbers, problem, backend, entry, s.precision);
  capped->clear();
  const PlanLimits limits = s.limits();
  const auto owns = [&](const Plan& plan) {
    return too_much_memory(pattern, problem, plan, compound::backend(backend), limits);
  };
  if (const auto why = by_rule && limits.bytes < PlanLimits{}.bytes ? owns(base) : std::nullopt) {
    base = plan_for_layout("csr", numbers, problem, backend, entry, s.precision);
    // Dense blocks may lie on the matrix's own arrays.
    const Plan dense = plan_for_layout("csr", numbers, problem, backend, "dense", s.precision);
    if (s.entry.empty() && owns(base) && !owns(dense)) base = dense;
    *capped = *why;
  }
  const std::string_view text = s.plan_of_part(p.st.off_diagonal);
  return text.empty() ? base : plan_for_line(text, base, numbers, problem, backend, entry, s.precision);
}

/// Without measuring, for the kind of entry that the values are found to be of, where that is to be found. `capped`: as
/// of plan_from_settings().
ChosenPlan plan_for_values(Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                           std::string* capped) {
  ChosenPlan chosen;
  std::string_view entry = "dense";
  const auto with = [&](std::string_view found) { return plan_from_settings(p, pattern, numbers, found, capped); };
  if (p.st.settings.finds_entry(p.st.off_diagonal)) {
    const auto begin = std::chrono::steady_clock::now();
    entry = entry_of_values(p, pattern);
    chosen.seconds_of_finding = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    chosen.finds_entry = chosen.fits = true;
  }
  chosen.plan = with(entry);
  if (chosen.finds_entry && !has_code(p, chosen.plan)) chosen.plan = with("dense");
  return chosen;
}

/// Once for all matrices: it is a matter of the program's environment.
void warn_of_tables(const Settings& s, const std::string& problem) {
  if (problem.empty() || !s.warn) return;
  (void)warn_once(Once::device_tables,
                  "COMPOUND_DEVICES is not used, the built-in tuning tables of devices are: " + problem);
}

/// Prints each plan that is better than those before it, and the end: processes tune their parts by themselves.
void monitor(const BestSoFar& best, bool is_new) {
  if (is_new || best.has_all()) (void)PetscPrintf(PETSC_COMM_SELF, "compound tuning: %s\n", best.text().c_str());
}

/// Puts the plan that the settings' effort (-mat_compound_tune) finds in the place of the chosen one; its origin says
/// how, or why not.
void tune(Packing& p, const PatternView& pattern, const PatternStatistics& numbers, ChosenPlan* chosen) {
  const Settings& s = p.st.settings;
  const bool is_given = !s.plan_of_part(p.st.off_diagonal).empty();
  const bool reads_triangle = p.problem().upper;
  if (is_given || reads_triangle || p.b.entries() == 0) {
    chosen->origin += is_given         ? " (not tuned: a plan was asked for)"
                      : reads_triangle ? " (not tuned: products read the upper triangle where it lies)"
                                       : " (not tuned: there are no blocks)";
    return;
  }
  SearchOptions options = s.search_options();
  if (s.tune_monitor) options.report = monitor;
  const LogSpan span(Event::tune, p.A);
  FoundPlan found = search({pattern, numbers, p.problem(), p.backend()}, chosen->plan, chosen->origin, options,
                           [&] { return p.values(); });
  warn_of_tables(s, found.problem_with_table);
  chosen->plan = found.plan;
  chosen->origin = found.origin;
  chosen->problem_with_wisdom = found.problem_with_wisdom;
  chosen->measured = std::move(found.measured.all);
}

}  // namespace

std::string block_size_hint(const Settings& s, const BaseType& base_type, const BlockArrays& b) try {
  constexpr double worth_telling = 0.9;
  if (s.block_size.way != BlockSize::of_matrix || b.block != BlockShape{1, 1} || b.rows == 0)
    return "";  // larger ones gain little more
  Pattern copied;
  const DetectedBlock found = found_block(s, false, pattern_of(b, copied), 1);
  if (found.bytes >= worth_telling * found.bytes_as_given) return "";
  const std::string size = text_of(found.block),
                    share = std::to_string(std::lround(100 * found.bytes / found.bytes_as_given));
  const std::string seen = "the matrix has block size 1, but its rows seem to come in blocks of " + size +
                           ", which take " + share + " % of the bytes";
  if (base_type.keeps_blocks)
    return seen + ": -mat_compound_block_size " + size + " packs them as such, find looks for the size";
  const std::string r = std::to_string(found.block.rows), c = std::to_string(found.block.cols);
  return seen + " and are packed as such: MatSetBlockSizes(A, " + r + ", " + c +
         ") tells preconditioners and products of matrices of them, too";
} catch (const error&) {
  return "";
}

std::string layout_hint(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                        const Plan& plan) try {
  const Settings& s = p.st.settings;
  if (s.layout.empty() || !s.plan_of_part(p.st.off_diagonal).empty() || p.on_device() || p.b.entries() == 0) return "";
  const Problem problem = p.problem();
  const Plan base = default_plan(numbers, problem, row_of(p.space).backend, plan.entry, s.precision);
  if (base.layout.preset == plan.layout.preset) return "";
  const auto faster = faster_by_wisdom({pattern, numbers, problem, p.backend()}, plan, base, s.search_options());
  if (!faster)
    return "the default here is " + layout_name(base.layout) + ", on the host seldom slower than layout " + s.layout;
  char times[48] = "by wisdom";
  if (faster->times > 0) std::snprintf(times, sizeof(times), "about %.1f times, by wisdom", faster->times);
  return "layout " + s.layout + " is slower here than " + faster->layout + " (" + times + ")";
} catch (const error&) {
  return "";
}

std::string option_of_plan(const Packing& p) { return plan_request(p).option; }

void check_entry_asked_for(const Packing& p) {
  const std::string& asked = p.st.settings.entry;
  if (asked.empty() || !p.st.settings.plan.empty()) return;
  const std::string misfit = entry_kind(asked).why_not(p.problem().scalar.field, p.problem().block);
  if (!misfit.empty())
    throw error(ErrorKind::argument,
                misfit +
                    " (-mat_compound_entry); leave the block format to auto, ask for dense, or regroup "
                    "the blocks by -mat_compound_block_size");
}

std::string why_refused(const Packing& p, const PatternView& pattern, const Plan& plan) {
  const Settings& s = p.st.settings;
  const Problem problem = p.problem();
  const std::string by = plan_request(p).option;
  if (const auto padding = too_much_padding(pattern, problem, plan, s.most_padding))
    return *padding + by + "; -mat_compound_padding_limit none lets it through";
  const PlanLimits limits = s.limits();
  if (limits.bytes == PlanLimits{}.bytes) return "";
  const auto memory = too_much_memory(pattern, problem, plan, p.backend(), limits);
  return memory ? *memory + by + "; raise -mat_compound_memory_limit, or leave the layout to the default heuristic"
                : "";
}

std::string why_left_out(const Packing& p, const PatternView& pattern, const Plan& plan) {
  const Settings& s = p.st.settings;
  if (is_asked_for(s, p.space, p.copy.other_blocks() != nullptr)) return "";
  if (const auto why = why_scalars_stay(p); !why.empty()) return why;
  const Backend& on = p.backend();
  if (const auto why = on.applicable(plan, p.problem())) return *why;
  const auto memory = too_much_memory(pattern, p.problem(), plan, on, s.limits());
  return memory ? *memory + " (-mat_compound_memory_limit)" : "";
}

ChosenPlan choose_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers) {
  std::string capped;
  ChosenPlan chosen;
  try {
    chosen = plan_for_values(p, pattern, numbers, &capped);
  } catch (const error& e) {
    if (e.kind() != ErrorKind::argument) throw;
    throw error(e.kind(), std::string(e.what()) + plan_request(p).option);
  }
  chosen.origin = plan_request(p).origin;
  if (!capped.empty()) chosen.origin += " within -mat_compound_memory_limit (" + capped + ")";
  if (p.st.settings.tune != Effort::rule) tune(p, pattern, numbers, &chosen);
  return chosen;
}

}  // namespace compound::plugin
