#include "options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cusparse_kinds.hpp"
#include "failure.hpp"
#include "layout/layout_spec.hpp"

namespace compound::bench {

namespace {

void read_core_scalar(Options& o, const std::string& v) {
  if (v != "float" && v != "double") refuse("-core_scalar", v, "choose double, float");
  o.core_float = v == "float";
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

const OptionRow<Options> rows[] = {
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
     read_layouts, true},
    {"-core_scalar", "scalars of matrix and vectors under -core_plans and -cusparse: double, float", "double",
     read_core_scalar},
    {"-cusparse", "products of cuSPARSE to compare: all, or names separated by commas; one rank only", "",
     read_cusparse},
    {"-cold", "time products whose data is not in the device's cache as well", "false",
     [](Options& o, const std::string& v) { o.cold = yes("-cold", v); }, true},
    {"-graph", "time replays of 20 captured products as well", "false",
     [](Options& o, const std::string& v) { o.graph = yes("-graph", v); }, true},
    {"-coo", "time assembly from the matrix' scalars as coordinates as well, in a table of its own", "false",
     [](Options& o, const std::string& v) { o.coo = yes("-coo", v); }, true},
    {"-ksp", "time an iteration of these types of KSP on each of -types as well, separated by commas", "",
     [](Options& o, const std::string& v) { o.ksp = names("-ksp", v, ',', "types of KSP"); }},
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
     [](Options& o, const std::string& v) { o.check = !yes("-no_check", v); }, true},
    {"-csv", "file for a line of comma-separated values for each candidate", "",
     [](Options& o, const std::string& v) { o.csv = v; }},
    {"-json", "file for all samples, the machine, versions and the command line", "",
     [](Options& o, const std::string& v) { o.json = v; }},
};

}  // namespace

std::string_view name_of(Operation operation) {
  return std::ranges::find(operation_names, operation, &OperationName::operation)->name;
}

PetscErrorCode show_help(MPI_Comm comm) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "compound-bench options:\n"));
  PetscCall(show_rows(comm, case_option_rows()));
  PetscCall(show_rows(comm, rows));
  PetscCall(PetscPrintf(comm,
                        "Columns: GB/s are of compulsory bytes: each stored word once in the plan's precision, 4 bytes "
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

OptionNames option_names() {
  OptionNames all;
  add_names(case_option_rows(), all);
  add_names(rows, all);
  return all;
}

}  // namespace compound::bench
