// One matrix analysed, its plans timed, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "pattern/block_size.hpp"
#include "prepare_case.hpp"
#include "report.hpp"
#include "study.hpp"
#include "tune_options.hpp"

namespace compound::bench::tune {

/// A block size that the matrix could be packed in, by a sample of its rows.
struct BlockFill {
  BlockShape block;
  double fill = 0;      ///< given scalars over stored ones
  double of_given = 0;  ///< bytes over those in the given blocks
};

struct LayoutBytes {
  std::string layout;
  double bytes = 0;    ///< that products read
  double padding = 0;  ///< slots an entry
  std::string why;     ///< there is no such plan, in words
};

struct Analysis {
  PatternStatistics numbers;
  RowQuartiles quartiles;
  std::vector<BlockFill> blocks;     ///< the fewest bytes first; none where blocks are not square
  std::vector<LayoutBytes> layouts;  ///< the fewest bytes first
  std::string rule;                  ///< its plan
};

/// A plan that is not packed.
struct CountedPlan {
  std::string asked;  ///< as -bytes has it
  std::string line;   ///< the whole plan
  Footprint bytes = {};
  double padding = 0;    ///< slots an entry
  std::string why = {};  ///< there is no such plan, in words
};

struct TunedPlan {
  std::string line;
  Measured measured;
  double padding = 0;                      ///< slots an entry
  std::optional<double> predicted_s = {};  ///< by the model, of devices

  double median_s() const;
  double least_s() const;
  /// Of 20 samples and more.
  std::optional<double> late_s() const;
};

struct TuneResult {
  std::string description;
  BlockShape block;
  Analysis analysis;
  std::vector<CountedPlan> counted;  ///< of -bytes; then nothing below
  std::vector<TunedPlan> plans;      ///< the fastest first
  std::vector<LeftOut> without;      ///< plans without a time
  std::size_t best = 0;              ///< in `plans`: the one to take
  double gain = 1;                   ///< its speed relative to the rule's plan; 1 where that has no time
  double rule_s = 0;                 ///< of the rule's plan; 0 where it has no time
  double compulsory_bytes = 0;
  double timing_s = 0, packing_s = 0, products = 0;
  Yardstick read;
  std::optional<Yardstick> copy;  ///< of a device
  std::string kept;               ///< what became of the wisdom file, in words; empty: none was named
  std::optional<Study> study;     ///< of -study: `plans` are its finalists

  /// Speed relative to the rule's plan, by the median of the ratios, which a machine that changes its speed does not
  /// change; 0 where that has no time.
  double times_rule(const TunedPlan& plan) const { return rule_s / plan.measured.seconds; }
};

/// Compulsory bytes per second over those of a yardstick.
double share(const TuneResult& result, const Yardstick& yardstick, const TunedPlan& plan);

/// The plans that no other one beats in time and in bytes of its copy, the fastest first: places in `plans`.
std::vector<std::size_t> pareto(const std::vector<TunedPlan>& plans);

/// Products after which a plan has won back what packing it takes; empty where it is not faster than the rule's.
std::optional<double> pays_off_after(const TuneResult& result, const TunedPlan& plan);

/// With the order of its rows.
std::string description_of(const CaseSpec& spec, const Options& matrix);

/// Throws usage_error where nothing can be measured.
TuneResult tune_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& options,
                     Progress& progress);

/// Of all block sizes that there are for it, the fewest bytes first.
std::vector<BlockFill> block_sizes(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, Progress& progress);
void print_block_sizes(std::ostream& out, const std::vector<BlockFill>& sizes);

/// Of -bytes: the analysis, and what plans would take.
TuneResult count_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& options,
                      Progress& progress);

/// Compiles the kernels of its plans, which are kept on disk, and times nothing. How many plans there are.
std::size_t compile_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& options,
                         Progress& progress);

void print_result(std::ostream& out, const TuneResult& result, const TuneOptions& options);
void print_counted(std::ostream& out, const TuneResult& result, const TuneOptions& options);

/// Cases of a JSON file of an earlier run.
struct EarlierCases {
  std::vector<std::string> names;  ///< case_name() of each
  std::string json;                ///< an array of them; empty: none
};
std::string case_name(const std::string& description, BlockShape block, Precision precision);
/// None where there is no such file. Throws usage_error where it is not one of compound-tune's, or of another
/// precision.
EarlierCases read_earlier(const std::string& file, Precision precision);
/// The earlier cases, then these.
void write_tune_json(const std::string& file, const Circumstances& circumstances, const TuneOptions& options,
                     const EarlierCases& earlier, const std::vector<TuneResult>& results);
/// One matrix of a study, compact.
void write_study_json(const std::string& file, const Circumstances& circumstances, const TuneOptions& options,
                      const TuneResult& result);
void write_tune_csv(const std::string& file, const std::vector<TuneResult>& results);

}  // namespace compound::bench::tune
