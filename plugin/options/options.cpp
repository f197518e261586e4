// One table gives parsing, printing and -help of every option, and the README's table (tests/plugin/help_test.cpp
// compares them).
#include "options/options.hpp"

#include <algorithm>
#include <utility>

#include "backend/backend.hpp"
#include "entry/registry.hpp"
#include "entry_file.hpp"
#include "options/option_values.hpp"

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

BlockSize block_size_of(const std::string& text) {
  constexpr idx most = 32;  // of our own kernels
  if (text == "auto") return {};
  if (text == "find") return {BlockSize::to_find};
  const std::size_t by = text.find('x');
  const auto side = [&](const std::string& number) {
    return parse_number(number, 1, most, "a packed block size other than auto and find, N or ROWSxCOLUMNS,");
  };
  const idx rows = side(text.substr(0, by));
  return {BlockSize::given, {rows, by == std::string::npos ? rows : side(text.substr(by + 1))}};
}

std::string printed_block_size(const BlockSize& size) {
  if (size.way == BlockSize::given) return text_of(size.shape);
  return size.way == BlockSize::to_find ? "find" : "auto";
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
    {"entry_file", "a header with a kind of entry of one's own, named like the file, for devices (docs/entries.md)",
     text_option(&Settings::entry_file, "", check_entry_file)},
    {"backend", "where products run: auto (follows the vectors), host, cuda, petsc (the base type's own)",
     word_option(&Settings::backend, "backend",
                 {{"auto", BackendChoice::automatic},
                  {"petsc", BackendChoice::petsc},
                  {"host", BackendChoice::host},
                  {"cuda", BackendChoice::cuda}},
                 check_backend)},
    {"block_size",
     "of packed blocks: auto (the matrix's), find (that takes the fewest bytes), N or ROWSxCOLUMNS, each a multiple or "
     "divisor of the matrix's block size, "
     "32 at most",
     option_value(&Settings::block_size, block_size_of, printed_block_size)},
    {"entry",
     "what a stored entry is: auto (the cheapest that holds every block), " + built_in_entry_names() + ", or one's own",
     text_option(&Settings::entry, "auto", check_entry)},
    {"layout", "auto (by rule), " + preset_forms(), text_option(&Settings::layout, "auto", check_layout)},
    {"memory_limit", "megabytes that a packed copy of a part of a matrix may own, or none: other plans are taken then",
     limit_option(&Settings::megabytes, "megabytes of a packed copy", 0, "none")},
    {"padding_limit",
     "slots over entries that a layout may come to, 4, or none; padding of less than 64 MB is let through",
     limit_option(&Settings::most_padding, "padding limit", 1, "none")},
    {"plan", "a whole plan as one line, as views print it", text_option(&Settings::plan, "", check_plan)},
    {"precision", "of stored matrix values: double, single (vectors and sums stay double)",
     word_option(&Settings::precision, "precision", {{"double", std::nullopt}, {"single", Precision::single}})},
    {"transpose", "products by the transpose on a device: copy (of the values), shared (no copy, slower)",
     word_option(&Settings::transpose, "transpose",
                 {{"copy", TransposedValues::copy}, {"shared", TransposedValues::shared}})},
    {"tune",
     "effort to find a plan: off (by rule), model (by predicted times, on devices), wisdom (what was measured before), "
     "measure (times the plans near the "
     "rule's, in 150 products), exhaustive (times all plans there are)",
     word_option(&Settings::tune, "tune effort", efforts())},
    {"wisdom", "file of what was measured, read and written where a plan is tuned: auto (the user's), a path, or none",
     option_value(&Settings::wisdom, wisdom_of, [](const auto& v) { return v ? v->empty() ? "none" : *v : "auto"; })},
    {"tune_seconds", "that tuning may pack copies for, of one part of a matrix, or none",
     limit_option(&Settings::tune_seconds, "seconds of tuning", 0, "none")},
    {"tune_score",
     "what measuring takes: time (the fastest plan), bytes:W (that of the least sum of time and bytes of the packed "
     "copy, W from 0 to 1 the weight of these)",
     score_option(&Settings::memory_weight)},
    {"tune_libraries",
     "whose products measuring tries, too, on devices: none, " + library_names() +
         " (opened when it is first asked for; a plan names its products without this)",
     library_option(&Settings::library)},
    {"expected_products", "by the matrix, of whose time tuning takes a tenth at most: a number, or unknown",
     limit_option(&Settings::expected_products, "number of products expected", 1, "unknown")},
};

struct Switch {
  std::string_view name;
  const char* help;
  bool Settings::*value;
  bool of_plans = false;  ///< whether copies that are there are packed anew
};
constexpr Switch switches[] = {
    {"reproducible",
     "products of libraries give the same bits each time, as our own do; false lets algorithms in that may not",
     &Settings::reproducible, true},
    {"tune_monitor", "print the best plan so far while tuning measures", &Settings::tune_monitor},
    {"view", "print the plan when a matrix has been packed", &Settings::view},
};

}  // namespace

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

PetscErrorCode read_options(Mat A, Settings& settings) {
  PetscFunctionBegin;
  const char* prefix = reinterpret_cast<PetscObject>(A)->prefix;
  settings.options_read = true;
  PetscOptionsBegin(comm_of(A), prefix, "Compound matrix options", "Mat");
  for (const Option& o : options) {
    const std::string key = "-mat_compound_" + std::string(o.name);
    char text[1024];
    PetscBool given = PETSC_FALSE;
    PetscCall(PetscOptionsString(key.c_str(), o.help.c_str(), "MatSetFromOptions", o.value.print(settings).c_str(),
                                 text, sizeof(text), &given));
    if (given)
      PetscCall(guarded(comm_of(A), [&] {
        try {
          set(settings, o.name, text);
        } catch (const error& e) {
          throw error(e.kind(), std::string(e.what()) + " (-" + (prefix ? prefix : "") + key.substr(1) + ")");
        }
      }));
  }
  for (const Switch& o : switches) {
    const std::string key = "-mat_compound_" + std::string(o.name);
    PetscBool on = settings.*o.value ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool(key.c_str(), o.help, "MatSetFromOptions", on, &on, nullptr));
    const bool before = std::exchange(settings.*o.value, on == PETSC_TRUE);
    if (o.of_plans && settings.*o.value != before) ++settings.version;
  }
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
