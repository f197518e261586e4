#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cusparse_kinds.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace compound::bench {

namespace {

/// One option as it was given; `value` keeps the default if it was not.
struct Row {
  const char* name;  ///< with the dash
  const char* help;
  const char* shown_default;
  void (*read)(Options&, const std::string& value);
};

[[noreturn]] void refuse(const std::string& option, const std::string& found, const std::string& allowed) {
  throw usage_error(option + " '" + found + "': " + allowed);
}

template <class Number>
Number number(const char* option, const std::string& text, Number least, Number most, const std::string& allowed) {
  const auto value = parse_number<Number>(trimmed(text));
  if (!value || !(*value >= least && *value <= most)) refuse(option, text, allowed);
  return *value;
}

std::vector<double> sizes(const char* option, const std::string& text, const std::string& allowed, bool whole) {
  std::vector<double> all;
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) refuse(option, text, allowed);
    all.push_back(number<double>(option, part, whole ? 1 : 1e-6, 1e15, allowed));
    if (whole && all.back() != std::floor(all.back())) refuse(option, part, allowed);
  }
  if (all.empty()) refuse(option, text, allowed);
  return all;
}

void read_sizes(Options& o, const char* option, const std::string& text, SizeBy by, const std::string& allowed) {
  if (!o.sizes.empty()) throw usage_error("-n, -rows and -megabytes exclude each other: give one");
  o.sizes = sizes(option, text, allowed, by != SizeBy::megabytes);
  o.size_by = by;
}

/// A list whose parts may not be empty.
std::vector<std::string> names(const char* option, const std::string& text, char separator, const char* what) {
  const std::vector<std::string> all = split(text, separator);
  if (all.empty() || std::ranges::any_of(all, &std::string::empty))
    refuse(option, text, std::string("expected ") + what + " separated by '" + separator + "'");
  return all;
}

bool yes(const char* option, const std::string& text) {
  for (const char* word : {"", "1", "true", "yes", "on"})
    if (text == word) return true;
  for (const char* word : {"0", "false", "no", "off"})
    if (text == word) return false;
  refuse(option, text, "expected true or false");
}

void read_block_sizes(Options& o, const std::string& v) {
  const std::string allowed = "expected integers from 1 to 1024, or rows x columns, as in 1,2,3x2";
  for (const std::string& part : split(v, ',')) {
    const std::vector<std::string> sides = split(part, 'x');
    const auto side = [&](const std::string& text) {
      const auto value = parse_number<int>(text);
      if (!value || *value < 1 || *value > 1024) refuse("-block_size", part, allowed);
      return *value;
    };
    if (sides.empty()) refuse("-block_size", v, allowed);
    if (sides.size() > 2) refuse("-block_size", part, allowed);
    o.blocks.push_back({side(sides.front()), side(sides.back())});
  }
  if (o.blocks.empty()) refuse("-block_size", v, allowed);
}

void read_grid(Options& o, const std::string& v) {
  o.grid = find_grid(v);
  if (!o.grid) refuse("-grid", v, "unknown grid; choose " + grid_names());
}

void read_shuffle(Options& o, const std::string& v) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  o.shuffle_window =
      v == "all" ? all : number<std::int64_t>("-shuffle", v, 1, all, "expected a number of rows, or all");
}

void read_operation(Options& o, const std::string& v) {
  std::string known;
  for (const auto& n : operation_names) {
    if (n.name == v) {
      o.operation = n.operation;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(n.name);
  }
  refuse("-operation", v, "unknown operation; choose " + known);
}

void read_core_scalar(Options& o, const std::string& v) {
  if (v != "float" && v != "double") refuse("-core_scalar", v, "choose double, float");
  o.core_float = v == "float";
}

void read_device(Options& o, const std::string& v) {
  if (v != "host" && v != "cuda") refuse("-device", v, "choose host, cuda");
  o.on_device = v == "cuda";
}

void read_cusparse(Options& o, const std::string& v) {
  o.cusparse.clear();
  if (v == "all") {
    for (const CusparseKind& k : cusparse_kinds()) o.cusparse.emplace_back(k.name);
    return;
  }
  o.cusparse = names("-cusparse", v, ',', "names");
  for (const std::string& name : o.cusparse)
    if (!find_cusparse(name)) refuse("-cusparse", name, "unknown product; choose all, " + cusparse_names());
}

const Row rows[] = {
    {"-matrix", "file with the matrix: PETSc binary, or Matrix Market (coordinate); instead of -grid", "",
     [](Options& o, const std::string& v) { o.file = v; }},
    {"-grid", "generated matrix: 7, 15, 27 (points of a cube of n^3 nodes), surface (7 points, n^2 nodes of a torus)",
     "7", read_grid},
    {"-n", "nodes a side of the grid; a list makes a case of each", "",
     [](Options& o, const std::string& v) {
       read_sizes(o, "-n", v, SizeBy::side, "expected positive integers, as in 10,20");
     }},
    {"-rows", "about that many block rows; a list makes a case of each", "64000",
     [](Options& o, const std::string& v) {
       read_sizes(o, "-rows", v, SizeBy::rows, "expected positive integers, as in 1000,8000");
     }},
    {"-megabytes", "about that many MB (10^6 bytes) of block values; a list makes a case of each", "",
     [](Options& o, const std::string& v) {
       read_sizes(o, "-megabytes", v, SizeBy::megabytes, "expected positive numbers, as in 1.5,1500");
     }},
    {"-block_size",
     "rows of a block, or rows x columns (3x2: needs -core_plans, beside which cuSPARSE's csr and sell may stand); a "
     "list makes a case of each. Files: default from the .info file, else 1",
     "3", read_block_sizes},
    {"-entry", "the kind of entry that generated blocks are, by its name in plans; dense: any", "dense",
     [](Options& o, const std::string& v) { o.entry = v; }},
    {"-shuffle", "number rows and columns at random within windows of so many rows, or all", "1", read_shuffle},
    {"-seed", "of random values, vectors and shuffles", "1",
     [](Options& o, const std::string& v) {
       o.seed = number<std::uint64_t>("-seed", v, 0, UINT64_MAX, "expected a non-negative integer");
     }},
    {"-types", "PETSc matrix types to compare, separated by commas, or none",
     "aij,baij,baijcompound; with plans baij; on a device aijcusparse,baijcompound; with plans aijcusparse",
     [](Options& o, const std::string& v) { o.types = names("-types", v, ',', "matrix types"); }},
    {"-plans", "plans of baijcompound to compare (-mat_compound_plan), separated by semicolons", "",
     [](Options& o, const std::string& v) { o.plans = names("-plans", v, ';', "plan lines"); }},
    {"-core_plans", "plans to run without PETSc's vectors (any vectors=, float vectors), one rank only", "",
     [](Options& o, const std::string& v) { o.core_plans = names("-core_plans", v, ';', "plan lines"); }},
    {"-core_scalar", "scalars of matrix and vectors under -core_plans and -cusparse: double, float", "double",
     read_core_scalar},
    {"-device", "where plans, core plans and compound types have their vectors and run: host, cuda", "host",
     read_device},
    {"-cusparse", "products of cuSPARSE to compare: all, or names separated by commas; one rank only", "",
     read_cusparse},
    {"-cold", "time products whose data is not in the device's cache as well", "false",
     [](Options& o, const std::string& v) { o.cold = yes("-cold", v); }},
    {"-graph", "time replays of 20 captured products as well", "false",
     [](Options& o, const std::string& v) { o.graph = yes("-graph", v); }},
    {"-coo", "time assembly from the matrix' scalars as coordinates as well, in a table of its own", "false",
     [](Options& o, const std::string& v) { o.coo = yes("-coo", v); }},
    {"-baseline", "candidate that ratios refer to", "baij, else the first",
     [](Options& o, const std::string& v) { o.baseline = std::string(trimmed(v)); }},
    {"-operation", "mult (y = A x), multadd (y = z + A x), transpose (y = A^T x)", "mult", read_operation},
    {"-rounds", "rounds; each times every candidate once", "7",
     [](Options& o, const std::string& v) {
       o.rounds = number("-rounds", v, 1, 1000000, "expected an integer from 1 to 1000000");
     }},
    {"-min_time", "seconds that a candidate runs per round, at least", "0.05",
     [](Options& o, const std::string& v) {
       o.min_time_s = number("-min_time", v, 0.0, 3600.0, "expected seconds from 0 to 3600");
     }},
    {"-warm_up", "products of every candidate before the first round, at least", "3",
     [](Options& o, const std::string& v) {
       o.warm_up = number("-warm_up", v, 1, 1000000, "expected an integer from 1 to 1000000");
     }},
    {"-no_check", "do not compare results with the first candidate's", "false",
     [](Options& o, const std::string& v) { o.check = !yes("-no_check", v); }},
    {"-memory_limit", "MB (10^6 bytes) that all ranks together may use", "70 % of what is available",
     [](Options& o, const std::string& v) {
       o.memory_limit_bytes = 1e6 * number("-memory_limit", v, 1e-3, 1e12, "expected a positive number of MB");
     }},
    {"-json", "file for all samples, the machine, versions and the command line", "",
     [](Options& o, const std::string& v) { o.json = v; }},
};

/// May be given without a value: `yes` reads them.
constexpr std::string_view switches[] = {"-no_check", "-cold", "-graph", "-coo"};

/// Empty unless the option was given; a given one without a value is an empty text.
std::optional<std::string> given(const Row& row) {
  std::vector<char> text(1 << 16);
  PetscBool found = PETSC_FALSE;
  must(PetscOptionsGetString(nullptr, nullptr, row.name, text.data(), text.size(), &found));
  if (!found) return {};
  const std::string value = text.data();
  if (value.size() + 1 >= text.size()) throw usage_error(std::string(row.name) + ": the value is too long");
  if (value.empty() && std::ranges::find(switches, row.name) == std::end(switches))
    throw usage_error(std::string(row.name) + " needs a value: " + row.help);
  return value;
}

void check_device_options(const Options& o) {
  const std::pair<const char*, bool> only_there[] = {
      {"-cusparse", !o.cusparse.empty()}, {"-cold", o.cold}, {"-graph", o.graph}};
  for (const auto& [name, asked] : only_there)
    if (asked && !o.on_device) throw usage_error(std::string(name) + " needs a device; add -device cuda");
}

std::vector<std::string> usual_types(const Options& o) {
  const bool others = !o.plans.empty() || !o.core_plans.empty() || !o.cusparse.empty();
  if (o.on_device)
    return others ? std::vector<std::string>{"aijcusparse"} : std::vector<std::string>{"aijcusparse", "baijcompound"};
  return others ? std::vector<std::string>{"baij"} : std::vector<std::string>{"aij", "baij", "baijcompound"};
}

bool all_square(const Options& o) {
  return std::ranges::all_of(o.blocks, [](const BlockShape& b) { return b.rows == b.cols; });
}

/// PETSc has no type of blocks that are not square.
void check_shapes(const Options& o) {
  if (all_square(o)) return;
  if (!o.file.empty()) throw usage_error("-matrix takes square blocks: -block_size is one number");
  const bool asks_types = !o.types.empty() && o.types.front() != "none";
  if (asks_types || !o.plans.empty() || o.coo)
    throw usage_error("-block_size: blocks that are not square have no -types, -plans and -coo; give -core_plans");
  if (o.core_plans.empty()) throw usage_error("-block_size: blocks that are not square need -core_plans");
}

void complete_types(Options& o) {
  if (o.types == std::vector<std::string>{"none"})
    o.types.clear();
  else if (o.types.empty() && all_square(o))
    o.types = usual_types(o);
  if (o.types.empty() && o.plans.empty() && o.core_plans.empty() && o.cusparse.empty())
    throw usage_error("-types none leaves nothing to compare; give -plans, -core_plans or -cusparse");
}

void check_and_complete(Options& o) {
  if (!o.file.empty() && (o.grid || !o.sizes.empty() || o.shuffle_window > 1 || o.entry != "dense"))
    throw usage_error("-matrix excludes the generator's -grid, -n, -rows, -megabytes, -shuffle and -entry");
  if (!o.file.empty() && o.blocks.size() > 1)
    throw usage_error("-matrix takes one -block_size, not a list; run once for each");
  check_device_options(o);
  if (o.blocks.empty() && o.file.empty()) o.blocks = {{3, 3}};
  check_shapes(o);
  complete_types(o);
  if (!o.file.empty()) return;
  if (!o.grid) o.grid = find_grid("7");
  if (o.sizes.empty()) o.sizes = {64000};
  if (o.size_by == SizeBy::side && *std::ranges::min_element(o.sizes) < static_cast<double>(least_side(*o.grid)))
    throw usage_error("-n: -grid " + std::string(o.grid->name) + " needs at least " +
                      std::to_string(least_side(*o.grid)) + " nodes a side");
}

}  // namespace

std::string_view name_of(Operation operation) {
  return std::ranges::find(operation_names, operation, &OperationName::operation)->name;
}

PetscErrorCode show_help(MPI_Comm comm) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "compound-bench options:\n"));
  for (const Row& row : rows) PetscCall(PetscPrintf(comm, "  %s <%s>: %s\n", row.name, row.shown_default, row.help));
  PetscCall(PetscPrintf(comm,
                        "Columns: GB/s are of compulsory bytes: each stored word once in the plan's precision, 4 bytes "
                        "a column index and a row start, x and y once.\n'%% read' is their share of a plain sum over "
                        "the same arrays. Packing is in products.\n-help prints PETSc's own options below these, "
                        "-help intro these alone.\n"));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

Options read_options() {
  Options o;
  for (const Row& row : rows)
    if (const auto value = given(row)) row.read(o, *value);
  check_and_complete(o);
  return o;
}

void check_words(int argc, const char* const* argv) {
  const auto is_option = [](std::string_view word) {
    return word.size() > 1 && word[0] == '-' && (std::isalpha(static_cast<unsigned char>(word[1])) || word[1] == '-');
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool stray = !is_option(word) && (i == 1 || !is_option(argv[i - 1]));
    if (!stray) continue;
    throw usage_error("unexpected word '" + word + "' on the command line" +
                      (i == 1 ? "; a matrix file is given by -matrix" : "; quote values that contain spaces"));
  }
}

namespace {

/// Beginnings of options that PETSc's objects or the plugin may still ask for.
constexpr std::string_view later_options[] = {"mat_",     "vec_",    "vecscatter_", "log_",     "is_",    "sf_",
                                              "matload_", "matmult", "viewer_",     "options_", "malloc", "info",
                                              "memory_",  "cuda_",   "hip_",        "device_",  "use_gpu"};

std::string nearest(std::string_view name) {
  const auto closer = [&](const Row& a, const Row& b) {
    return edit_distance(name, a.name + 1) < edit_distance(name, b.name + 1);
  };
  const Row& best = *std::ranges::min_element(rows, closer);
  return edit_distance(name, best.name + 1) <= 2 ? " (did you mean " + std::string(best.name) + "?)" : "";
}

}  // namespace

void check_unused_options(bool early) {
  PetscInt count = 0;
  char **option_names = nullptr, **values = nullptr;
  must(PetscOptionsLeftGet(nullptr, &count, &option_names, &values));
  std::string unknown;
  for (PetscInt i = 0; i < count; ++i) {
    const std::string_view name = option_names[i];
    const bool later = std::ranges::any_of(later_options, [&](std::string_view b) { return name.starts_with(b); });
    if ((early && later) || name == "use_gpu_aware_mpi") continue;  // PETSc asks for it when a device is touched
    unknown += (unknown.empty() ? "-" : ", -") + std::string(name) + nearest(name);
  }
  must(PetscOptionsLeftRestore(nullptr, &count, &option_names, &values));
  if (!unknown.empty())
    throw usage_error("nothing asked for the option(s) " + unknown + "; -help lists compound-bench's own");
}

}  // namespace compound::bench
