// compound-tune: finds the fastest plan of a matrix, offline.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "calibrate.hpp"
#include "compare.hpp"
#include "core_source.hpp"
#include "program.hpp"
#include "text.hpp"
#include "tune_case.hpp"
#include "wisdom_files.hpp"

namespace compound::bench::tune {

namespace {

const char help[] =
    "compound-tune: analyses matrices, times their plans, and says which to take.\n"
    "  compound-tune -grid 27 -n 60 -block_size 3\n"
    "  compound-tune -matrix A.mtx,B.dat -search exhaustive -json t.json -wisdom FILE\n"
    "  compound-tune -compare before.json after.json -threshold 1.05\n\n";

void print(const char* title, const std::vector<Change>& changes) {
  for (const Change& c : changes)
    std::cout << text("%s by %.2f (%.4f ms, then %.4f ms): ", title, c.ratio() > 1 ? c.ratio() : 1 / c.ratio(),
                      1e3 * c.before_s, 1e3 * c.after_s)
              << c.matrix << ": " << c.plan << "\n";
}

/// The exit status.
int compare(const TuneOptions& o) {
  const Comparison c = compared(read_times(o.named[0]), read_times(o.named[1]), o.threshold);
  if (c.compared == 0)
    throw usage_error("-compare: '" + o.named[0] + "' and '" + o.named[1] +
                      "' have no plan of one matrix in common; compare runs with the same matrices");
  print("slower", c.slower);
  print("faster", c.faster);
  std::cout << text("%d plans compared: %zu slower and %zu faster by more than %.4g", c.compared, c.slower.size(),
                    c.faster.size(), o.threshold);
  if (c.before_alone + c.after_alone > 0)
    std::cout << text("; %d have a time before alone, %d after alone", c.before_alone, c.after_alone);
  std::cout << "\n";
  return c.slower.empty() ? 0 : 1;
}

/// Cases of the file of -json, which -resume goes on with; none where there is no such file.
Record earlier_cases(const TuneOptions& o) {
  if (!o.resume || !std::filesystem::exists(o.json)) return Record::array();
  const Record j = read_results("-resume", o.json);
  const std::string found = j.value("precision", "");
  if (found != o.scalars())
    throw usage_error("-resume: '" + o.json + "' is of " + (found == "float" ? "-core_scalar " : "-precision ") +
                      found + "; give that, or another -json");
  return j.at("cases");
}

/// A file's own block is not known before it is read: then whatever blocks it was timed in.
bool is_in(const Record& cases, const CaseSpec& spec, const Options& o) {
  return std::ranges::any_of(cases, [&](const Record& c) {
    return c.value("description", "") == description_of(spec, o) &&
           (spec.multiplied().rows == 0 || c.value("block", "") == block_text(spec.multiplied()));
  });
}

void write_csv_file(const std::string& file, const Record& cases) {
  constexpr CsvColumn columns[] = {{"description"}, {"block"}, {"plan"}, {"sample"}, {"seconds"}, {"ratio"}};
  std::vector<Record> lines;
  for (const Record& r : cases)
    for (const Record& p : r.value("plans", Record::array()))
      for (std::size_t i = 0; i < p.at("samples_s").size(); ++i)
        lines.push_back({{"description", r.at("description")},
                         {"block", r.at("block")},
                         {"plan", p.at("plan")},
                         {"sample", i},
                         {"seconds", p.at("samples_s")[i]},
                         {"ratio", p.at("ratios")[i]}});
  write_csv(file, columns, lines);
}

/// One matrix of a study, compact.
void write_study(const std::string& file, Record run, const Record& r) {
  run["schema"] = "study 1";
  run.erase("cases");
  for (const char* member : {"description", "block", "analysis", "compulsory_bytes", "read", "copy"})
    if (r.contains(member)) run[member] = r.at(member);
  run["left_out"] = Record::array();
  for (const Record& l : r.at("without")) run["left_out"].push_back({l.at("plan"), l.at("why")});
  run.update(r.at("study"));
  write_json(file, run, "-study", -1);
}

/// What was made of it; nothing where all was printed.
void tune_matrix(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& o, Record& run, Record& done,
                 Progress& progress, ChoiModel* choi) {
  const std::string description = description_of(spec, o);
  if (o.compile) {
    std::cout << text("kernels of %zu plans compiled for ", compile_case(comm, spec, o, progress)) << description
              << "\n";
    return;
  }
  if (o.blocks) {
    const Record sizes = block_sizes(comm, spec, o, progress);
    std::cout << description << "\n";
    print_block_sizes(std::cout, sizes);
    return;
  }
  const std::string file = o.study.empty() ? "" : study_file(o.study, description, spec.multiplied(), o.scalars());
  const bool is_there = std::filesystem::exists(file);
  if (is_there || is_in(run["cases"], spec, o)) {
    std::cout << "left out: " << (is_there ? file + " is there" : description + " is in " + o.json) << "\n";
    return;
  }
  const bool counts = !o.counted.empty();
  Record r = counts ? count_case(comm, spec, o, progress) : tune_case(comm, spec, o, progress, choi);
  (counts ? print_counted : print_result)(std::cout, r, o);
  if (!file.empty()) write_study(file, run, r);
  r.erase("study");
  run["cases"].push_back(r);
  done.push_back(r);
  if (!o.json.empty()) write_json(o.json, run);
  if (!o.csv.empty()) write_csv_file(o.csv, done);
}

int tune(MPI_Comm comm, const TuneOptions& o, Record run) {
  // On a terminal each second; in a file a line each 10 s.
  Progress progress(comm, isatty(STDERR_FILENO) ? 1 : 10);
  Record done;
  run.update({{"schema", schema},
              {"search", word_of(search_words, o.search)},
              {"precision", o.scalars()},
              {"cases", earlier_cases(o)}});
  std::optional<ChoiModel> choi;
  if (!o.choi.empty()) choi.emplace(o.choi, core_backend());
  for (const TuneOptions& one : runs_of(o))
    for (const CaseSpec& spec : cases_of(one))
      tune_matrix(comm, spec, one, run, done, progress, choi ? &*choi : nullptr);
  return 0;
}

void calibrate(MPI_Comm comm, int argc, char** argv, const TuneOptions& o) {
  const std::string& file = o.named.front();
  check_file_of_devices(file);  // what is wrong with it is better known before
  begin(comm, argc, argv, o);
  Backend& on = core_backend();
  Progress progress(comm);
  const double begin = steady_s();
  const Calibration c =
      calibrated(on, traits_of(on), table_for(device_tables().all, on.machine().device, traits_of(on)),
                 [&](const std::string& matrix) { progress.say("timing " + matrix); });
  std::cout << text(
                   "%d plans timed in %.0f s; their predicted times are off by %.1f %% at the mean, %.1f %% at the "
                   "median\n",
                   c.plans, steady_s() - begin, 100 * c.mean_error, 100 * c.median_error)
            << to_string(c.table) << std::endl;  // it is not lost where the file cannot be written
  add_device_table(file, c.table);
  std::cout << "added to " << file << ", for programs: export COMPOUND_DEVICES=" << file << "\n";
}

int run(MPI_Comm comm, int argc, char** argv) {
  check_words(argc, argv);
  if (is_help(comm)) return 0;
  TuneOptions o = read_tune_options();
  check_unused_options(true, tune_option_names());
  if (ranks_of(comm) > 1)
    throw usage_error(
        "compound-tune runs on one rank; leave mpirun out, or let the program's own processes tune: "
        "-mat_compound_tune measure");
  if (o.mode == Mode::compare) return compare(o);
  if (o.mode == Mode::list) return print_wisdom(std::cout, o.named.front()), 0;
  if (o.mode == Mode::merge) {
    std::cout << text("%zu plans added to ", merge_wisdom(o.named, o.wisdom)) << o.wisdom << "\n";
    return 0;
  }
  if (o.mode == Mode::calibrate) return calibrate(comm, argc, argv, o), 0;
  if (const std::string problem = device_tables().problem; !problem.empty())
    throw usage_error("COMPOUND_DEVICES: " + problem);
  check_outputs(comm, o);
  if (!o.wisdom.empty()) check_wisdom(o.wisdom);
  const int status = tune(comm, o, begin(comm, argc, argv, o));
  check_unused_options(false, tune_option_names());
  return status;
}

/// "-compare A B" as "-compare A,B", which PETSc's options can hold.
std::vector<std::string> joined_words(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::size_t i = 1; i + 2 < words.size(); ++i) {
    if (words[i] != "-compare" || words[i + 2].starts_with("-") || words[i + 1].find(',') != std::string::npos)
      continue;
    words[i + 1] += "," + words[i + 2];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
  return words;
}

}  // namespace

}  // namespace compound::bench::tune

int main(int argc, char** argv) {
  namespace tune = compound::bench::tune;
  std::vector<std::string> words = tune::joined_words(argc, argv);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  constexpr int failed = 2;  // 1: -compare found something slower
  return compound::bench::run_program({"compound-tune", tune::help, tune::show_tune_help, tune::run, failed},
                                      static_cast<int>(words.size()), pointers.data());
}
