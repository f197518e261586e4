// What compound-tune was asked to do.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core_source.hpp"
#include "options.hpp"
#include "planner/candidates.hpp"
#include "planner/search.hpp"

namespace compound::bench::tune {

enum class Mode { measure, merge, list, compare, calibrate };

/// Of -mat_compound_tune those that measure, and none.
inline const OptionWords<Effort> search_words = {
    {"measure", Effort::measure}, {"exhaustive", Effort::exhaustive}, {"off", Effort::rule}};
/// Of plans whose vectors programs cannot have, too.
inline const OptionWords<VectorOrder> vector_words = {{"petsc", VectorOrder::petsc}, {"all", VectorOrder::any}};
/// As -mat_compound_precision has them.
inline const OptionWords<Precision> precision_words = {{"double", Precision::double_}, {"single", Precision::single}};

/// Beside those of a case: the matrix, one file at a time.
struct TuneOptions : Options {
  Mode mode = Mode::measure;
  std::vector<std::string> files;  ///< of -matrix; empty: generated
  Effort search = Effort::measure;
  VectorOrder vectors = VectorOrder::petsc;
  double padding_limit = most_padding;  ///< slots an entry
  double products = std::numeric_limits<double>::infinity(), seconds = 10;
  int samples = MeasureLimits{}.samples;
  Precision precision = Precision::double_;
  int top = 20;
  std::string wisdom;              ///< empty: none
  std::vector<std::string> named;  ///< files of -merge, -list, -compare, -calibrate
  double threshold = 1.05;
  std::string study;                    ///< folder; empty: none
  std::vector<std::string> more_plans;  ///< lines to time beside those of the search
  std::vector<std::string> counted;     ///< plans of -bytes; empty: measure
  std::string choi;                     ///< file of parameters of that model; empty: it predicts nothing
  bool compile = false, blocks = false, pareto = false, resume = false;
  double budget_s = 10;
  std::string library;                                              ///< whose products are timed, too; empty: none
  bool reproducible = true;                                         ///< these give the same bits each time
  double most_megabytes = std::numeric_limits<double>::infinity();  ///< of a packed copy
  double memory_weight = 0;                                         ///< best_score()

  /// Whether the plan to take may not be the fastest.
  bool weighs_memory() const { return memory_weight > 0 || most_megabytes < std::numeric_limits<double>::infinity(); }

  /// Of the scalars: "double", "single" (stored ones alone), "float" (vectors, too).
  std::string_view scalars() const { return core_float ? "float" : word_of(precision_words, precision); }

  /// As a program's search would have them.
  SearchOptions search_options() const;
};

PetscErrorCode show_tune_help(MPI_Comm comm);
OptionNames tune_option_names();

/// Throws usage_error.
TuneOptions read_tune_options();

/// The options of one run of cases: each file, or the generated matrices.
std::vector<TuneOptions> runs_of(const TuneOptions& options);

}  // namespace compound::bench::tune
