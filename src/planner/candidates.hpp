// Candidates: the plans that a search goes through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/packed.hpp"

namespace compound {

/// `few`: the rule's plan and those that were the fastest on several matrices; on the host the same as `near`. `near`:
/// those and the plans near the rule's. `all`: those and whole products of layouts and schedules, on devices
/// search_of_2019() and more.
enum class Search { few, near, all };

/// How vectors may lie: as PETSc's do, or in any order that a layout's inner order knows.
enum class VectorOrder { petsc, any };

/// The applicable plans for a matrix, `base` first, each once, with its kind of entry and its precision of values. None
/// that is added is coded (codes=): values that come later may have no code. Those by a library (library_products.hpp),
/// where one is named, come right after the rule's: they are known to be asked for.
std::vector<Plan> candidates(Search search, const Plan& base, const PatternStatistics& statistics,
                             const Problem& problem, const Backend& backend, VectorOrder vectors = VectorOrder::petsc,
                             std::string_view library = {});

/// Why none of a library's products can multiply this matrix, in words; empty where one can.
std::string why_no_library_plan(std::string_view library, const Plan& base, const PatternStatistics& statistics,
                                const Problem& problem, const Backend& backend);

/// For a device, the whole search of Mueller-Roemer, Stork and Fellner 2019 (section 4.3) alone, with the rest of the
/// plan as in `base`: 960 plans of dense blocks on PETSc's vectors, 1,920 on any.
std::vector<Plan> search_of_2019(const Plan& base, const Problem& problem, const Backend& backend, VectorOrder vectors);

/// The applicable plans that differ from `given`, the first, in the schedule alone.
std::vector<Plan> schedules(Search search, const Plan& given, const Problem& problem, const Backend& backend);

/// A plan that need not be packed to be out.
struct LargePlan {
  Plan plan;
  std::string why;
  bool by_memory = false;  ///< it would own too much, and is out for nothing else
};

/// Leaves those out, but for the first, that are beyond the limits, or, unless all are asked for, whose products read a
/// third more than those of the first: where memory is what takes the time no schedule makes up for it.
std::vector<LargePlan> leave_out_large(std::vector<Plan>& candidates, const PatternView& pattern,
                                       const Problem& problem, const Backend& backend, const PlanLimits& limits,
                                       Search search = Search::near);

}  // namespace compound
