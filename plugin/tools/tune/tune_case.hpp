// One matrix analysed, its plans timed, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "choi.hpp"
#include "measure.hpp"
#include "prepare_case.hpp"
#include "study.hpp"
#include "tune_options.hpp"

namespace compound::bench::tune {

/// "3x3, double" and the like behind the description of a matrix: what results are told apart by.
std::string case_name(const std::string& description, const std::string& block, const std::string& precision);

/// "; about 12 s left", as if each plan took as long as those that are done; empty where nothing is known, or left.
std::string time_left(std::size_t done, std::size_t all, double seconds);

/// The record of a matrix: its analysis, its plans with the fastest first, those without a time, and the best one.
/// `choi`: predicts, too, unless it is null. Throws usage_error where nothing can be measured.
Record tune_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& options, Progress& progress,
                 ChoiModel* choi = nullptr);

/// Of -bytes: the analysis, and what plans would take.
Record count_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& options, Progress& progress);

/// Of -blocks: all block sizes that there are for it, the fewest bytes first.
Record block_sizes(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& options, Progress& progress);

/// Compiles the kernels of its plans, which are kept on disk, and times nothing. How many plans there are.
std::size_t compile_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& options, Progress& progress);

/// Of a plan that has a time: what it and what its samples say beside the rule's plan (which takes 0 where it has no
/// time) and the yardsticks of its case. "late": from 20 samples on.
Record record_of(const Measured& plan, double rule_s, const Record& result);

void print_block_sizes(std::ostream& out, const Record& sizes);
void print_counted(std::ostream& out, const Record& result, const TuneOptions& options);
void print_result(std::ostream& out, const Record& result, const TuneOptions& options);

}  // namespace compound::bench::tune
