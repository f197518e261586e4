#include <filesystem>
#include <fstream>

#include "compare.hpp"
#include "failure.hpp"
#include "tune_case.hpp"

#if defined(COMPOUND_HAVE_JSON)

#include "json_parts.hpp"
#include "text.hpp"

namespace compound::bench::tune {

using nlohmann::ordered_json;

namespace {

constexpr int schema = 1;

std::string shape(const BlockShape& b) { return std::to_string(b.rows) + "x" + std::to_string(b.cols); }

const char* precision_name(Precision p) { return p == Precision::single ? "single" : "double"; }

ordered_json json_of(const Analysis& a) {
  const PatternStatistics& n = a.numbers;
  ordered_json j = {{"block_rows", n.rows},
                    {"block_columns", n.cols},
                    {"blocks", n.entries},
                    {"empty_rows", n.empty_rows},
                    {"mean_row", n.mean_row},
                    {"row_deviation", n.row_deviation},
                    {"scattered", n.scattered},
                    {"bandwidth", n.bandwidth},
                    {"row_lengths", bench::json_of(a.quartiles.lengths)},
                    {"row_bandwidths", bench::json_of(a.quartiles.bandwidths)}};
  if (!a.rule.empty()) j["rule"] = a.rule;
  j["block_sizes"] = ordered_json::array();
  for (const BlockFill& b : a.blocks)
    j["block_sizes"].push_back({{"block", shape(b.block)}, {"fill", b.fill}, {"bytes_of_given", b.of_given}});
  j["layouts"] = ordered_json::array();
  for (const LayoutBytes& l : a.layouts)
    j["layouts"].push_back(l.why.empty()
                               ? ordered_json{{"layout", l.layout}, {"bytes", l.bytes}, {"padding", l.padding}}
                               : ordered_json{{"layout", l.layout}, {"why", l.why}});
  return j;
}

ordered_json json_of(const TuneResult& r, const TunedPlan& p) {
  ordered_json seconds = ordered_json::array(), ratios = ordered_json::array();
  for (const Sample& s : p.measured.samples) {
    seconds.push_back(s.seconds);
    ratios.push_back(s.ratio);
  }
  ordered_json j = {{"plan", p.line},
                    {"median_s", p.median_s()},
                    {"least_s", p.least_s()},
                    {"gbs", r.compulsory_bytes / p.median_s() / 1e9},
                    {"share_of_read", share(r, r.read, p)},
                    {"copy_bytes", p.measured.bytes},
                    {"padding", p.padding},
                    {"packing_s", p.measured.packing_s},
                    {"samples_s", seconds},
                    {"ratios", ratios}};
  if (r.rule_s > 0) j["times_rule"] = r.times_rule(p);
  if (p.predicted_s) j["predicted_s"] = *p.predicted_s;
  if (p.late_s()) j["p95_s"] = *p.late_s();
  if (r.copy) j["share_of_copy"] = share(r, *r.copy, p);
  if (const auto products = pays_off_after(r, p)) j["pays_off_after"] = *products;
  return j;
}

ordered_json json_of(const CountedPlan& p) {
  if (!p.why.empty()) return {{"asked", p.asked}, {"why", p.why}};
  return {{"asked", p.asked},
          {"plan", p.line},
          {"bytes", p.bytes.read.total()},
          {"allocated_bytes", p.bytes.allocated.total()},
          {"padding", p.padding}};
}

ordered_json json_of(const TuneResult& r) {
  ordered_json j = {{"description", r.description}, {"block", shape(r.block)}, {"analysis", json_of(r.analysis)}};
  if (!r.counted.empty()) {
    for (const CountedPlan& p : r.counted) j["counted"].push_back(json_of(p));
    return j;
  }
  j["compulsory_bytes"] = r.compulsory_bytes;
  j["read"] = bench::json_of(r.read);
  if (r.copy) j["copy"] = bench::json_of(*r.copy);
  j["best"] = r.plans[r.best].line;
  if (!r.kept.empty()) j["wisdom"] = r.kept;
  j["timing_s"] = r.timing_s;
  j["packing_s"] = r.packing_s;
  j["products"] = r.products;
  j["plans"] = ordered_json::array();
  for (const TunedPlan& p : r.plans) j["plans"].push_back(json_of(r, p));
  j["without"] = ordered_json::array();
  for (const LeftOut& l : r.without) j["without"].push_back({{"plan", l.name}, {"why", l.why}});
  return j;
}

}  // namespace

void write_tune_json(const std::string& file, const Circumstances& c, const TuneOptions& o, const EarlierCases& earlier,
                     const std::vector<TuneResult>& results) {
  ordered_json j = bench::json_of(c);
  j["schema"] = schema;
  j["search"] = o.search->name;
  j["precision"] = precision_name(o.precision);
  j["cases"] = earlier.json.empty() ? ordered_json::array() : ordered_json::parse(earlier.json);
  for (const TuneResult& r : results) j["cases"].push_back(json_of(r));
  write_json_file(file, j);
}

namespace {

/// Four digits are more than there is in a time.
double rounded(double value) { return std::stod(text("%.4g", value)); }

/// Of every plan its time relative to the rule's plan's, and the number of samples.
ordered_json json_of_screened(const Measurement& m) {
  ordered_json all = ordered_json::array();
  for (const Measured& one : m.all)
    if (one.is_timed()) all.push_back({to_string(one.plan), rounded(one.ratio()), one.samples.size()});
  return all;
}

/// The same with all samples.
ordered_json json_of_samples(const Measurement& m) {
  ordered_json all = ordered_json::array();
  for (const Measured& one : m.all) {
    if (!one.is_timed()) continue;
    ordered_json ratios = ordered_json::array();
    for (const Sample& s : one.samples) ratios.push_back(rounded(s.ratio));
    all.push_back({{"plan", to_string(one.plan)},
                   {"seconds", rounded(one.seconds)},
                   {"bytes", one.bytes},
                   {"packing_s", rounded(one.packing_s)},
                   {"ratios", ratios}});
  }
  return all;
}

ordered_json json_of(const Study& s) {
  ordered_json j;
  for (const TestedPlan& t : s.tested)
    j["tested"].push_back({{"by", t.chosen_by}, {"plan", to_string(t.plan)}, {"of_best", rounded(s.of_best(t))}});
  j["timing_s"] = s.screened.timing_s + s.again.timing_s + s.finals.timing_s;
  j["packing_s"] = s.screened.packing_s + s.again.packing_s + s.finals.packing_s;
  j["finals"] = json_of_samples(s.finals);
  j["again"] = json_of_samples(s.again);
  j["screened"] = json_of_screened(s.screened);
  ordered_json without = ordered_json::array();
  for (const Measured& one : s.screened.all)
    if (!one.is_timed()) without.push_back({to_string(one.plan), one.failure});
  j["without"] = without;
  return j;
}

}  // namespace

void write_study_json(const std::string& file, const Circumstances& c, const TuneOptions& o, const TuneResult& r) {
  ordered_json j = bench::json_of(c);
  j["schema"] = "study 1";
  j["search"] = o.search->name;
  j["precision"] = precision_name(o.precision);
  j["description"] = r.description;
  j["block"] = shape(r.block);
  j["analysis"] = json_of(r.analysis);
  j["compulsory_bytes"] = r.compulsory_bytes;
  j["read"] = bench::json_of(r.read);
  if (r.copy) j["copy"] = bench::json_of(*r.copy);
  j["left_out"] = ordered_json::array();
  for (const LeftOut& l : r.without) j["left_out"].push_back({l.name, l.why});
  j.update(json_of(*r.study));
  write_json_file(file, j, "-study", -1);
}

namespace {

/// What `option` reads, of this program and schema.
ordered_json read_results(const char* option, const std::string& file) {
  std::ifstream in(file);
  ordered_json j = ordered_json::parse(in);
  if (j.at("program") != "compound-tune" || j.at("schema") != schema)
    throw usage_error(std::string(option) + ": '" + file + "' is not of this program's schema " +
                      std::to_string(schema) + "; write it by compound-tune -json");
  return j;
}

[[noreturn]] void refuse_file(const char* option, const std::string& file, const std::exception& e) {
  throw usage_error(std::string(option) + ": '" + file + "' is no JSON file of compound-tune: " + e.what() +
                    "; write it by -json");
}

std::string name_of(const std::string& description, const std::string& block, const std::string& precision) {
  return description + ", blocks of " + block + ", " + precision;
}

}  // namespace

std::string case_name(const std::string& description, BlockShape block, Precision precision) {
  return name_of(description, shape(block), precision_name(precision));
}

EarlierCases read_earlier(const std::string& file, Precision precision) try {
  if (!std::filesystem::exists(file)) return {};
  const ordered_json j = read_results("-resume", file);
  const std::string found = j.at("precision");
  if (found != precision_name(precision))
    throw usage_error("-resume: '" + file + "' is of -precision " + found + "; give that, or another -json");
  EarlierCases earlier;
  for (const ordered_json& c : j.at("cases"))
    earlier.names.push_back(name_of(c.at("description"), c.at("block"), found));
  earlier.json = j.at("cases").dump();
  return earlier;
} catch (const ordered_json::exception& e) {
  refuse_file("-resume", file, e);
}

SavedTimes read_times(const std::string& file) try {
  const ordered_json j = read_results("-compare", file);
  SavedTimes times;
  for (const ordered_json& c : j.at("cases")) {
    const std::string matrix = name_of(c.at("description"), c.at("block"), j.at("precision"));
    for (const ordered_json& p : c.at("plans")) {
      const double seconds = p.at("median_s").get<double>();
      if (!(seconds > 0)) throw usage_error("-compare: '" + file + "': a time is not above 0; write it anew by -json");
      times[matrix].emplace(p.at("plan").get<std::string>(), seconds);
    }
  }
  return times;
} catch (const ordered_json::exception& e) {
  refuse_file("-compare", file, e);
}

}  // namespace compound::bench::tune

#else

namespace compound::bench::tune {

void write_tune_json(const std::string&, const Circumstances&, const TuneOptions&, const EarlierCases&,
                     const std::vector<TuneResult>&) {}
std::string case_name(const std::string& description, BlockShape, Precision) { return description; }
EarlierCases read_earlier(const std::string&, Precision) { return {}; }  // -json is refused before
void write_study_json(const std::string&, const Circumstances&, const TuneOptions&, const TuneResult&) {}

SavedTimes read_times(const std::string&) {
  throw usage_error("-compare: this compound-tune was built without nlohmann-json (Debian: nlohmann-json3-dev)");
}

}  // namespace compound::bench::tune

#endif
