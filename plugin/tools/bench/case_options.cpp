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

void read_long_rows(Options& o, const std::string& v) {
  const std::string allowed = "expected how many and how many times as long as the mean, as in 4:1000";
  const std::vector<std::string> parts = parts_of("-long_rows", v, ':', allowed);
  if (parts.size() != 2) refuse("-long_rows", v, allowed);
  o.long_rows.count = number<std::int64_t>("-long_rows", parts[0], 1, 1000000000, allowed);
  o.long_rows.factor = number<double>("-long_rows", parts[1], 1, 1e9, allowed);
}

void read_renumber(Options& o, const std::string& v) {
  struct Ordering {
    std::string_view name;
  };
  constexpr Ordering orderings[] = {{MATORDERINGNATURAL}, {MATORDERINGRCM}, {MATORDERINGND}};
  o.renumber = names("-renumber", v, ',', "orders");
  for (const std::string& name : o.renumber) named(orderings, "-renumber", name, "unknown order; ");
}

void read_pattern(Options& o, const std::string& v) {
  if (!o.file.empty()) throw usage_error("-matrix and -pattern exclude each other: give one");
  o.file = v;
  o.pattern_alone = true;
}

void read_device(Options& o, const std::string& v) {
  if (v != "host" && v != "cuda") refuse("-device", v, "choose host, cuda");
  o.on_device = v == "cuda";
}

const OptionRow<Options> rows[] = {
    {"-matrix", "file with the matrix: PETSc binary, or Matrix Market (coordinate); instead of -grid", "",
     [](Options& o, const std::string& v) { o.file = v; }},
    {"-pattern",
     "Matrix Market file of which the pattern alone is taken: at each of its places a block of -block_size and -entry "
     "with random values; instead of -matrix",
     "", read_pattern},
    {"-grid",
     "generated matrix: 7, 15, 27 (points of a cube of n^3 nodes), 5 (points of a square of n^2), surface (7 points, "
     "n^2 nodes of a torus), dense (n rows and columns), kkt (n^3 states of an optimality system, as nlpkkt), "
     "elasticity "
     "(27 points with 3 unknowns each, as scalars)",
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
     "rows of a block, or rows x columns (3x2: in compound-bench for -core_plans and cuSPARSE's csr and sell alone); a "
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
    {"-device", "where plans and compound types have their vectors and run: host, cuda", "host", read_device},
    {"-memory_limit", "MB (10^6 bytes) that all ranks together may use", "70 % of what is available",
     [](Options& o, const std::string& v) {
       o.memory_limit_bytes = 1e6 * number("-memory_limit", v, 1e-3, 1e12, "expected a positive number of MB");
     }},
};

}  // namespace

std::span<const OptionRow<Options>> case_option_rows() { return rows; }

}  // namespace compound::bench
