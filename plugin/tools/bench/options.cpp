#include "options.hpp"

#include <algorithm>

#include "cusparse_kinds.hpp"
#include "layout/layout_spec.hpp"

namespace compound::bench {

namespace {

/// TYPE, TYPE/assembly, TYPE/coo, TYPE/dense, TYPE/METHOD or TYPE/METHOD/dense.
void read_types(Options& o, const std::string& v) {
  for (const std::string& word : listed(v, ',', "matrix types separated by ','")) {
    const std::size_t slash = word.find('/');
    const std::string type = word.substr(0, slash), after = slash == word.npos ? "" : word.substr(slash + 1);
    if (slash != word.npos && (type.empty() || after.empty()))
      throw wrong_value("expected a type before the slash, and assembly, coo, dense or a Krylov method after it");
    if (slash == word.npos)
      o.types.push_back(type);
    else if (after == "assembly")
      o.inserted.push_back(type);
    else if (after == "coo")
      o.assembled.push_back(type);
    else if (after == "dense")
      o.of_dense.push_back(type);
    else if (after.ends_with("/dense"))
      o.of_columns.push_back({type, after.substr(0, after.rfind('/'))});
    else
      o.solvers.push_back({type, after});
  }
}

void read_columns(Options& o, const std::string& v) {
  const std::string expected = "integers from 1 to 1000, as in 4,8";
  o.columns.clear();
  for (const std::string& part : listed(v, ',', expected)) o.columns.push_back(number(part, 1, 1000, expected));
}

/// After "layouts": their names, with blanks between; none: all there are.
void read_layouts(Options& o, std::string_view names) {
  if (trimmed(names).empty())
    for (const Preset& p : presets()) o.layouts.push_back(layout_name(parse_layout(p.name)));
  for (const std::string& layout : split(names, ' ')) {
    if (layout.empty()) continue;
    parse_layout(layout);
    o.layouts.push_back(layout);
  }
}

/// PLAN, "hamilton PLAN" or "layouts NAMES".
void read_core_plans(Options& o, const std::string& v) {
  for (const std::string& line : listed(v, ';', "plan lines separated by ';'")) {
    const std::string first = line.substr(0, line.find(' ')), rest = line.substr(first.size());
    if (first == "layouts")
      read_layouts(o, rest);
    else if (first == "hamilton")
      o.hamilton.emplace_back(rest.empty() ? "auto" : trimmed(rest));
    else
      o.core_plans.push_back(line);
  }
}

void read_cusparse(Options& o, const std::string& v) {
  o.cusparse.clear();
  if (v == "all") {
    for (const CusparseKind& k : cusparse_kinds()) o.cusparse.emplace_back(k.name);
    return;
  }
  o.cusparse = listed(v, ',', "names separated by ','");
  for (const std::string& name : o.cusparse)
    if (!find_cusparse(name)) throw unknown_word("product", name, "all, " + cusparse_names());
}

const OptionRow<Options> rows[] = {
    {"-types",
     "PETSc matrix types to compare, separated by commas, or none; TYPE/assembly times insertion of blocks and the "
     "first solves, TYPE/coo assembly from the matrix' scalars as coordinates, TYPE/dense products with dense "
     "matrices, TYPE/METHOD a Krylov method (baijcompound/cgcompound, with the options of -pc_type and the like), and "
     "TYPE/METHOD/dense its KSPMatSolve, each in a table of its own",
     "aij,baij,baijcompound; with plans baij; on a device aijcusparse,baijcompound; with plans aijcusparse",
     {read_types}},
    {"-columns",
     "columns of the dense matrices of TYPE/dense and TYPE/METHOD/dense, separated by commas",
     "1,2,4,8,16",
     {read_columns}},
    {"-plans", "plans of baijcompound to compare (-mat_compound_plan), separated by semicolons", "",
     list_option(&Options::plans, ';', "plan lines")},
    {"-core_plans",
     "plans to run without PETSc's vectors (any vectors=, float vectors), one rank only; layouts, or layouts csr "
     "sell:8: a table of them, each packed alone; for the papers' experiments hamilton PLAN: by the four real matrices "
     "of a matrix of quaternions",
     "",
     {read_core_plans}},
    {"-cusparse",
     "products of cuSPARSE to compare: all, or names separated by commas; one rank only",
     "",
     {read_cusparse}},
    {"-cold", "time products whose data is not in the device's cache as well", "false", flag_option(&Options::cold),
     true},
    {"-graph", "time replays of 20 captured products as well", "false", flag_option(&Options::graph), true},
    {"-baseline", "candidate that ratios refer to", "baij, else the first", text_option(&Options::baseline)},
    {"-operation", "mult (y = A x), multadd (y = z + A x), transpose (y = A^T x)", "mult",
     word_option(&Options::operation, "operation", operation_words)},
    {"-rounds", "rounds; each times every candidate once", "7", integer_option(&Options::rounds, 1, 1000000)},
    {"-min_time", "seconds that a candidate runs per round, at least", "0.05",
     number_option(&Options::min_time_s, 0.0, 3600.0, "seconds from 0 to 3600")},
    {"-warm_up", "products of every candidate before the first round, at least", "3",
     integer_option(&Options::warm_up, 1, 1000000)},
    {"-no_check", "do not compare results with the first candidate's", "false", flag_option(&Options::check, false),
     true},
};

void check_device_options(const Options& o) {
  const std::pair<const char*, bool> only_there[] = {
      {"-cusparse", !o.cusparse.empty()}, {"-cold", o.cold}, {"-graph", o.graph}};
  for (const auto& [name, asked] : only_there)
    if (asked && !o.on_device) throw usage_error(std::string(name) + " needs a device; add -device cuda");
}

std::vector<std::string> usual_types(const Options& o) {
  const bool others = !o.plans.empty() || o.wants_core() || !o.cusparse.empty();
  if (o.on_device)
    return others ? std::vector<std::string>{"aijcusparse"} : std::vector<std::string>{"aijcusparse", "baijcompound"};
  return others ? std::vector<std::string>{"baij"} : std::vector<std::string>{"aij", "baij", "baijcompound"};
}

std::string option_of_file(const Options& o) { return o.pattern_alone ? "-pattern" : "-matrix"; }

bool is_square(const BlockShape& b) { return b.rows == b.cols; }

bool all_square(const Options& o) { return std::ranges::all_of(o.multiplied(), is_square); }

/// Of PETSc's types AIJ alone takes blocks that are not square.
void check_shapes(const Options& o) {
  if (!o.file.empty() && !std::ranges::all_of(o.blocks, is_square))
    throw usage_error(option_of_file(o) + " takes square blocks: -block_size is one number, and -regroup " +
                      block_text(*std::ranges::find_if_not(o.blocks, is_square)) + " makes others of its scalars");
  if (all_square(o)) return;
  const auto serves = [](const std::string& type) { return type == "aij" || type == "none"; };
  if (!std::ranges::all_of(o.types, serves) || !o.plans.empty() || o.wants_more_of_types())
    throw usage_error(std::string(o.regrouped.empty() ? "-block_size" : "-regroup") +
                      ": blocks that are not square have no -types but aij, and no -plans; give -core_plans");
  if (o.core_plans.empty() && o.layouts.empty())
    throw usage_error(std::string(o.regrouped.empty() ? "-block_size" : "-regroup") +
                      ": blocks that are not square need -core_plans");
}

void complete_types(Options& o) {
  if (o.types == std::vector<std::string>{"none"})
    o.types.clear();
  else if (o.types.empty() && !o.wants_more_of_types() && all_square(o))
    o.types = usual_types(o);
  if (o.types.empty() && o.plans.empty() && !o.wants_core() && o.cusparse.empty() && !o.wants_more_of_types())
    throw usage_error("-types none leaves nothing to compare; give -plans, -core_plans or -cusparse");
}

void check_file_options(const Options& o) {
  const std::string option = option_of_file(o);
  const std::pair<const char*, bool> generators[] = {
      {"-grid", o.grid != nullptr},
      {"-n", !o.sides.empty()},
      {o.size_by == SizeBy::rows ? "-rows" : "-megabytes", !o.sizes.empty()},
      {"-shuffle", o.shuffle_window > 1},
      {"-entry", o.entry != "dense" && !o.pattern_alone},
      {"-values", o.values != Values::random && !(o.values == Values::symmetric && o.pattern_alone)},
      {"-long_rows", o.long_rows.count > 0}};
  for (const auto& [name, asked] : generators)
    if (asked) throw usage_error(option + " excludes the generator's options, such as " + std::string(name));
  if (o.blocks.size() > 1) throw usage_error(option + " takes one -block_size, not a list; run once for each");
}

void check_complex(const Options& o) {
  if (o.complex_as == ComplexAs::scalars) return;
  if (o.file.empty() || o.pattern_alone)
    throw usage_error("-complex blocks is for files of -matrix; generated blocks are made by -entry complex");
  if (sizeof(PetscScalar) != sizeof(PetscReal))
    throw usage_error("-complex blocks: this PETSc's scalars are complex already; leave it out");
}

void complete_grid(Options& o) {
  if (!o.grid) o.grid = find_grid("7");
  const std::string grid = "-n: -grid " + std::string(o.grid->name);
  for (const auto& sides : o.sides) {
    if (std::ranges::any_of(sides, [&](std::int64_t side) { return side < least_side(*o.grid); }))
      throw usage_error(grid + " needs at least " + std::to_string(least_side(*o.grid)) + " nodes a side");
    if (sides.size() == 1) continue;
    if (o.grid->one_side) throw usage_error(grid + " takes one number, for all its sides");
    if (static_cast<int>(sides.size()) != o.grid->dimensions)
      throw usage_error(grid + " takes one number or " + std::to_string(o.grid->dimensions) +
                        ", one for each direction");
  }
  if (o.sizes.empty() && o.sides.empty()) o.sizes = {64000};
}

}  // namespace

void check_and_complete(Options& o) {
  check_device_options(o);
  check_complex(o);
  if (!o.file.empty()) check_file_options(o);
  if (o.blocks.empty() && (o.file.empty() || o.pattern_alone)) o.blocks = {{3, 3}};
  check_shapes(o);
  complete_types(o);
  if (o.file.empty()) complete_grid(o);
}

PetscErrorCode show_help(MPI_Comm comm) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "compound-bench options:\n"));
  PetscCall(show_rows(comm, case_option_rows()));
  PetscCall(show_rows(comm, rows));
  PetscCall(
      PetscPrintf(comm,
                  "Columns: GB/s are of compulsory bytes: each stored scalar once in the plan's precision, 4 bytes "
                  "a column index and a row start, x and y once.\n'%% read' is their share of a plain sum over "
                  "the same arrays. Packing is in products.\n-help prints PETSc's own options below these, "
                  "-help intro these alone.\n"));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

Options read_options() {
  Options o;
  read_rows(case_option_rows(), o);
  read_rows(rows, o);
  check_and_complete(o);
  return o;
}

OptionNames option_names() { return names_of(case_option_rows(), rows); }

}  // namespace compound::bench
