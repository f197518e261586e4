#include "record.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>

#include "failure.hpp"
#include "text.hpp"

namespace compound::bench {

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) throw std::invalid_argument("statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Statistics statistics_of(std::span<const double> samples) {
  Statistics s;
  s.median = quantile(samples, 0.5);
  s.least = quantile(samples, 0);
  s.most = quantile(samples, 1);
  s.spread = s.median == 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / s.median;
  return s;
}

double paired_ratio(std::span<const double> base, std::span<const double> samples) {
  if (base.size() != samples.size()) throw std::invalid_argument("ratios of different numbers of rounds");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples.size(); ++i) ratios.push_back(samples[i] > 0 ? base[i] / samples[i] : 0);
  return quantile(ratios, 0.5);
}

Record record_of_samples(const std::vector<double>& seconds, std::int64_t products_a_sample) {
  const Statistics s = statistics_of(seconds);
  return {{"median_s", s.median}, {"least_s", s.least},   {"most_s", s.most},
          {"spread", s.spread},   {"samples_s", seconds}, {"products_a_sample", products_a_sample}};
}

std::vector<double> samples_of(const Record& record) { return record.at("samples_s").get<std::vector<double>>(); }

namespace {

std::string cell(const Record& row, const Column& c) {
  if (!row.contains(c.member)) return "-";
  const Record& value = row.at(c.member);
  if (value.is_string()) return value.get<std::string>();
  const double below = c.over ? row.value(c.over, 0.0) : 1;
  return text(c.format, below > 0 ? c.scale * value.get<double>() / below : 0.0);
}

std::string padded(const std::string& cell, int width) { return text("%*s", width, cell.c_str()); }

}  // namespace

void print_rows(std::ostream& out, std::vector<Column> columns, const Record& rows) {
  std::erase_if(columns, [&](const Column& c) {
    return c.optional && std::ranges::none_of(rows, [&](const Record& row) { return row.contains(c.member); });
  });
  for (Column& c : columns) {
    if (c.width != 0) continue;
    c.width = -static_cast<int>(c.title.size());
    for (const Record& row : rows) c.width = std::min(c.width, -static_cast<int>(cell(row, c).size()));
  }
  const auto line = [&](const auto& cell_of) {
    for (const Column& c : columns)
      out << (&c == &columns.front() ? "" : " ")
          << padded(cell_of(c), &c == &columns.back() ? std::max(c.width, 0) : c.width);
    out << "\n";
  };
  line([](const Column& c) { return c.title; });
  for (const Record& row : rows) {
    if (row.contains("why"))
      out << padded(cell(row, columns.front()), columns.front().width) << " left out: " << row.value("why", "") << "\n";
    else
      line([&](const Column& c) { return cell(row, c); });
  }
}

namespace {

void write_output(const std::string& option, const std::string& file, const std::string& text) {
  const std::string unfinished = file + ".part";
  std::ofstream out(unfinished);
  out << text;
  out.close();
  if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0)
    throw std::runtime_error(option + ": cannot write '" + file + "'");
}

std::string csv_cell(const Record& line, const char* member) {
  if (!line.contains(member)) return "";
  const Record& value = line.at(member);
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

void write_csv(const std::string& file, std::span<const CsvColumn> columns, const std::vector<Record>& lines) {
  std::string text;
  for (const CsvColumn& c : columns) text += (text.empty() ? "" : ",") + std::string(c.title);
  for (const Record& line : lines)
    for (const CsvColumn& c : columns) text += (&c == columns.data() ? "\n" : ",") + csv_cell(line, c.member);
  write_output("-csv", file, text + "\n");
}

void write_json(const std::string& file, const Record& content, const std::string& option, int indent) {
  // Paths and options may be in any encoding; JSON is UTF-8.
  write_output(option, file, content.dump(indent, ' ', false, Record::error_handler_t::replace) + "\n");
}

namespace fs = std::filesystem;

namespace {

std::string what_else(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::fifo:
      return "a named pipe";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::character:
    case fs::file_type::block:
      return "a device";
    case fs::file_type::symlink:
      return "a symbolic link";
    default:
      return "";
  }
}

}  // namespace

std::string what_else_than_file(const std::string& path) {
  std::error_code failed;
  return what_else(fs::status(path, failed));
}

std::string output_file(const std::string& option, const std::string& given) {
  std::error_code failed;
  const auto must_be_file = [&](const std::string& path, const fs::file_status& status) {
    if (const std::string what = what_else(status); !what.empty())
      throw usage_error(option + ": '" + path + "' is " + what + ", not a regular file; choose another file");
  };
  must_be_file(given, fs::status(given, failed));
  std::string file = given;
  if (fs::is_symlink(fs::symlink_status(given, failed))) {
    file = fs::canonical(given, failed).string();
    if (failed) throw usage_error(option + ": '" + given + "' is a symbolic link to nothing; choose a file");
  }
  must_be_file(file + ".part", fs::symlink_status(file + ".part", failed));
  if (!std::ofstream(file + ".part"))
    throw usage_error(option + ": cannot write '" + given + "'; choose a file in a folder that exists and is writable");
  return file;
}

}  // namespace compound::bench
