// The record of a case: what compares its candidates, and how it is shown.
#pragma once

#include "options.hpp"
#include "record.hpp"

namespace compound::bench {

/// Bytes per second of a record with both.
void add_speed(Record& record, const char* bytes);

/// Adds to the candidates and layouts of a case what relates them: to the candidate that is the baseline, to the
/// yardsticks "read" and "copy", and to the fastest of cuSPARSE's and of those that keep whole blocks.
void relate(Record& result, std::size_t baseline);

/// The median over the rounds of how many times as fast as another one it was.
double times(const Record& other, const Record& candidate);
/// Its compulsory bytes per second over those of a yardstick.
double share_of(const Record& yardstick, const Record& candidate);

/// The fastest by median of cuSPARSE's candidates, of ours (plans, core plans, compound types), and of ours that keep
/// whole blocks; null if there is none. PETSc's aijcusparse is neither of the first two.
const Record* best_of_cusparse(const Record& result);
const Record* best_of_ours(const Record& result);
const Record* best_of_dense(const Record& result);

void print_case(std::ostream& out, const Record& result, const Options& options);

/// Of the last case, where its matrix is in another order: speed and bytes beside those of the first order in which it
/// was measured.
void print_effect_of_order(std::ostream& out, const Record& cases);

/// The files of -json and -csv, where they were asked for.
void write_results(const Options& options, const Record& run);

}  // namespace compound::bench
