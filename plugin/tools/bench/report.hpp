// Results of a case, and how they are shown.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "row_statistics.hpp"

namespace compound::bench {

struct Samples {
  std::int64_t products_a_sample = 1;
  std::vector<double> seconds;  ///< per product, one a round
};

struct CandidateResult {
  std::string name, kind, plan;
  Samples samples;
  std::vector<double> cold_s, graph_s;  ///< per product; empty unless asked for and possible
  double compulsory_bytes = 0;
  double first_pack_s = 0, new_values_s = 0;
  double new_values_there_s = -1;  ///< from blocks on the device; negative: not of this candidate
  double parent_bytes = 0, packed_bytes = 0;
  double slots = 0;          ///< of the packed copy, padding among them; 0: not known
  double error = 0;          ///< largest difference to the first candidate over its largest component
  double allowed_error = 0;  ///< 0: not checked
};

/// How fast this machine moves memory, measured in the rounds of the case.
struct Yardstick {
  Samples samples;
  double bytes = 0;  ///< on all ranks, one pass
  std::string how;   ///< the instruction set of a sum, or where it ran
};

/// Which kind of entry the blocks are, and what finding that out takes.
struct EntryCheck {
  std::string entry;
  std::vector<double> seconds;
};

/// Assembly from coordinates: one matrix type, with the values on one side.
struct CooResult {
  std::string type, values_on;
  double preallocation_s = 0;
  std::vector<double> values_s;        ///< of a call of MatSetValuesCOO
  std::vector<double> with_product_s;  ///< of one, and of the product after it
  double error = 0;                    ///< of a product, as a candidate's
};

/// A Krylov method on a matrix type.
struct KspResult {
  std::string type, ksp, preconditioner;
  double first_s = 0;               ///< of the first solve, with all that is set up but the matrix's packed copy
  std::vector<double> solve_s;      ///< of later ones with as many iterations
  std::vector<double> iteration_s;  ///< of later ones, an iteration
  double residual = 0;              ///< at their end, over the right-hand side
};

/// One layout after the other, each packed alone.
struct LayoutResult {
  CandidateResult result;  ///< without samples where it is left out
  std::string why;         ///< it is left out
};

struct LeftOut {
  std::string name, why;
};

struct CaseResult {
  std::string matrix;       ///< in whatever order its rows are
  std::string description;  ///< the same with its order
  BlockShape block;
  int ranks = 1;
  std::int64_t block_rows = 0, block_columns = 0, entries = 0, longest_row = 0;
  RowQuartiles row_quartiles;
  std::string ordering = "natural";
  double ordering_s = 0;  ///< to find the ordering
  double value_bytes = 0;
  Yardstick read;
  std::optional<Yardstick> copy;  ///< of a device
  double result_norm = 0;         ///< Euclidean, of the first candidate's product: the same on any number of ranks
  std::vector<CandidateResult> candidates;
  std::size_t baseline = 0;
  std::vector<LeftOut> left_out;
  std::vector<LayoutResult> layouts;
  EntryCheck entry_check;
  std::vector<KspResult> ksp;
  std::vector<CooResult> coo;
  double coo_bytes = 0;  ///< of the values of all coordinates
};

/// Speed relative to another candidate, and bytes per second relative to a yardstick; both medians of paired rounds.
double times(const CandidateResult& other, const CandidateResult& candidate);
double times_baseline(const CaseResult& result, const CandidateResult& candidate);
double share_of(const Yardstick& yardstick, const CandidateResult& candidate);

/// Slots an entry.
double padding_of(const CaseResult& result, const CandidateResult& candidate);

/// The fastest by median of cuSPARSE's candidates, and of ours (plans, core plans, compound types); null if there is
/// none. PETSc's aijcusparse is neither.
const CandidateResult* best_of_cusparse(const CaseResult& result);
const CandidateResult* best_of_ours(const CaseResult& result);

/// The fastest of ours that keeps whole blocks; null if there is none.
const CandidateResult* best_of_dense(const CaseResult& result);

void print_table(std::ostream& out, const CaseResult& result, const Options& options);

/// Of a matrix in another order: speed and bytes beside those of the first order in which it was measured.
void print_effect_of_order(std::ostream& out, const std::vector<CaseResult>& results);

/// What every result depends on.
struct Circumstances {
  Machine machine;
  Versions versions;
  std::string date, command_line;
  std::optional<DeviceFacts> device;
};

/// Whether this build can write JSON.
bool has_json();

/// Both throw std::runtime_error if the file cannot be written. It appears complete or not at all.
void write_json(const std::string& file, const Circumstances& circumstances, const Options& options,
                const std::vector<CaseResult>& results);
void write_csv(const std::string& file, const Options& options, const std::vector<CaseResult>& results);

}  // namespace compound::bench
