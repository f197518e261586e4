#include "tune_options.hpp"

#include <filesystem>

#include "core_source.hpp"

namespace compound::bench::tune {

namespace {

void take_mode(TuneOptions& o, Mode mode) {
  if (o.mode != Mode::measure) throw usage_error("-merge, -list, -compare and -calibrate exclude each other: give one");
  o.mode = mode;
}

/// Of a mode that has files.
OptionValue<TuneOptions> files_of(Mode mode) {
  return {[=](TuneOptions& o, const std::string& v) {
    take_mode(o, mode);
    o.named = mode == Mode::list || mode == Mode::calibrate ? std::vector{v} : listed(v, ',', "files separated by ','");
    if (mode == Mode::compare && o.named.size() != 2)
      throw wrong_value("expected two JSON files, as in -compare before.json after.json");
  }};
}

void read_model(TuneOptions& o, const std::string& v) {
  constexpr std::string_view name = "choi:";
  if (!v.starts_with(name) || v.size() == name.size()) throw wrong_value("expected choi:FILE");
  o.choi = v.substr(name.size());
}

const OptionRow<TuneOptions> rows[] = {
    {"-search",
     "plans to time, those of -mat_compound_tune: measure (the neighbouring plans of the default one), exhaustive (all "
     "plans), off (the default plan and those of -plans)",
     "measure", word_option(&TuneOptions::search, "search", search_words)},
    {"-vectors",
     "vectors of the plans of -search exhaustive: petsc (vectors=1), all (vectors=all besides, which PETSc's matrices "
     "refuse)",
     "petsc", word_option(&TuneOptions::vectors, "vectors", vector_words)},
    {"-padding_limit",
     "slots an entry that a plan may have at most, as -mat_compound_padding_limit, the default plan excepted; none: no "
     "limit",
     "4", limit_option(&TuneOptions::padding_limit, "padding limit", 1, "none")},
    {"-libraries", "also benchmark this vendor library's SpMV, on devices: none, cusparse", "none",
     library_option(&TuneOptions::library)},
    {"-reproducible", "require bitwise-reproducible vendor products", "true", flag_option(&TuneOptions::reproducible),
     true},
    {"-products", "time limit of the search, in products of the default plan; none: no limit", "none",
     limit_option(&TuneOptions::products, "products", 0, "none")},
    {"-seconds", "time limit in seconds for packing candidates, for each matrix; none: no limit", "10",
     limit_option(&TuneOptions::seconds, "seconds of packing", 0, "none")},
    {"-samples", "samples of each plan in the search, at most; from 20 on there is a 95th percentile", "9",
     integer_option(&TuneOptions::samples, 3, 10000)},
    {"-precision", "precision of the stored matrix values: double, single", "double",
     word_option(&TuneOptions::precision, "precision", precision_words)},
    {"-top", "rows of the table of times, the fastest", "20", integer_option(&TuneOptions::top, 1, 1000000)},
    {"-wisdom", "wisdom file that what was found is added to, or that -merge writes", "none is kept",
     text_option(&TuneOptions::wisdom, "none")},
    {"-resume", "goes on with the file of -json: matrices that are in it are left out, and stay in it", "false",
     flag_option(&TuneOptions::resume), true},
    {"-study",
     "folder that gets a JSON file for each matrix: every plan screened, the best timed again, and what the default "
     "heuristic and measuring take beside them. Matrices whose file is there are left out",
     "none", text_option(&TuneOptions::study, "none")},
    {"-budget", "seconds that timing and packing of a matrix of a study may take", "10",
     number_option(&TuneOptions::budget_s, 1e-3, 1e9, "a positive number of seconds")},
    {"-compile",
     "only compiles the kernels of all these plans for the device, where the cache of kernels keeps them for later "
     "runs",
     "false", flag_option(&TuneOptions::compile), true},
    {"-plans",
     "lines of more plans to time, separated by semicolons; keywords that are left out have the default heuristic's "
     "values",
     "", list_option(&TuneOptions::more_plans, ';', "plan lines")},
    {"-model",
     "choi:FILE: also predicts times of BELLPACK's plans, a thread a block row, by the model of Choi, Singh and Vuduc "
     "(2010), whose parameters are measured on dense matrices and kept in FILE; needs -device cuda",
     "",
     {read_model}},
    {"-blocks", "only prints the fill and the bytes of all block sizes", "false", flag_option(&TuneOptions::blocks),
     true},
    {"-bytes", "only counts what these plans would take, separated by semicolons; nothing is packed or timed", "",
     list_option(&TuneOptions::counted, ';', "plan lines")},
    {"-pareto", "also lists the plans that no other one beats in both time and bytes", "false",
     flag_option(&TuneOptions::pareto), true},
    {"-copy_limit", "limit in megabytes for the packed storage of a plan, the default plan excepted; none: no limit",
     "none", limit_option(&TuneOptions::most_megabytes, "megabytes of packed storage", 0, "none")},
    {"-score",
     "which plan is taken, as -mat_compound_tune_score: time (the fastest), bytes:W (with the weight of memory)",
     "time", score_option(&TuneOptions::memory_weight)},
    {"-merge", "wisdom files, separated by commas, that are added to that of -wisdom; nothing is measured", "",
     files_of(Mode::merge)},
    {"-list", "wisdom file that is printed as a table; nothing is measured", "", files_of(Mode::list)},
    {"-calibrate",
     "file that gets the device's table for the model, which COMPOUND_DEVICES names to programs; takes less than a "
     "minute, needs -device cuda",
     "", files_of(Mode::calibrate)},
    {"-compare",
     "two JSON files of -json, before and after: prints which plans became slower, and ends with status 1 if any did",
     "", files_of(Mode::compare)},
    {"-threshold", "times as slow as before that -compare lets pass", "1.05",
     number_option(&TuneOptions::threshold, 1.0, 1e6, "a number from 1 on")},
};

void must_exist(const char* option, const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed))
    throw usage_error(std::string(option) + ": there is no file '" + file + "'");
}

/// Of -matrix or -pattern.
std::vector<std::string> files_in(const TuneOptions& o) {
  const char* const option = o.pattern_alone ? "-pattern" : "-matrix";
  const std::vector<std::string> files = split(o.file, ',');
  for (const std::string& file : files) {
    if (file.empty()) throw usage_error(std::string(option) + " '" + o.file + "': expected files separated by ','");
    must_exist(option, file);
  }
  return files;
}

/// Values cannot be stored in more than the scalars have.
void check_scalars(TuneOptions& o) {
  if (!o.core_float) return;
  if (!o.wisdom.empty())
    throw usage_error(
        "-wisdom keeps plans for PETSc's matrices, whose scalars are double; leave -core_scalar float out");
  o.precision = Precision::single;
}

void make_study_folder(const std::string& folder) {
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
  if (calibrates && !o.on_device) throw usage_error("-calibrate is of devices, as the model is; add -device cuda");
}

}  // namespace

SearchOptions TuneOptions::search_options() const {
  SearchOptions s;
  s.effort = search;
  s.library = library;
  s.wisdom = wisdom;
  s.vectors = vectors;
  s.limits = {.padding = padding_limit, .bytes = 1e6 * most_megabytes};
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

OptionNames tune_option_names() { return names_of(case_option_rows(), rows); }

TuneOptions read_tune_options() {
  TuneOptions o;
  read_rows(case_option_rows(), o);
  read_rows(rows, o);
  check_mode(o);
  if (!o.file.empty()) o.files = files_in(o);
  if (o.mode == Mode::measure) complete(o);
  if (!o.counted.empty() && (o.compile || o.blocks || !o.study.empty() || !o.wisdom.empty()))
    throw usage_error("-bytes times nothing; leave -study, -compile, -blocks and -wisdom out");
  check_scalars(o);
  if (o.vectors == VectorOrder::any && o.search != Effort::exhaustive)
    throw usage_error("-vectors all is of all plans there are; add -search exhaustive");
  if (o.vectors == VectorOrder::any && !o.wisdom.empty())
    throw usage_error(
        "-vectors all may find plans that PETSc's matrices refuse; leave -wisdom, which is for these, out");
  if (!o.study.empty()) make_study_folder(o.study);
  if (!o.choi.empty() && !o.on_device) throw usage_error("-model choi is of devices; add -device cuda");
  if (o.resume && o.json.empty()) throw usage_error("-resume goes on with the file of -json; add -json FILE");
  return o;
}

std::vector<TuneOptions> runs_of(const TuneOptions& o) {
  if (o.files.empty()) return {o};
  std::vector<TuneOptions> runs;
  for (const std::string& file : o.files) runs.emplace_back(o).file = file;
  return runs;
}

}  // namespace compound::bench::tune
