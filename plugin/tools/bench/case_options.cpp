// Options that say which matrix a case has, and where its products run: those of all programs here.
#include <petscmat.h>

#include <cmath>
#include <limits>

#include "option_rows.hpp"
#include "options.hpp"

namespace compound::bench {

namespace {

void take_measure(Options& o, SizeBy by) {
  if (!o.sizes.empty() || !o.sides.empty()) throw usage_error("-n, -rows and -megabytes exclude each other: give one");
  o.size_by = by;
}

OptionValue<Options> sizes(SizeBy by) {
  return {[=](Options& o, const std::string& text) {
    const bool whole = by == SizeBy::rows;
    const std::string expected = whole ? "positive integers, as in 1000,8000" : "positive numbers, as in 1.5,1500";
    take_measure(o, by);
    for (const std::string& part : listed(text, ',', expected)) {
      o.sizes.push_back(number<double>(part, whole ? 1 : 1e-6, 1e15, expected));
      if (whole && o.sizes.back() != std::floor(o.sizes.back())) throw wrong_value("expected " + expected);
    }
  }};
}

void read_sides(Options& o, const std::string& v) {
  const std::string expected = "positive integers, as in 10,20, or one for each direction, as in 148x148x58";
  take_measure(o, SizeBy::sides);
  for (const std::string& part : listed(v, ',', expected)) {
    std::vector<std::int64_t>& sides = o.sides.emplace_back();
    for (const std::string& side : listed(part, 'x', expected))
      sides.push_back(number<std::int64_t>(side, 1, 1000000000, expected));
  }
}

OptionValue<Options> block_sizes(std::vector<BlockShape> Options::*member) {
  return {[=](Options& o, const std::string& v) {
    const std::string expected = "integers from 1 to 1024, or rows x columns, as in 1,2,3x2";
    for (const std::string& part : listed(v, ',', expected)) {
      const std::vector<std::string> sides = listed(part, 'x', expected);
      if (sides.size() > 2) throw wrong_value("expected " + expected);
      (o.*member).push_back({number(sides.front(), 1, 1024, expected), number(sides.back(), 1, 1024, expected)});
    }
  }};
}

void read_grid(Options& o, const std::string& v) {
  o.grid = find_grid(v);
  if (!o.grid) throw wrong_value("unknown grid; choose " + grid_names());
}

void read_shuffle(Options& o, const std::string& v) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  o.shuffle_window = v == "all" ? all : number<std::int64_t>(v, 1, all, "a number of rows, or all");
}

void read_long_rows(Options& o, const std::string& v) {
  const std::string expected = "how many and how many times as long as the mean, as in 4:1000";
  const std::vector<std::string> parts = listed(v, ':', expected);
  if (parts.size() != 2) throw wrong_value("expected " + expected);
  o.long_rows.count = number<std::int64_t>(parts[0], 1, 1000000000, expected);
  o.long_rows.factor = number<double>(parts[1], 1, 1e9, expected);
}

void read_renumber(Options& o, const std::string& v) {
  o.renumber = listed(v, ',', "orders separated by ','");
  for (const std::string& name : o.renumber)
    if (name != MATORDERINGNATURAL && name != MATORDERINGRCM && name != MATORDERINGND)
      throw unknown_word("order", name, MATORDERINGNATURAL ", " MATORDERINGRCM ", " MATORDERINGND);
}

void read_pattern(Options& o, const std::string& v) {
  if (!o.file.empty()) throw usage_error("-matrix and -pattern exclude each other: give one");
  o.file = v;
  o.pattern_alone = true;
}

const OptionRow<Options> rows[] = {
    {"-matrix", "file with the matrix: PETSc binary, or Matrix Market (coordinate); instead of -grid", "",
     text_option(&Options::file)},
    {"-pattern",
     "Matrix Market file of which the pattern alone is taken: at each of its entries a block of -block_size and -entry "
     "with random values; instead of -matrix",
     "",
     {read_pattern}},
    {"-grid",
     "generated matrix: 7, 15, 27 (points of a cube of n^3 nodes), 5 (points of a square of n^2), surface (7 points, "
     "n^2 nodes of a torus); for the papers' experiments dense (n rows and columns), kkt (n^3 states of an optimality "
     "system, as nlpkkt), elasticity (27 points with 3 unknowns each, as scalars)",
     "7",
     {read_grid}},
    {"-n",
     "nodes a side of the grid, or for each direction (148x148x58); a list makes a case of each",
     "",
     {read_sides}},
    {"-rows", "about that many block rows; a list makes a case of each", "64000", sizes(SizeBy::rows)},
    {"-megabytes", "about that many MB (10^6 bytes) of block values; a list makes a case of each", "",
     sizes(SizeBy::megabytes)},
    {"-complex", "what a file's complex numbers become: scalars, or blocks of 2x2 of a real matrix (Matrix Market)",
     "scalars",
     word_option(&Options::complex_as, "form", {{"scalars", ComplexAs::scalars}, {"blocks", ComplexAs::blocks}})},
    {"-block_size",
     "rows of a block, or rows x columns (3x2: in compound-bench for -core_plans and cuSPARSE's csr and sell alone); a "
     "list makes a case of each. Files: default from the .info file, else 1",
     "3", block_sizes(&Options::blocks)},
    {"-regroup",
     "sizes of blocks to make of the matrix's scalars, as in 1x2,3x3: a block that is not full gets zeros, and rows "
     "and columns are filled up to whole blocks; a list makes a case of each; one rank only",
     "as -block_size says", block_sizes(&Options::regrouped)},
    {"-entry", "block format of generated blocks, by its name in plans; dense: any", "dense",
     text_option(&Options::entry)},
    {"-values",
     "of a generated matrix: random, symmetric, stencil (the same few numbers and blocks everywhere, as on a uniform "
     "mesh); for "
     "the papers' experiments convection (coefficients of convection and diffusion, -grid 5 and 7)",
     "random", word_option(&Options::values, "values", values_words)},
    {"-long_rows",
     "COUNT:FACTOR: so many rows, evenly spread, of FACTOR times the mean length (for the papers' experiments)",
     "",
     {read_long_rows}},
    {"-shuffle", "number rows and columns at random within windows of so many rows, or all", "1", {read_shuffle}},
    {"-renumber",
     "orders of rows and columns: natural, rcm, nd (PETSc's); a list makes a case of each",
     "natural",
     {read_renumber}},
    {"-seed", "of random values, vectors and shuffles", "1",
     number_option<Options, std::uint64_t>(&Options::seed, 0, UINT64_MAX, "a non-negative integer")},
    {"-device", "where plans and compound types have their vectors and run: host, cuda", "host",
     word_option(&Options::on_device, "device", {{"host", false}, {"cuda", true}})},
    {"-core_scalar",
     "scalars of matrix and vectors under -core_plans and -cusparse, and of the plans of compound-tune: double, float",
     "double", word_option(&Options::core_float, "scalar", {{"double", false}, {"float", true}})},
    {"-memory_limit", "MB (10^6 bytes) that all ranks together may use", "70 % of what is available",
     number_option(&Options::memory_limit_bytes, 1e-3, 1e12, "a positive number of MB", 1e6)},
    {"-csv",
     "file for lines of comma-separated values: one for each candidate, of compound-tune one for each sample of each "
     "plan",
     "", text_option(&Options::csv)},
    {"-json", "file for all results: samples, the machine, versions and the command line", "",
     text_option(&Options::json)},
};

}  // namespace

std::span<const OptionRow<Options>> case_option_rows() { return rows; }

}  // namespace compound::bench
