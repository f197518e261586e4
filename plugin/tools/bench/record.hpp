// Results as records, which are JSON objects: what JSON files, CSV files and printed tables are made from.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace compound::bench {

using Record = nlohmann::ordered_json;

struct Statistics {
  double median = 0, least = 0, most = 0;
  double spread = 0;  ///< interquartile range over the median: how much of a difference is noise
};

/// Quantile q in [0, 1] of at least one sample, linear between neighbours.
double quantile(std::span<const double> samples, double q);

/// Of at least one sample.
Statistics statistics_of(std::span<const double> samples);

/// Median over the rounds of base[round] / samples[round]: what two neighbours in time saw of the machine's other work
/// cancels. Both of one length, at least 1.
double paired_ratio(std::span<const double> base, std::span<const double> samples);

/// Seconds of a product, one a round, and their statistics.
Record record_of_samples(const std::vector<double>& seconds, std::int64_t products_a_sample);
/// The samples of such a record.
std::vector<double> samples_of(const Record& record);

/// A column of a table: a member of each row, times `scale`, over another member.
struct Column {
  std::string title;
  int width;  ///< 0: as wide as the widest cell, to the left
  const char* member;
  const char* format = "%s";  ///< of numbers; cells are "-" where a row has no such member
  double scale = 1;
  const char* over = nullptr;
  bool optional = false;  ///< left out where no row has it
};

/// Below the titles a line for each row, or why it is left out ("why") in the place of its numbers.
void print_rows(std::ostream& out, std::vector<Column> columns, const Record& rows);

/// A column of comma-separated values (RFC 4180), empty where a line has no such member.
struct CsvColumn {
  const char* title;
  const char* member = title;
};

// Files appear complete or not at all. All throw std::runtime_error, naming the option, if one cannot be written.
void write_csv(const std::string& file, std::span<const CsvColumn> columns, const std::vector<Record>& lines);
/// `indent`: -1 is one line.
void write_json(const std::string& file, const Record& content, const std::string& option = "-json", int indent = 2);

/// The regular file that is to be written: a link stays and its target is written. Throws usage_error, naming the
/// option, where no such file can be.
std::string output_file(const std::string& option, const std::string& given);

/// "a folder", "a named pipe" and the like; empty for a regular file, for nothing at all, and for what cannot be asked.
std::string what_else_than_file(const std::string& path);

/// "2026-11-21T10:00:00Z"
std::string date_now();

/// What every result depends on: program, date, command line, machine, versions, and the device where there is one.
Record circumstances(int argc, char** argv);

}  // namespace compound::bench
