#include "options.hpp"

#include <petscmat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cusparse_kinds.hpp"
#include "error.hpp"
#include "failure.hpp"
#include "layout/layout_spec.hpp"
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

/// The parts of a list of numbers, of which none may be missing.
std::vector<std::string> parts_of(const char* option, const std::string& text, char separator,
                                  const std::string& allowed) {
  const std::vector<std::string> parts = split(text, separator);
  if (parts.empty() || std::ranges::any_of(parts, &std::string::empty)) refuse(option, text, allowed);
  return parts;
}

void take_measure(Options& o, SizeBy by) {
  if (!o.sizes.empty() || !o.sides.empty()) throw usage_error("-n, -rows and -megabytes exclude each other: give one");
  o.size_by = by;
}

void read_sizes(Options& o, const char* option, const std::string& text, SizeBy by, const std::string& allowed) {
  take_measure(o, by);
  const bool whole = by == SizeBy::rows;
  for (const std::string& part : parts_of(option, text, ',', allowed)) {
    o.sizes.push_back(number<double>(option, part, whole ? 1 : 1e-6, 1e15, allowed));
    if (whole && o.sizes.back() != std::floor(o.sizes.back())) refuse(option, part, allowed);
  }
}

void read_sides(Options& o, const std::string& v) {
  const std::string allowed = "expected positive integers, as in 10,20, or one for each direction, as in 148x148x58";
  constexpr std::int64_t most = 1000000000;
  take_measure(o, SizeBy::sides);
  for (const std::string& part : parts_of("-n", v, ',', allowed)) {
    std::vector<std::int64_t>& sides = o.sides.emplace_back();
    for (const std::string& side : parts_of("-n", part, 'x', allowed)) {
      const auto value = parse_number<std::int64_t>(side);
      if (!value || *value < 1 || *value > most) refuse("-n", part, allowed);
      sides.push_back(*value);
    }
  }
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

/// The row of a table of names.
template <class Table>
const auto& named(const Table& table, const char* option, const std::string& v, const std::string& what) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == v) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse(option, v, what + "choose " + known);
}

void read_long_rows(Options& o, const std::string& v) {
  const std::string allowed = "expected how many and how many times as long as the mean, as in 4:1000";
  const std::vector<std::string> parts = parts_of("-long_rows", v, ':', allowed);
  if (parts.size() != 2) refuse("-long_rows", v, allowed);
  o.long_rows.count = number<std::int64_t>("-long_rows", parts[0], 1, 1000000000, allowed);
  o.long_rows.factor = number<double>("-long_rows", parts[1], 1, 1e9, allowed);
}

void read_core_scalar(Options& o, const std::string& v) {
  if (v != "float" && v != "double") refuse("-core_scalar", v, "choose double, float");
  o.core_float = v == "float";
}

void read_renumber(Options& o, const std::string& v) {
  struct Ordering {
    std::string_view name;
  };
  constexpr Ordering orderings[] = {{MATORDERINGNATURAL}, {MATORDERINGRCM}, {MATORDERINGND}};
  o.renumber = names("-renumber", v, ',', "orders");
  for (const std::string& name : o.renumber) named(orderings, "-renumber", name, "unknown order; ");
}

void read_layouts(Options& o, const std::string& v) {
  if (v.empty() || v == "all") {
    for (const Preset& p : presets()) o.layouts.push_back(layout_name(parse_layout(p.name)));
    return;
  }
  o.layouts = names("-layouts", v, ',', "layouts");
  for (const std::string& layout : o.layouts) try {
      parse_layout(layout);
    } catch (const error& e) {
      throw usage_error(std::string("-layouts: ") + e.what());
    }
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
    {"-grid",
     "generated matrix: 7, 15, 27 (points of a cube of n^3 nodes), 5 (points of a square of n^2), surface (7 points, "
     "n^2 nodes of a torus), dense (n rows and columns), kkt (n^3 states of an optimality system, as nlpkkt)",
     "7", read_grid},
    {"-n", "nodes a side of the grid, or for each direction (148x148x58); a list makes a case of each", "", read_sides},
    {"-rows", "about that many block rows; a list makes a case of each", "64000",
     [](Options& o, const std::string& v) {
       read_sizes(o, "-rows", v, SizeBy::rows, "expected positive integers, as in 1000,8000");
     }},
    {"-megabytes", "about that many MB (10^6 bytes) of block values; a list makes a case of each", "",
     [](Options& o, const std::string& v) {
       read_sizes(o, "-megabytes", v, SizeBy::megabytes, "expected positive numbers, as in 1.5,1500");
     }},
    {"-complex", "what a file's complex numbers become: scalars, or blocks of 2x2 of a real matrix (Matrix Market)",
     "scalars", [](Options& o, const std::string& v) { o.complex_as = named(complex_names, "-complex", v, "").as; }},
    {"-block_size",
     "rows of a block, or rows x columns (3x2: needs -core_plans, beside which cuSPARSE's csr and sell may stand); a "
     "list makes a case of each. Files: default from the .info file, else 1",
     "3", read_block_sizes},
    {"-entry", "the kind of entry that generated blocks are, by its name in plans; dense: any", "dense",
     [](Options& o, const std::string& v) { o.entry = v; }},
    {"-values",
     "of a generated matrix: random, stencil (the same few numbers and blocks everywhere, as on a uniform mesh), "
     "convection (coefficients of convection and diffusion, -grid 5 and 7)",
     "random", [](Options& o, const std::string& v) { o.values = named(values_names, "-values", v, "").values; }},
    {"-long_rows", "COUNT:FACTOR: so many rows, evenly spread, of FACTOR times the mean length", "", read_long_rows},
    {"-shuffle", "number rows and columns at random within windows of so many rows, or all", "1", read_shuffle},
    {"-renumber", "orders of rows and columns: natural, rcm, nd (PETSc's); a list makes a case of each", "natural",
     read_renumber},
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
    {"-hamilton", "plans for the four real matrices of a matrix of quaternions, separated by semicolons; one rank only",
     "", [](Options& o, const std::string& v) { o.hamilton = names("-hamilton", v, ';', "plan lines"); }},
    {"-layouts",
     "a table of layouts, each packed alone: all, or names with their numbers, separated by commas; one rank only", "",
     read_layouts},
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
    {"-operation", "mult (y = A x), multadd (y = z + A x), transpose (y = A^T x)", "mult",
     [](Options& o, const std::string& v) {
       o.operation = named(operation_names, "-operation", v, "unknown operation; ").operation;
     }},
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
    {"-csv", "file for a line of comma-separated values for each candidate", "",
     [](Options& o, const std::string& v) { o.csv = v; }},
    {"-json", "file for all samples, the machine, versions and the command line", "",
     [](Options& o, const std::string& v) { o.json = v; }},
};

/// May be given without a value: `yes` reads them.
constexpr std::string_view switches[] = {"-no_check", "-cold", "-graph", "-coo", "-layouts"};

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

std::string did_you_mean(std::string_view name) {
  const auto closer = [&](const Row& a, const Row& b) {
    return edit_distance(name, a.name + 1) < edit_distance(name, b.name + 1);
  };
  const Row& best = *std::ranges::min_element(rows, closer);
  return edit_distance(name, best.name + 1) <= 2 ? " (did you mean " + std::string(best.name) + "?)" : "";
}

}  // namespace compound::bench
