// Results of a case, and how they are shown.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "machine.hpp"
#include "options.hpp"

namespace compound::bench {

struct Samples {
  std::int64_t products_a_sample = 1;
  std::vector<double> seconds;  ///< per product, one a round
};

struct CandidateResult {
  std::string name, kind, plan;
  Samples samples;
  double compulsory_bytes = 0;
  double first_pack_s = 0, new_values_s = 0;
  double parent_bytes = 0, packed_bytes = 0;
  double error = 0;          ///< largest difference to the first candidate over its largest component
  double allowed_error = 0;  ///< 0: not checked
};

struct CaseResult {
  std::string description;
  int block_size = 0, ranks = 1;
  std::int64_t block_rows = 0, block_columns = 0, entries = 0, longest_row = 0;
  double value_bytes = 0;
  Samples read;
  double read_bytes = 0;    ///< on all ranks, one pass
  std::string read_kernel;  ///< the instruction set of the sum
  double result_norm = 0;   ///< Euclidean, of the first candidate's product: the same on any number of ranks
  std::vector<CandidateResult> candidates;
  std::size_t baseline = 0;
};

/// Speed relative to the baseline, and bytes per second relative to plain reading; both medians of paired rounds.
double times_baseline(const CaseResult& result, const CandidateResult& candidate);
double share_of_read(const CaseResult& result, const CandidateResult& candidate);

void print_table(std::ostream& out, const CaseResult& result, const Options& options);

/// What every result depends on.
struct Circumstances {
  Machine machine;
  Versions versions;
  std::string date, command_line;
};

/// Whether this build can write JSON.
bool has_json();

/// Throws std::runtime_error if the file cannot be written. The file appears complete or not at all.
void write_json(const std::string& file, const Circumstances& circumstances, const Options& options,
                const std::vector<CaseResult>& results);

}  // namespace compound::bench
