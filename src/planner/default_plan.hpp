// Which plan a matrix gets by rule, from statistics of its pattern: where nothing was measured.
#pragma once

#include "plan/plan.hpp"

namespace compound {

/// Of stored words; nothing: that of the vectors.
using ValuePrecision = std::optional<Precision>;

/// Whether a rule may give a plan of several.
enum class Parts { one, some };

/// The plan that the default rule of a backend gives for a matrix with entries of this kind.
Plan default_plan(const PatternStatistics& statistics, const Problem& problem, std::string_view backend,
                  std::string_view entry = "dense", ValuePrecision values = {}, Parts parts = Parts::some);

/// Every plan that default_plan() can give for "cuda" and such entries, whatever the pattern: what machine code is made
/// of beforehand (cuda/default_kernels.hpp). In those of two parts longest=1 stands for any number.
std::vector<Plan> default_cuda_plans(const Problem& problem, std::string_view entry);

/// The rule's plan first, then those that measuring might prefer to it: a handful.
std::vector<Plan> near_plans(const PatternStatistics& statistics, const Problem& problem, std::string_view backend,
                             std::string_view entry = "dense", ValuePrecision values = {});

/// A layout as users name it, with the word map and row list that suit it.
Plan plan_for_layout(std::string_view layout, const PatternStatistics& statistics, const Problem& problem,
                     std::string_view backend, std::string_view entry = "dense", ValuePrecision values = {});

/// A plan as users give it: what its line leaves out is the rule's for the layout that it names. Where it names none,
/// that of `base`.
Plan plan_for_line(std::string_view line, const Plan& base, const PatternStatistics& statistics, const Problem& problem,
                   std::string_view backend, std::string_view entry = "dense", ValuePrecision values = {});

/// For the transpose of a pattern whose plan, of one part, is the rule's: the rule's for the transpose, whose rows may
/// be of quite other lengths (a prolongator's transpose has few and long ones). Nothing where another plan was chosen:
/// that serves both.
std::optional<Plan> plan_of_transpose(const Plan& plan, const PatternView& pattern, const PatternView& transposed,
                                      const Problem& problem, std::string_view backend);

}  // namespace compound
