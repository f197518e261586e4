#include "tune_options.hpp"

#include <filesystem>

#include "core_source.hpp"
#include "plan/library_products.hpp"
#include "report.hpp"

namespace compound::bench::tune {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double limit(const char* option, const std::string& v) {
  if (v == "none") return unlimited;
  return number(option, v, 0.0, 1e12, "expected a number that is not negative, or none");
}

void take_mode(TuneOptions& o, Mode mode) {
  if (o.mode != Mode::measure) throw usage_error("-merge, -list, -compare and -calibrate exclude each other: give one");
  o.mode = mode;
}

void read_files(TuneOptions& o, Mode mode, const char* option, const std::string& v) {
  take_mode(o, mode);
  o.named = names(option, v, ',', "files");
}

void read_compare(TuneOptions& o, const std::string& v) {
  read_files(o, Mode::compare, "-compare", v);
  if (o.named.size() != 2) refuse("-compare", v, "expected two JSON files, as in -compare before.json after.json");
}

/// Of a mode that has one file.
void read_file(TuneOptions& o, Mode mode, const std::string& v) {
  take_mode(o, mode);
  o.named = {v};
}

const OptionRow<TuneOptions> rows[] = {
    {"-search", "plans to time: near (those near the rule's), all (all that there are)", "near",
     [](TuneOptions& o, const std::string& v) { o.search = &named(search_names, "-search", v, "unknown search; "); }},
    {"-libraries", "whose products are timed, too, on devices: none, cusparse", "none",
     [](TuneOptions& o, const std::string& v) {
       if (v != "none" && !is_library(v)) refuse("-libraries", v, "choose none, " + library_names());
       o.library = v == "none" ? "" : v;
     }},
    {"-reproducible", "products of libraries give the same bits each time; false lets algorithms in that may not",
     "true", [](TuneOptions& o, const std::string& v) { o.reproducible = yes("-reproducible", v); }, true},
    {"-products", "that timing may take, in products of the rule's plan, or none", "none",
     [](TuneOptions& o, const std::string& v) { o.products = limit("-products", v); }},
    {"-seconds", "that packing copies of one matrix may take, or none", "10",
     [](TuneOptions& o, const std::string& v) { o.seconds = limit("-seconds", v); }},
    {"-samples", "of each plan, at most; from 20 on there is a 95th percentile", "9",
     [](TuneOptions& o, const std::string& v) {
       o.samples = number("-samples", v, 3, 10000, "expected an integer from 3 to 10000");
     }},
    {"-precision", "of the stored matrix values: double, single", "double",
     [](TuneOptions& o, const std::string& v) {
       if (v != "double" && v != "single") refuse("-precision", v, "choose double, single");
       o.precision = v == "single" ? Precision::single : Precision::double_;
     }},
    {"-top", "rows of the table of times, the fastest", "20",
     [](TuneOptions& o, const std::string& v) {
       o.top = number("-top", v, 1, 1000000, "expected an integer from 1 to 1000000");
     }},
    {"-wisdom", "wisdom file that what was found is added to, or that -merge writes", "none is kept",
     [](TuneOptions& o, const std::string& v) { o.wisdom = v == "none" ? "" : v; }},
    {"-json", "file for the analysis, all samples, the machine, versions and the command line", "",
     [](TuneOptions& o, const std::string& v) { o.matrix.json = v; }},
    {"-resume", "goes on with the file of -json: matrices that are in it are left out, and stay in it", "false",
     [](TuneOptions& o, const std::string& v) { o.resume = yes("-resume", v); }, true},
    {"-csv", "file for a line of comma-separated values for each sample", "",
     [](TuneOptions& o, const std::string& v) { o.matrix.csv = v; }},
    {"-study",
     "folder that gets a JSON file for each matrix: every plan screened, the best timed again, and what the rule and "
     "measuring take beside them. Matrices whose file is there are left out",
     "none", [](TuneOptions& o, const std::string& v) { o.study = v == "none" ? "" : v; }},
    {"-budget", "seconds that timing and packing of a matrix of a study may take", "10",
     [](TuneOptions& o, const std::string& v) {
       o.budget_s = number("-budget", v, 1e-3, 1e9, "expected a positive number of seconds");
     }},
    {"-compile",
     "only compiles the kernels of all these plans for the device, where the cache of kernels keeps them for later "
     "runs",
     "false", [](TuneOptions& o, const std::string& v) { o.compile = yes("-compile", v); }, true},
    {"-plans", "lines of more plans to time, separated by semicolons; words that are left out are as the rule has them",
     "", [](TuneOptions& o, const std::string& v) { o.plans = names("-plans", v, ';', "plan lines"); }},
    {"-blocks", "only prints the fill and the bytes of all block sizes", "false",
     [](TuneOptions& o, const std::string& v) { o.blocks = yes("-blocks", v); }, true},
    {"-bytes", "only counts what these plans would take, separated by semicolons; nothing is packed or timed", "",
     [](TuneOptions& o, const std::string& v) { o.counted = names("-bytes", v, ';', "plan lines"); }},
    {"-pareto", "also lists the plans that no other one beats in both time and bytes", "false",
     [](TuneOptions& o, const std::string& v) { o.pareto = yes("-pareto", v); }, true},
    {"-copy_limit", "megabytes that a packed copy may own, but for the rule's, or none", "none",
     [](TuneOptions& o, const std::string& v) { o.most_bytes = 1e6 * limit("-copy_limit", v); }},
    {"-score", "weight of memory, from 0 (the fastest plan is taken) to 1 (the smallest)", "0",
     [](TuneOptions& o, const std::string& v) {
       o.memory_weight = number("-score", v, 0.0, 1.0, "expected a weight from 0 to 1");
     }},
    {"-merge", "wisdom files, separated by commas, that are added to that of -wisdom; nothing is measured", "",
     [](TuneOptions& o, const std::string& v) { read_files(o, Mode::merge, "-merge", v); }},
    {"-list", "wisdom file that is printed as a table; nothing is measured", "",
     [](TuneOptions& o, const std::string& v) { read_file(o, Mode::list, v); }},
    {"-calibrate",
     "file that gets the device's table for the model, which COMPOUND_DEVICES names to programs; takes less than a "
     "minute, needs -device cuda",
     "", [](TuneOptions& o, const std::string& v) { read_file(o, Mode::calibrate, v); }},
    {"-compare",
     "two JSON files of -json, before and after: prints which plans became slower, and ends with status 1 if any did",
     "", read_compare},
    {"-threshold", "times as slow as before that -compare lets pass", "1.05",
     [](TuneOptions& o, const std::string& v) {
       o.threshold = number("-threshold", v, 1.0, 1e6, "expected a number from 1 on");
     }},
};

void must_exist(const char* option, const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed))
    throw usage_error(std::string(option) + ": there is no file '" + file + "'");
}

void make_study_folder(const std::string& folder) {
  if (!has_json())
    throw usage_error("-study: this compound-tune was built without nlohmann-json (Debian: nlohmann-json3-dev)");
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder, failed))
    throw usage_error("-study: '" + folder + "' is no folder and none can be made there; choose another");
}

/// What a generated matrix or a file takes: two packed copies at most are there at a time, that of the rule's plan and
/// one other, as if they were two core plans of compound-bench.
void complete(Options& o) {
  o.types = {"none"};
  o.core_plans = {"auto", "auto"};
  // Of the yardsticks; plans are timed by the tuner.
  o.rounds = 5;
  o.min_time_s = 0.02;
  check_and_complete(o);
}

void check_mode(const TuneOptions& o) {
  if (o.mode == Mode::merge && o.wisdom.empty())
    throw usage_error("-merge needs the file that is to have them all; add -wisdom FILE");
  if (o.mode == Mode::measure) return;
  const std::string option = o.mode == Mode::merge     ? "-merge"
                             : o.mode == Mode::list    ? "-list"
                             : o.mode == Mode::compare ? "-compare"
                                                       : "-calibrate";
  const bool calibrates = o.mode == Mode::calibrate;
  if (!calibrates)
    for (const std::string& file : o.named) must_exist(option.c_str(), file);
  for (const auto& row : case_option_rows())
    if (given(row.name, row.help, true) && !(calibrates && std::string_view(row.name) == "-device"))
      throw usage_error(option + (calibrates ? " has matrices of its own; leave " : " measures nothing; leave ") +
                        row.name + " out");
  if (calibrates && !o.matrix.on_device)
    throw usage_error("-calibrate is of devices, as the model is; add -device cuda");
}

}  // namespace

SearchOptions TuneOptions::search_options() const {
  SearchOptions s;
  s.effort = search->effort;
  s.library = library;
  s.wisdom = wisdom;
  s.limits = {.padding = most_padding, .bytes = most_bytes};
  s.measuring.products = products;
  s.measuring.seconds = seconds;
  s.measuring.samples = samples;
  s.memory_weight = memory_weight;
  return s;
}

PetscErrorCode show_tune_help(MPI_Comm comm) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "compound-tune options:\n"));
  PetscCall(show_rows(comm, case_option_rows()));
  PetscCall(show_rows(comm, rows));
  PetscCall(PetscPrintf(
      comm,
      "-matrix and -pattern take several files, separated by commas. -help prints PETSc's own options below "
      "these, -help intro these alone.\n"));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

OptionNames tune_option_names() {
  OptionNames all;
  add_names(case_option_rows(), all);
  add_names(rows, all);
  return all;
}

TuneOptions read_tune_options() {
  TuneOptions o;
  read_rows(case_option_rows(), o.matrix);
  read_rows(rows, o);
  check_mode(o);
  if (!o.matrix.file.empty()) o.files = names("-matrix", o.matrix.file, ',', "files");
  for (const std::string& file : o.files) must_exist(o.matrix.pattern_alone ? "-pattern" : "-matrix", file);
  if (o.mode == Mode::measure) complete(o.matrix);
  if (!o.counted.empty() && (o.compile || o.blocks || !o.study.empty() || !o.wisdom.empty()))
    throw usage_error("-bytes times nothing; leave -study, -compile, -blocks and -wisdom out");
  if (!o.study.empty()) make_study_folder(o.study);
  if (o.resume && o.matrix.json.empty()) throw usage_error("-resume goes on with the file of -json; add -json FILE");
  return o;
}

std::vector<Options> runs_of(const TuneOptions& o) {
  if (o.files.empty()) return {o.matrix};
  std::vector<Options> runs;
  for (const std::string& file : o.files) runs.emplace_back(o.matrix).file = file;
  return runs;
}

}  // namespace compound::bench::tune
