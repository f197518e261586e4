#include "report.hpp"

#if defined(COMPOUND_HAVE_JSON)

#include "failure.hpp"
#include "json_parts.hpp"
#include "output_file.hpp"
#include "statistics.hpp"

namespace compound::bench {

using nlohmann::ordered_json;

bool has_json() { return true; }

namespace {

ordered_json json_of(const Machine& m) {
  return {{"processor", m.processor},   {"cores", m.cores},   {"caches", m.caches},
          {"huge_pages", m.huge_pages}, {"system", m.system}, {"host", m.host}};
}

ordered_json json_of(const Versions& v) {
  return {{"petsc_compound", v.plugin},     {"petsc", v.petsc},
          {"petsc_scalar", v.petsc_scalar}, {"petsc_index_bits", v.petsc_index_bits},
          {"petsc_debug", v.petsc_debug},   {"petsc_configuration", v.petsc_configuration},
          {"compiler", v.compiler},         {"mpi", v.mpi}};
}

ordered_json json_of(const DeviceFacts& d) {
  return {{"name", d.name},
          {"capability", d.capability},
          {"memory_bytes", d.memory_bytes},
          {"cache_bytes", d.cache_bytes},
          {"driver", d.driver},
          {"runtime", d.runtime}};
}

ordered_json json_of(const Samples& samples) {
  const Statistics s = statistics_of(samples.seconds);
  return {{"median_s", s.median}, {"least_s", s.least},           {"most_s", s.most},
          {"spread", s.spread},   {"samples_s", samples.seconds}, {"products_a_sample", samples.products_a_sample}};
}

}  // namespace

ordered_json json_of(const Yardstick& y) {
  ordered_json j = json_of(y.samples);
  const double median_s = statistics_of(y.samples.seconds).median;
  j["bytes"] = y.bytes;
  j["gbs"] = median_s > 0 ? y.bytes / median_s / 1e9 : 0;
  j["kernel"] = y.how;
  return j;
}

ordered_json json_of(const Quartiles& q) {
  return {{"least", q.least}, {"lower", q.lower}, {"median", q.median}, {"upper", q.upper}, {"most", q.most}};
}

ordered_json json_of(const Circumstances& c) {
  ordered_json j = {{"program", program_name()},
                    {"date", c.date},
                    {"command_line", c.command_line},
                    {"machine", json_of(c.machine)},
                    {"versions", json_of(c.versions)}};
  if (c.device) j["device"] = json_of(*c.device);
  return j;
}

void write_json_file(const std::string& file, const ordered_json& content, const std::string& option, int indent) {
  // Paths and options may be in any encoding; JSON is UTF-8.
  write_output(option, file, content.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

namespace {

ordered_json json_of(const CooResult& c) {
  return {{"type", c.type},
          {"values_on", c.values_on},
          {"preallocation_s", c.preallocation_s},
          {"median_s", statistics_of(c.values_s).median},
          {"samples_s", c.values_s},
          {"error", c.error}};
}

ordered_json json_of(const KspResult& k) {
  return {{"type", k.type},
          {"ksp", k.ksp},
          {"pc", k.preconditioner},
          {"first_solve_s", k.first_s},
          {"set_up_s", k.first_s - statistics_of(k.solve_s).median},
          {"iteration_median_s", statistics_of(k.iteration_s).median},
          {"iteration_samples_s", k.iteration_s},
          {"residual", k.residual}};
}

/// What only runs on a device have.
void add_device_times(ordered_json& j, const CandidateResult& c) {
  const std::pair<const char*, const std::vector<double>*> timings[] = {{"cold", &c.cold_s}, {"graph", &c.graph_s}};
  for (const auto& [name, samples] : timings) {
    if (samples->empty()) continue;
    j[std::string(name) + "_median_s"] = statistics_of(*samples).median;
    j[std::string(name) + "_samples_s"] = *samples;
  }
}

void add_relations(ordered_json& j, const CaseResult& r, const CandidateResult& c) {
  if (const CandidateResult* dense = best_of_dense(r)) j["times_dense"] = times(*dense, c);
  if (r.copy) j["share_of_copy"] = share_of(*r.copy, c);
  if (const CandidateResult* best = best_of_cusparse(r)) j["times_best_cusparse"] = times(*best, c);
}

ordered_json json_of(const CaseResult& r, const CandidateResult& c) {
  ordered_json j = {{"name", c.name}, {"kind", c.kind}, {"plan", c.plan}};
  j.update(json_of(c.samples));
  const double median = statistics_of(c.samples.seconds).median;
  j["compulsory_bytes"] = c.compulsory_bytes;
  j["gbs"] = median > 0 ? c.compulsory_bytes / median / 1e9 : 0;
  if (c.kind != "layout") {  // those are not timed in the same rounds
    j["share_of_read"] = share_of(r.read, c);
    j["times_baseline"] = times_baseline(r, c);
    add_relations(j, r, c);
  }
  j["first_pack_s"] = c.first_pack_s;
  j["new_values_s"] = c.new_values_s;
  if (c.new_values_there_s >= 0) j["new_values_there_s"] = c.new_values_there_s;
  j["parent_bytes"] = c.parent_bytes;
  j["packed_bytes"] = c.packed_bytes;
  if (c.slots > 0) j["padding"] = padding_of(r, c);
  add_device_times(j, c);
  if (c.allowed_error > 0) {
    j["error"] = c.error;
    j["allowed_error"] = c.allowed_error;
  }
  return j;
}

ordered_json json_of(const CaseResult& r) {
  ordered_json j = {{"description", r.description},
                    {"block_size", r.block.rows},
                    {"block_shape", {r.block.rows, r.block.cols}},
                    {"block_rows", r.block_rows},
                    {"block_columns", r.block_columns},
                    {"blocks", r.entries},
                    {"longest_row", r.longest_row},
                    {"ordering", r.ordering},
                    {"ordering_s", r.ordering_s},
                    {"row_lengths", json_of(r.row_quartiles.lengths)},
                    {"row_bandwidths", json_of(r.row_quartiles.bandwidths)},
                    {"value_bytes", r.value_bytes},
                    {"ranks", r.ranks},
                    {"result_norm", r.result_norm}};
  if (!r.candidates.empty()) j["baseline"] = r.candidates[r.baseline].name;
  j["read"] = json_of(r.read);
  if (r.copy) j["copy"] = json_of(*r.copy);
  if (const CandidateResult* best = best_of_cusparse(r)) j["best_of_cusparse"] = best->name;
  if (!r.entry_check.seconds.empty())
    j["entry_check"] = {{"entry", r.entry_check.entry},
                        {"median_s", statistics_of(r.entry_check.seconds).median},
                        {"samples_s", r.entry_check.seconds}};
  for (const LeftOut& l : r.left_out) j["left_out"].push_back({{"name", l.name}, {"why", l.why}});
  for (const LayoutResult& l : r.layouts)
    j["layouts"].push_back(l.why.empty() ? json_of(r, l.result)
                                         : ordered_json{{"name", l.result.name}, {"why", l.why}});
  for (const KspResult& k : r.ksp) j["ksp"].push_back(json_of(k));
  for (const CooResult& c : r.coo) j["coo"].push_back(json_of(c));
  if (!r.coo.empty()) j["coo_bytes"] = r.coo_bytes;
  for (const CandidateResult& c : r.candidates) j["candidates"].push_back(json_of(r, c));
  return j;
}

}  // namespace

void write_json(const std::string& file, const Circumstances& c, const Options& o,
                const std::vector<CaseResult>& results) {
  ordered_json j = json_of(c);
  j.update(ordered_json{{"operation", name_of(o.operation)},
                        {"rounds", o.rounds},
                        {"min_time_s", o.min_time_s},
                        {"warm_up", o.warm_up},
                        {"seed", o.seed}});
  j["cases"] = ordered_json::array();
  for (const CaseResult& r : results) j["cases"].push_back(json_of(r));
  write_json_file(file, j);
}

}  // namespace compound::bench

#else

namespace compound::bench {

bool has_json() { return false; }
void write_json(const std::string&, const Circumstances&, const Options&, const std::vector<CaseResult>&) {}

}  // namespace compound::bench

#endif
