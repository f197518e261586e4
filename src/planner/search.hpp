// Search: from a matrix to its plan, by the effort that is asked for. Programs and compound-tune search alike.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/candidates.hpp"
#include "planner/tuner.hpp"

namespace compound {

enum class Effort {
  rule,       ///< the default rule's plan, as it is
  model,      ///< of some plans the one that is predicted to be the fastest; devices only
  wisdom,     ///< what was measured before
  measure,    ///< that, else the plans near the rule's are measured
  exhaustive  ///< the same with all plans there are
};
/// off, model, wisdom, measure, exhaustive: as options and wisdom files name them, in the order of Effort.
std::span<const std::string_view> effort_words();
inline std::string_view word_of(Effort effort) { return effort_words()[static_cast<std::size_t>(effort)]; }

/// The candidates that measuring by an effort goes through.
inline Search candidates_of(Effort effort) { return effort == Effort::exhaustive ? Search::all : Search::near; }

/// What a plan is searched for. All of it must outlive the search.
struct SearchedMatrix {
  const PatternView& pattern;
  const PatternStatistics& numbers;
  const Problem& problem;
  Backend& on;
};

struct SearchOptions {
  Effort effort = Effort::measure;
  std::string layout = "auto";               ///< any other one was asked for: its schedules alone are tried
  std::string library;                       ///< its products are tried, too; empty: no library
  VectorOrder vectors = VectorOrder::petsc;  ///< of Effort::exhaustive
  std::string wisdom;                        ///< the user's file; empty: none is read or written
  PlanLimits limits;
  MeasureLimits measuring;
  double products_expected = std::numeric_limits<double>::infinity();
  double memory_weight = 0;  ///< of best_score(); 0: the fastest plan is wanted
  /// Called after each plan that was measured: what is the best so far, and whether that is new.
  std::function<void(const BestSoFar& best, bool is_new)> report;
};

struct PlansToTry {
  std::vector<Plan> plans;          ///< the base first, then `beside`, then the likely ones first
  std::vector<LargePlan> left_out;  ///< and why
};

/// What an effort measures. `beside`: plans to try, too; those that are within the limits are.
PlansToTry plans_to_try(const SearchedMatrix& m, const Plan& base, const SearchOptions& options,
                        std::span<const Plan> beside = {});

/// measure() of them. Processes of a computer that share a device measure one after the other, if none of them takes
/// longer than a minute.
Measurement measured_in_turn(const SearchedMatrix& m, const std::vector<Plan>& plans, const void* values,
                             const SearchOptions& options);

/// The one to take; null where none has a time.
const Measured* best_of(const Measurement& measurement, double memory_weight);

/// Adds what was measured to the wisdom file. Why it is not kept, in words; empty if it is, or if there is no file.
std::string keep_in_wisdom(const SearchedMatrix& m, const Plan& base, const SearchOptions& options,
                           const Measured& best, double gain);

struct FoundPlan {
  Plan plan;
  std::string origin;                    ///< where it comes from, in words
  Measurement measured = {};             ///< nothing, if nothing was measured
  std::string problem_with_table = {};   ///< why a file of tables of devices was not used, in words
  std::string problem_with_wisdom = {};  ///< why a wisdom file was not used, or not written, in words
};

/// A layout that wisdom has as faster than the one of `asked`, and how many times; 0 where it does not say.
struct FasterLayout {
  std::string layout;
  double times = 0;
};

/// What earlier measuring of this pattern, or of one like it, tells of a layout that was asked for (options.layout).
/// `base`: the plan for any layout.
std::optional<FasterLayout> faster_by_wisdom(const SearchedMatrix& m, const Plan& asked, const Plan& base,
                                             const SearchOptions& options);

/// The plan for a matrix, in the place of `base`: of its kind of entry and precision, and of its layout where one was
/// asked for. `base` where there is nothing to find. `origin`: where that comes from. `values`: all values in host
/// memory, in problem.order; called if something is measured.
FoundPlan search(const SearchedMatrix& m, const Plan& base, const std::string& origin, const SearchOptions& options,
                 const std::function<const void*()>& values);

}  // namespace compound
