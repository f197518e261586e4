#include "prepare_case.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "device.hpp"
#include "failure.hpp"
#include "memory.hpp"

namespace compound::bench {

namespace {

/// All sizes with blocks of one shape.
std::vector<Grid> grids_of(const Options& o, const BlockShape& block) {
  std::vector<Grid> all;
  for (const auto& n : o.sides)
    all.push_back(n.size() == 1 ? Grid(o.grid, n[0]) : Grid(o.grid, {n[0], n[1], n.size() > 2 ? n[2] : 1}));
  const double block_bytes = static_cast<double>(block.rows) * block.cols * sizeof(PetscScalar);
  for (const double size : o.sizes)
    all.push_back(o.size_by == SizeBy::rows ? grid_of_rows(*o.grid, size)
                                            : grid_of_entries(*o.grid, 1e6 * size / block_bytes));
  return all;
}

}  // namespace

std::vector<CaseSpec> cases_of(const Options& o) {
  std::vector<CaseSpec> all;
  const auto add = [&](const BlockShape& block, const Grid& grid) {
    for (const std::string& ordering : o.renumber) {
      const CaseSpec given{block, grid, ordering};
      if (o.regrouped.empty()) all.push_back(given);
      for (const BlockShape& shape : o.regrouped) all.emplace_back(given).regrouped = shape;
    }
  };
  if (!o.file.empty()) add(o.blocks.empty() ? BlockShape{} : o.blocks.front(), {});
  const std::size_t sizes = o.sides.size() + o.sizes.size();
  for (std::size_t size = 0; size < sizes; ++size)
    for (const BlockShape& block : o.blocks) add(block, grids_of(o, block)[size]);
  return all;
}

std::string describe(const CaseSpec& spec, const Options& o) {
  if (!spec.grid.kind) return o.file + (o.pattern_alone && o.entry != "dense" ? ", " + o.entry + " blocks" : "");
  std::string text = spec.grid.description();
  if (o.entry != "dense") text += ", " + o.entry + " blocks";
  if (o.values != Values::random) text += ", " + std::string(word_of(values_words, o.values)) + " values";
  if (o.long_rows.count > 0)
    text += ", " + std::to_string(o.long_rows.count) + " rows of " + std::to_string(o.long_rows.length(spec.grid));
  if (o.shuffle_window >= spec.grid.rows())
    text += ", rows shuffled";
  else if (o.shuffle_window > 1)
    text += ", rows shuffled within " + std::to_string(o.shuffle_window);
  return text;
}

std::string description_of(const CaseSpec& spec, const Options& o) {
  return describe(spec, o) + (spec.ordering == "natural" ? "" : ", numbered by " + spec.ordering);
}

namespace {

void check_counts(const CaseSpec& spec, const Options& o) {
  const double scalars = static_cast<double>(spec.grid.rows()) * std::max(spec.block.rows, spec.block.cols);
  if (scalars > static_cast<double>(std::numeric_limits<PetscInt>::max()))
    throw std::invalid_argument("the matrix would have more rows than PETSc's indices count; choose a smaller case");
  if (o.long_rows.count > spec.grid.rows())
    throw std::invalid_argument("-long_rows: " + std::to_string(o.long_rows.count) + " rows of " +
                                std::to_string(spec.grid.rows()) + "; choose fewer or a larger matrix");
}

/// A rehearsal for a file's matrix has blocks that are entries of all kinds.
ValueRule rule_of(const Generated& matrix, const BlockShape& block, const Options& o) {
  return o.file.empty() ? ValueRule(o.entry, block, o.seed, o.values, &matrix) : ValueRule::identity(block);
}

bool is_natural(const std::string& ordering) { return ordering == "natural"; }

CaseMatrix finished(Matrix matrix, const CaseSpec& spec, const Options& o) {
  if (is_natural(spec.ordering)) return make_case(std::move(matrix), o.operation, o.seed);
  PetscInt block_size;
  must(MatGetBlockSize(matrix, &block_size));
  double ordering_s = 0;
  Matrix in_order = renumbered(std::move(matrix), spec.ordering, static_cast<int>(block_size), ordering_s);
  CaseMatrix c = make_case(std::move(in_order), o.operation, o.seed);
  c.ordering_s = ordering_s;
  return c;
}

CaseMatrix finished(BlockRows rows, const CaseSpec& spec, const Options& o) {
  double ordering_s = 0;
  if (!is_natural(spec.ordering)) rows = renumbered(rows, ordering_of(rows, spec.ordering, ordering_s), spec.block);
  CaseMatrix c = make_case(std::move(rows), spec.block, o.operation, o.seed);
  c.ordering_s = ordering_s;
  return c;
}

CaseMatrix generate(MPI_Comm comm, const CaseSpec& spec, const Options& o) {
  BlockRows rows;
  std::optional<Generated> matrix;
  std::optional<ValueRule> rule;
  collectively(comm, [&] {
    check_counts(spec, o);
    matrix = Generated{spec.grid, Shuffle(spec.grid.rows(), o.shuffle_window, o.seed), o.long_rows};
    rule.emplace(rule_of(*matrix, spec.block, o));
    const Share share = share_of_rank(comm, spec.grid.rows());
    rows = generated_rows(*matrix, share.first, share.rows);
  });
  if (spec.block.rows == spec.block.cols) return finished(assemble(comm, rows, spec.block.rows, &*rule), spec, o);
  rows.values = rule->values(rows);
  return finished(std::move(rows), spec, o);
}

/// Generated blocks at the places of a file.
CaseMatrix fill_pattern(MPI_Comm comm, const CaseSpec& spec, const Options& o,
                        const std::function<void(const CaseSize&)>& check) {
  const BlockRows rows = load_pattern(comm, o.file, spec.block, check);
  std::optional<ValueRule> rule;
  collectively(comm, [&] { rule.emplace(o.entry, spec.block, o.seed, o.values, nullptr); });
  return finished(assemble(comm, rows, spec.block.rows, &*rule), spec, o);
}

void check_all_memory(MPI_Comm comm, const CaseSize& size, const Options& o) {
  check_memory(comm, size, o);
  if (used_device())
    collectively(comm, [&] { check_device_memory(size, o, ranks_of(comm), used_device()->free_bytes()); });
}

CaseMatrix given_case(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.grid.kind) {
    const double entries = entries_of(spec.grid, o.long_rows);
    progress.say("assembling " + describe(spec, o), entries * spec.block.rows * spec.block.cols > 1e7);
    check_all_memory(comm, {double(spec.grid.rows()), entries, spec.block}, o);
    return generate(comm, spec, o);
  }
  progress.say("reading " + o.file);
  const auto check = [&](const CaseSize& announced) { check_all_memory(comm, announced, o); };
  if (o.pattern_alone) return fill_pattern(comm, spec, o, check);
  CaseMatrix c = finished(load(comm, o.file, spec.block.rows, o.complex_as == ComplexAs::blocks, check), spec, o);
  check_all_memory(comm, {double(c.block_rows), double(c.entries), c.block}, o);  // blocks may be partly zero
  return c;
}

/// One rank alone.
CaseMatrix regrouped(CaseMatrix given, BlockShape to, const Options& o) {
  BlockRows rows = regrouped(rows_of(given.arrays().front(), given.block), given.block, to);
  const double ordering_s = given.ordering_s;
  const bool symmetric = given.parent && is_known_symmetric(given.parent);
  given = {};
  CaseMatrix c = to.rows == to.cols ? make_case(assemble_alone(rows, to.rows, symmetric), o.operation, o.seed)
                                    : make_case(std::move(rows), to, o.operation, o.seed);
  c.ordering_s = ordering_s;
  check_all_memory(PETSC_COMM_SELF, {double(c.block_rows), double(c.entries), to}, o);
  return c;
}

}  // namespace

CaseMatrix prepare(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.regrouped.rows > 0 && ranks_of(comm) > 1) throw usage_error("-regroup runs on one rank; leave mpirun out");
  CaseMatrix c = given_case(comm, spec, o, progress);
  if (spec.regrouped.rows == 0) return c;
  progress.say("regrouping " + describe(spec, o) + " into blocks of " + block_text(spec.regrouped));
  return regrouped(std::move(c), spec.regrouped, o);
}

CaseMatrix small_case(MPI_Comm comm, const BlockShape& block, const Options& o) {
  Options options = o;
  options.shuffle_window = 1;
  options.long_rows = {};
  return generate(comm, {block, {find_grid("7"), 4}}, options);
}

}  // namespace compound::bench
