// Options beside each other: what excludes what, and what is left out.
#include <algorithm>

#include "failure.hpp"
#include "options.hpp"

namespace compound::bench {

namespace {

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

bool all_square(const Options& o) {
  return std::ranges::all_of(o.blocks, [](const BlockShape& b) { return b.rows == b.cols; });
}

/// Of PETSc's types AIJ alone takes blocks that are not square.
void check_shapes(const Options& o) {
  if (all_square(o)) return;
  if (!o.file.empty()) throw usage_error(option_of_file(o) + " takes square blocks: -block_size is one number");
  const auto serves = [](const std::string& type) { return type == "aij" || type == "none"; };
  if (!std::ranges::all_of(o.types, serves) || !o.plans.empty() || o.coo || !o.ksp.empty())
    throw usage_error(
        "-block_size: blocks that are not square have no -types but aij, no -plans, -coo and -ksp; give -core_plans");
  if (o.core_plans.empty() && o.layouts.empty())
    throw usage_error("-block_size: blocks that are not square need -core_plans or -layouts");
}

void complete_types(Options& o) {
  if (o.types == std::vector<std::string>{"none"})
    o.types.clear();
  else if (o.types.empty() && all_square(o))
    o.types = usual_types(o);
  if (o.types.empty() && o.plans.empty() && !o.wants_core() && o.cusparse.empty())
    throw usage_error("-types none leaves nothing to compare; give -plans, -core_plans or -cusparse");
  if (o.types.empty() && !o.ksp.empty())
    throw usage_error("-ksp solves with matrices of -types; leave out -types none");
}

void check_file_options(const Options& o) {
  const std::string option = option_of_file(o);
  const std::pair<const char*, bool> generators[] = {
      {"-grid", o.grid != nullptr},
      {"-n", !o.sides.empty()},
      {o.size_by == SizeBy::rows ? "-rows" : "-megabytes", !o.sizes.empty()},
      {"-shuffle", o.shuffle_window > 1},
      {"-entry", o.entry != "dense" && !o.pattern_alone},
      {"-values", o.values != Values::random},
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

}  // namespace compound::bench
