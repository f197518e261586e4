// One table gives parsing, checking and -help of every option, and the README's table (tests/plugin/options_test.cpp
// compares them).
#include "options/options.hpp"

#include <utility>

#include "backend/backend.hpp"
#include "entry/registry.hpp"
#include "entry_file.hpp"
#include "plan/library_products.hpp"

namespace compound::plugin {

namespace {

void check_backend(const std::string& v) {
  if (v == "auto" || v == "petsc") return;
  std::string names = "auto, petsc";
  for (const BackendRow& row : backends()) {
    if (row.name == v) return void(backend(v));  // throws why it is missing
    names += ", " + std::string(row.name);
  }
  throw error(ErrorKind::argument, "unknown backend '" + v + "'; choose " + names);
}

void check_entry(const std::string& v) {
  if (v == "auto") return;
  try {
    entry_kind(v);
  } catch (const error&) {
    throw error(ErrorKind::argument, "unknown entry '" + v + "'; choose auto, " + entry_kind_names());
  }
}

void check_layout(const std::string& v) {
  if (v == "auto") return;
  try {
    parse_layout(v);
  } catch (const error& e) {
    const bool unknown = std::string_view(e.what()).starts_with("unknown layout");
    throw error(e.kind(), unknown ? "unknown layout '" + v + "'; choose auto, " + preset_names() : e.what());
  }
}

void check_plan_of_part(std::string_view text) {
  if (parse_plan(text, Plan{}).layout.vector_group != 1)
    throw error(ErrorKind::argument,
                "vectors= in plan '" + std::string(text) +
                    "' is not 1: PETSc's vectors hold the scalars of a block side by side; leave it out");
}

void check_plan(const std::string& v) {
  if (v.empty()) return;
  const PlanText parts = split_off_diagonal(v);
  check_plan_of_part(parts.diagonal);
  if (parts.off_diagonal) check_plan_of_part(*parts.off_diagonal);
}

void check_block_size(const std::string& v) {
  if (v != "auto" && v != "find") block_of(v);
}

void check_word(const char* what, const std::string& v, std::initializer_list<const char*> allowed) {
  std::string names;
  for (const char* a : allowed) {
    if (v == a) return;
    names += (names.empty() ? "" : ", ") + std::string(a);
  }
  throw error(ErrorKind::argument, "unknown " + std::string(what) + " '" + v + "'; choose " + names);
}

/// `symmetric` of "kinds/symmetric.hpp".
std::string kind_in(const std::string& file) {
  const std::size_t slash = file.find_last_of('/'), from = slash == std::string::npos ? 0 : slash + 1;
  return file.substr(from, file.find_first_of('.', from) - from);
}

/// A file that nothing here compiles does no harm where the program has brought the kind for the host.
void check_entry_file(const std::string& v) {
  if (v.empty()) return;
  try {
    take_entry_file(kind_in(v), v, scalar_type_of<Scalar>());
  } catch (const error& e) {
    const bool known = registered_host_entry(kind_in(v), scalar_type_of<Scalar>());
    if (e.kind() != ErrorKind::unsupported || !known) throw;
  }
}

struct Option {
  const char* name;  ///< after -mat_compound_
  std::string help;
  std::string Settings::*value;
  void (*check)(const std::string&);
};

/// In the order they are read: the kind that a file brings may be asked for by the options after it.
const Option options[] = {
    {"entry_file", "a header with a kind of entry of one's own, named like the file, for devices (docs/entries.md)",
     &Settings::entry_file, check_entry_file},
    {"backend", "where products run: auto (follows the vectors), host, cuda, petsc (the parent's own)",
     &Settings::backend, check_backend},
    {"block_size",
     "of packed blocks: auto (the matrix's), find (that takes the fewest bytes), N or ROWSxCOLUMNS, each a multiple or "
     "divisor of the matrix's block size, "
     "32 at most",
     &Settings::block_size, check_block_size},
    {"entry",
     "what a stored entry is: auto (the cheapest that holds every block), " + built_in_entry_names() + ", or one's own",
     &Settings::entry, check_entry},
    {"layout", "auto (by rule), " + preset_forms(), &Settings::layout, check_layout},
    {"memory_limit", "megabytes that a packed copy of a part of a matrix may own, or none: other plans are taken then",
     &Settings::memory_limit, [](const std::string& v) { memory_limit_of(v); }},
    {"padding_limit",
     "slots over entries that a layout may come to, 4, or none; padding of less than 64 MB is let through",
     &Settings::padding_limit, [](const std::string& v) { padding_limit_of(v); }},
    {"plan", "a whole plan as one line, as views print it", &Settings::plan, check_plan},
    {"precision", "of stored matrix values: double, single (vectors and sums stay double)", &Settings::precision,
     [](const std::string& v) {
       check_word("precision", v, {"double", "single"});
     }},
    {"transpose", "products by the transpose on a device: copy (of the values), shared (no copy, slower)",
     &Settings::transpose,
     [](const std::string& v) {
       check_word("transpose", v, {"copy", "shared"});
     }},
    {"tune",
     "effort to find a plan: off (by rule), model (by predicted times, on devices), wisdom (what was measured before), "
     "measure (times the plans near the "
     "rule's, in 150 products), exhaustive (times all plans there are)",
     &Settings::tune, [](const std::string& v) { effort_of(v); }},
    {"wisdom", "file of what was measured, read and written where a plan is tuned: auto (the user's), a path, or none",
     &Settings::wisdom,
     [](const std::string& v) {
       if (v.empty()) throw error(ErrorKind::argument, "the wisdom file has no name; give a path, auto or none");
     }},
    {"tune_seconds", "that tuning may pack copies for, of one part of a matrix, or none", &Settings::tune_seconds,
     [](const std::string& v) { seconds_of(v); }},
    {"tune_score",
     "what measuring takes: time (the fastest plan), bytes:W (that of the least sum of time and bytes of the packed "
     "copy, W from 0 to 1 the weight of these)",
     &Settings::tune_score, [](const std::string& v) { memory_weight_of(v); }},
    {"tune_libraries",
     "whose products measuring tries, too, on devices: none, " + library_names() +
         " (opened when it is first asked for; a plan names its products without this)",
     &Settings::tune_libraries,
     [](const std::string& v) {
       if (v != "none" && !is_library(v))
         throw error(ErrorKind::argument, "unknown library '" + v + "'; choose none, " + library_names());
     }},
    {"expected_products", "by the matrix, of whose time tuning takes a tenth at most: a number, or unknown",
     &Settings::expected_products, [](const std::string& v) { products_of(v); }},
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
    o.check(value);
    settings.*o.value = value;
    if (name == "layout") settings.plan.clear();  // the last word counts
    ++settings.version;
    settings.viewed = false;
  }
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
    PetscCall(PetscOptionsString(key.c_str(), o.help.c_str(), "MatSetFromOptions", (settings.*o.value).c_str(), text,
                                 sizeof(text), &given));
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
