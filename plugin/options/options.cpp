// One table gives parsing, printing and -help of every option, and the README's table (tests/plugin/help_test.cpp
// compares them).
#include "options/options.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "entry/registry.hpp"
#include "entry_file.hpp"
#include "options/option_values.hpp"
#include "options/unused_options.hpp"
#include "petsc/quiet.hpp"

namespace compound::plugin {

namespace {

void check_backend(const std::string& v) {
  if (v != "auto" && v != "petsc") (void)backend(v);  // throws why it is missing
}

void check_entry(const std::string& v) {
  try {
    entry_kind(v);
  } catch (const error&) {
    throw unknown_word("entry", v, "auto, " + entry_kind_names());
  }
}

void check_layout(const std::string& v) {
  try {
    parse_layout(v);
  } catch (const error& e) {
    if (std::string_view(e.what()).starts_with("unknown layout"))
      throw unknown_word("layout", v, "auto, " + preset_names());
    throw;
  }
}

void check_plan(const std::string& v) {
  const PlanText parts = split_off_diagonal(v);
  for (const std::string_view text : {parts.diagonal, parts.off_diagonal.value_or(parts.diagonal)})
    if (parse_plan(text, Plan{}).layout.vector_group != 1)
      throw error(ErrorKind::argument,
                  "vectors= in plan '" + std::string(text) +
                      "' is not 1: PETSc's vectors hold the scalars of a block side by side; leave it out");
}

/// `symmetric` of "kinds/symmetric.hpp".
std::string kind_in(const std::string& file) {
  const std::size_t slash = file.find_last_of('/'), from = slash == std::string::npos ? 0 : slash + 1;
  return file.substr(from, file.find_first_of('.', from) - from);
}

/// A file that nothing here compiles does no harm where the program has brought the kind for the host.
void check_entry_file(const std::string& v) {
  try {
    take_entry_file(kind_in(v), v, scalar_type_of<Scalar>());
  } catch (const error& e) {
    const bool known = registered_host_entry(kind_in(v), scalar_type_of<Scalar>());
    if (e.kind() != ErrorKind::unsupported || !known) throw;
  }
}

OptionWords<Effort> efforts() {
  OptionWords<Effort> words;
  for (const std::string_view name : effort_words()) words.emplace_back(name, static_cast<Effort>(words.size()));
  return words;
}

struct FindingName {
  BlockEffort by;
  std::string_view name;
};
constexpr FindingName finding_names[] = {
    {BlockEffort::bytes, "find"}, {BlockEffort::model, "find:model"}, {BlockEffort::measure, "find:measure"}};

BlockSize block_size_of(const std::string& text) {
  constexpr idx most = 32;  // of our own kernels
  if (text == "auto") return {};
  if (const auto found = std::ranges::find(finding_names, text, &FindingName::name); found != std::end(finding_names))
    return {.way = BlockSize::to_find, .by = found->by};
  const std::size_t by = text.find('x');
  const auto side = [&](const std::string& number) {
    return parse_number(number, 1, most,
                        "a packed block size other than auto, find, find:model and find:measure, N or ROWSxCOLUMNS,");
  };
  const idx rows = side(text.substr(0, by));
  return {BlockSize::given, {rows, by == std::string::npos ? rows : side(text.substr(by + 1))}};
}

std::string printed_block_size(const BlockSize& size) {
  if (size.way == BlockSize::given) return text_of(size.shape);
  if (size.way == BlockSize::of_matrix) return "auto";
  return std::string(std::ranges::find(finding_names, size.by, &FindingName::by)->name);
}

std::optional<std::string> wisdom_of(const std::string& text) {
  if (text.empty()) throw error(ErrorKind::argument, "the wisdom file has no name; give a path, auto or none");
  if (text == "auto") return {};
  return text == "none" ? "" : text;
}

struct Option {
  std::string_view name;  ///< after -mat_compound_
  std::string help;
  OptionValue<Settings> value;
};

/// In the order they are read: the kind that a file brings may be asked for by the options after it.
const Option options[] = {
    {"entry_file",
     "Header file with a block format of the user's own, named like the file, for devices; default none "
     "(docs/entries.md)",
     text_option(&Settings::entry_file, "", check_entry_file)},
    {"backend",
     "Where products run: auto (in the memory space of the vectors; default), host, cuda, petsc (by the base type)",
     word_option(&Settings::backend, "backend",
                 {{"auto", BackendChoice::automatic},
                  {"petsc", BackendChoice::petsc},
                  {"host", BackendChoice::host},
                  {"cuda", BackendChoice::cuda}},
                 check_backend)},
    {"block_size",
     "Size of packed blocks: auto (the matrix's block size; default), find (the size that takes the fewest bytes), "
     "find:model (the one that is predicted to be the fastest; on the host as find), find:measure (the fastest), N or "
     "ROWSxCOLUMNS, each a multiple or divisor of the matrix's block size, 32 at most",
     option_value(&Settings::block_size, block_size_of, printed_block_size)},
    {"entry",
     "Block format: auto (the cheapest that holds every block; default), " + built_in_entry_names() +
         ", or a format of the user's own",
     text_option(&Settings::entry, "auto", check_entry)},
    {"exchange",
     "Exchange of ghost values between devices: auto (peers where all processes can; default), peers (devices write "
     "into each other's memory; an error where they cannot), nccl (NCCL, also between hosts; an error where it "
     "cannot), petsc (PETSc's scatter)",
     word_option(&Settings::exchange, "exchange",
                 {{"auto", ExchangeChoice::automatic},
                  {"peers", ExchangeChoice::peers},
                  {"nccl", ExchangeChoice::nccl},
                  {"petsc", ExchangeChoice::petsc}})},
    {"exchange_patience",
     "Time limit in seconds for a device that waits for another process's device, of the first matrix of a "
     "communicator; none: no limit; default 30",
     limit_option(&Settings::exchange_patience, "seconds of waiting", 1, "none")},
    {"layout", "Layout of packed storage: auto (chosen by the default heuristic; default), " + preset_forms(),
     text_option(&Settings::layout, "auto", check_layout)},
    {"memory_limit",
     "Memory limit in megabytes for packed storage, per local block of the matrix: larger plans are not taken; default "
     "none",
     limit_option(&Settings::megabytes, "megabytes of packed storage", 0, "none")},
    {"padding_limit",
     "Limit on the slots that a layout may have per entry, at least 1, or none; padding below 64 MB is always allowed; "
     "default 4",
     limit_option(&Settings::most_padding, "padding limit", 1, "none")},
    {"plan", "Whole plan as one line, as views print it; default none", text_option(&Settings::plan, "", check_plan)},
    {"precision", "Precision of stored matrix values: double (default), single; vectors and sums stay double",
     word_option(&Settings::precision, "precision", {{"double", std::nullopt}, {"single", Precision::single}})},
    {"transpose",
     "Values for products with the transpose on a device: copy (stored twice; default), shared (stored once, slower)",
     word_option(&Settings::transpose, "transpose",
                 {{"copy", TransposedValues::copy}, {"shared", TransposedValues::shared}})},
    {"tune",
     "Effort to find a plan: off (the default heuristic decides; default), model (predicted times, on devices), wisdom "
     "(earlier "
     "measurements), measure (times neighbouring plans of the default heuristic's, within the time of 150 products), "
     "exhaustive (times all plans)",
     word_option(&Settings::tune, "tune effort", efforts())},
    {"wisdom", "File of measured plans, which tuning reads and writes: auto (the user's; default), a path, or none",
     option_value(&Settings::wisdom, wisdom_of, [](const auto& v) { return v ? v->empty() ? "none" : *v : "auto"; })},
    {"tune_seconds",
     "Time limit in seconds for packing candidates, per local block of the matrix; none: no limit; default 10",
     limit_option(&Settings::tune_seconds, "seconds of tuning", 0, "none")},
    {"tune_score",
     "Criterion of measuring: time (the fastest plan; default), bytes:W (the least weighted sum of time and bytes of "
     "packed storage, with the weight W of the bytes from 0 to 1)",
     score_option(&Settings::memory_weight)},
    {"tune_libraries", "Also benchmark this vendor library's SpMV, on devices: none (default), " + library_names(),
     library_option(&Settings::library)},
    {"expected_products",
     "Expected number of products; tuning uses at most 10 % of their total time; default unknown (no limit)",
     limit_option(&Settings::expected_products, "number of products expected", 1, "unknown")},
};

struct Switch {
  std::string_view name;
  const char* help;
  bool Settings::*value;
  bool of_plans = false;  ///< whether copies that are there are packed anew
};
constexpr Switch switches[] = {
    {"reproducible", "Require bitwise-reproducible vendor products (default true)", &Settings::reproducible, true},
    {"tune_monitor", "Print the best plan so far while tuning measures (default false)", &Settings::tune_monitor},
    {"view", "Print the plan when a matrix has been packed (default false)", &Settings::view},
    {"warn",
     "Print warnings, each once in a program: options without effect, missing block sizes, missing preallocation "
     "(default true)",
     &Settings::warn},
};

}  // namespace

std::span<const std::string_view> option_names() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const Option& o : options) all.push_back("mat_compound_" + std::string(o.name));
    for (const Switch& o : switches) all.push_back("mat_compound_" + std::string(o.name));
    return all;
  }();
  static const std::vector<std::string_view> names(texts.begin(), texts.end());
  return names;
}

void set(Settings& settings, std::string_view name, const std::string& value) {
  for (const Option& o : options) {
    if (o.name != name) continue;
    o.value.parse(settings, value);
    if (name == "layout") settings.plan.clear();  // the last word counts
    ++settings.version;
    settings.viewed = false;
  }
}

std::string get(const Settings& settings, std::string_view name) {
  return std::ranges::find(options, name, &Option::name)->value.print(settings);
}

namespace {

/// Longer texts are refused, where PETSc would take their beginning.
constexpr std::size_t most_characters = 4096;

/// What is wrong with the text of an option; the error names the option.
template <class Take>
std::exception_ptr mistake_in(const std::string& option, const Take& take) {
  try {
    take();
    return nullptr;
  } catch (const error& e) {
    return std::make_exception_ptr(error(e.kind(), std::string(e.what()) + " (" + option + ")"));
  } catch (...) {
    return std::current_exception();
  }
}

/// PETSc's error for other words does not say of which option.
void check_switch(PetscBool given, const std::string& text) {
  if (!given) return;
  PetscBool on;
  const PetscErrorCode code =
      quietly([&] { return text.empty() ? PETSC_SUCCESS : PetscOptionsStringToBool(text.c_str(), &on); });
  if (code) throw error(ErrorKind::argument, "'" + text + "' is neither true nor false; choose one of these");
}

}  // namespace

PetscErrorCode read_options(Mat A, Settings& settings) {
  PetscFunctionBegin;
  const char* prefix = reinterpret_cast<PetscObject>(A)->prefix;
  PetscOptions const database = reinterpret_cast<PetscObject>(A)->options;
  const auto name_of = [&](std::string_view name) {
    return std::string("-") + (prefix ? prefix : "") + "mat_compound_" + std::string(name);
  };
  std::exception_ptr mistake;           // the first
  PetscErrorCode code = PETSC_SUCCESS;  // PetscOptionsEnd() frees what PETSc holds until then
  std::vector<char> text(most_characters + 1);
  PetscOptionsBegin(comm_of(A), prefix, "Compound matrix options", "Mat");
  PetscOptionsObject->options = database;
  code = guarded(PETSC_COMM_SELF, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    for (const Option& o : options) {
      const std::string key = "-mat_compound_" + std::string(o.name);
      PetscBool given = PETSC_FALSE;
      PetscCall(PetscOptionsString(key.c_str(), o.help.c_str(), "MatSetFromOptions", o.value.print(settings).c_str(),
                                   text.data(), text.size(), &given));
      if (!given || mistake) continue;
      mistake = mistake_in(name_of(o.name), [&] {
        const std::string value(text.data());
        if (value.size() == most_characters)
          throw error(ErrorKind::argument, "the text has more than " + std::to_string(most_characters - 1) +
                                               " characters; give a shorter one");
        set(settings, o.name, value);
      });
    }
    for (const Switch& o : switches) {
      const std::string key = "-mat_compound_" + std::string(o.name);
      PetscBool on = settings.*o.value ? PETSC_TRUE : PETSC_FALSE, given = PETSC_FALSE;
      PetscCall(PetscOptionsGetString(database, prefix, key.c_str(), text.data(), text.size(), &given));
      const auto wrong = mistake_in(name_of(o.name), [&] { check_switch(given, text.data()); });
      if (!mistake) mistake = wrong;
      if (wrong) continue;
      PetscCall(PetscOptionsBool(key.c_str(), o.help, "MatSetFromOptions", on, &on, nullptr));
      const bool before = std::exchange(settings.*o.value, on == PETSC_TRUE);
      if (o.of_plans && settings.*o.value != before) ++settings.version;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  PetscOptionsEnd();
  if (!code)
    code = guarded(comm_of(A), [&] {
      if (mistake) std::rethrow_exception(mistake);
    });
  settings.options_read = code != PETSC_ERR_MEM;  // else the next call reads them
  PetscCall(code);
  note_prefix(prefix);
  if (settings.warn) PetscCall(report_unknown_options(database, option_names()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
