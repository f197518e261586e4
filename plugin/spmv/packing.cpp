#include "spmv/packing.hpp"
#include "planner/default_plan.hpp"

#include <algorithm>

namespace compound::plugin {

namespace {

/// Row starts of an empty matrix, which PETSc may leave unallocated.
constexpr count32 no_rows[] = {0};

}  // namespace

PatternView pattern_of(const BlockArrays& b, Pattern& copy) {
  if (b.rows == 0) return {0, static_cast<idx>(b.cols), no_rows, {}};
  if constexpr (same_index_width) {
    const auto entries = static_cast<std::size_t>(b.start[b.rows]);
    const PatternView view{static_cast<idx>(b.rows),
                           static_cast<idx>(b.cols),
                           {reinterpret_cast<const count32*>(b.start), static_cast<std::size_t>(b.rows) + 1},
                           {reinterpret_cast<const idx*>(b.column), entries}};
    check(view);
    return view;
  } else {
    using Wide = std::conditional_t<same_index_width, std::int32_t, std::int64_t>;
    copy =
        pattern_from(b.rows, b.cols, reinterpret_cast<const Wide*>(b.start), reinterpret_cast<const Wide*>(b.column));
    return copy.view();
  }
}

namespace {

/// What products read, of dense blocks in the layout that is asked for, or in compressed rows.
double bytes_of_blocks(const Settings& s, bool off_diagonal, const Reblocked& r) {
  Plan plan;
  set_layout(plan, s.layout.empty() ? "csr" : s.layout);
  if (const auto text = s.plan_of_part(off_diagonal); !text.empty()) plan = parse_plan(text, plan);
  set_entry(plan, "dense");
  return read_bytes(r, plan, scalar_type_of<Scalar>(), backend("host"));
}

}  // namespace

DetectedBlock found_block(const Settings& s, bool off_diagonal, const PatternView& pattern, int given) {
  return detect_block_size(pattern, given, [&](const Reblocked& r) { return bytes_of_blocks(s, off_diagonal, r); });
}

namespace {

/// Ghost columns may come one by one: the off-diagonal part then stays as it is, unless the kind of entry needs the
/// blocks. Blocks that were not asked for must take less than single scalars with a column each.
bool is_worth_packing(const SeqState& st, BlockShape block, double fill) {
  const Settings& s = st.settings;
  if (s.names_kind()) return true;
  if (!st.family.keeps_blocks && s.block_size.way == BlockSize::of_matrix) {
    const double scalars = double(scalars_in(block));
    const double bytes_of_block = scalars * sizeof(Scalar) + sizeof(idx);
    const double bytes_of_scalars = fill * scalars * (sizeof(Scalar) + sizeof(idx));
    return bytes_of_block < bytes_of_scalars;
  }
  return !st.off_diagonal || fill >= 0.5;
}

/// The size of the blocks that are to be packed, of a part that is given in square ones of size `given`.
BlockShape packed_block(const SeqState& st, const PatternView& pattern, int given) {
  if (!st.family.keeps_blocks) return st.given.wanted;
  const Settings& s = st.settings;
  const bool finds = s.block_size.way == BlockSize::to_find;
  return finds ? found_block(s, st.off_diagonal, pattern, given).block : s.packed_block(given);
}

}  // namespace

PatternView packed_pattern(Packing& p, const PatternView& given, BlockShape* block) {
  PackedCopy& copy = p.copy;
  *block = p.b.block;
  const int size = block->rows;
  const BlockShape wanted = packed_block(p.st, given, size);
  if (wanted == *block) return given;
  try {
    copy.other_blocks = PackedCopy::OtherBlocks{reblocked(given, size, wanted)};
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  const double fill = copy.other_blocks->shape.fill(given.entries());
  if (!is_worth_packing(p.st, wanted, fill)) {
    copy.other_blocks.reset();
    return given;
  }
  *block = wanted;
  return copy.other_blocks->shape.pattern.view();
}

const Scalar* packed_values(Packing& p) {
  const Scalar* const given = p.b.values ? p.st.matrix_values.read(p.A) : nullptr;
  if (!p.copy.other_blocks) return given;
  if (p.regrouped.empty()) {
    Pattern copied;
    const Reblocked& shape = p.copy.other_blocks->shape;
    p.regrouped.resize(shape.pattern.column.size() * scalars_in(shape.block()));
    fill_blocks(shape, pattern_of(p.b, copied), given, p.regrouped.data());
  }
  return p.regrouped.data();
}

const Scalar* values_on_device(Packing& p) {
  MatrixValues& values = p.st.matrix_values;
  if (!p.on_device() || p.copy.other_blocks || !values.are_on_device(p.A)) return nullptr;
  return values.read(p.A, backend(row_of(p.place).backend));
}

namespace {

/// f(its pattern, its packed matrix) for both edges.
template <class F>
void for_each_edge(PackedCopy& copy, const F& f) {
  if (!copy.other_blocks) return;
  PackedCopy::OtherBlocks& other = *copy.other_blocks;
  f(other.shape.beside, other.beside);
  f(other.shape.below, other.below);
}

}  // namespace

void make_group_vectors(PackedCopy& copy) {
  if (!copy.other_blocks || copy.other_blocks->is_full()) return;
  PackedCopy::OtherBlocks& other = *copy.other_blocks;
  other.rows.emplace(other.shape.rows, copy.backend());
  other.cols.emplace(other.shape.cols, copy.backend());
}

void pack_edges(Packing& p) {
  const std::string_view place = row_of(p.place).backend;
  const Problem problem{{1, 1}, p.copy.problem.scalar};
  for_each_edge(p.copy, [&](const std::optional<Edge>& edge, std::optional<PackedCopy::PackedEdge>& packed) {
    if (!edge) return;
    const PatternView pattern = edge->pattern.view();
    const Plan plan = plan_for_layout("csr", statistics(pattern), problem, place);
    packed.emplace(PackedCopy::PackedEdge{{pattern, problem, plan, backend(place), PatternLifetime::outlives}, {}});
  });
}

void update_edges(Packing& p) {
  for_each_edge(p.copy, [&](const std::optional<Edge>& edge, std::optional<PackedCopy::PackedEdge>& packed) {
    if (!edge) return;
    std::vector<Scalar> values = values_of(*edge, p.st.matrix_values.read(p.A));
    packed->packed.update_values(values.data());
    if (packed->packed.lies_on_blocks()) packed->values = std::move(values);
  });
}

void transpose_edges(Packing& p) {
  for_each_edge(p.copy, [&](const std::optional<Edge>& edge, std::optional<PackedCopy::PackedEdge>& packed) {
    if (edge) packed->packed.prepare_transposed(edge->pattern.view(), plan_of_transpose, p.st.settings.transpose);
  });
}

void compile_edges(PackedCopy& copy) {
  for_each_edge(copy, [](const std::optional<Edge>& edge, std::optional<PackedCopy::PackedEdge>& packed) {
    if (edge) packed->packed.compile();
  });
}

Misfit misfit_at(Packing& p, count32 entry) {
  Pattern copied;
  const Problem& problem = p.copy.problem;
  const BlockShape block = problem.block;
  const auto* const other = p.copy.other_blocks ? &p.copy.other_blocks->shape : nullptr;
  const PatternView pattern = other ? other->pattern.view() : pattern_of(p.b, copied);
  const auto after = std::upper_bound(pattern.start.begin(), pattern.start.end(), entry);
  const auto row = static_cast<idx>(after - pattern.start.begin()) - 1, column = pattern.column[entry];
  const std::string_view kind = p.copy.packed->plan().entry;
  std::vector<Scalar> blocks_of_row(pattern.length(row) * scalars_in(block));
  to_blocks(pattern, problem, packed_values(p), blocks_of_row.data(), row, row + 1);
  const Scalar* const values = blocks_of_row.data() + (entry - pattern.start[row]) * scalars_in(block);
  return {std::string(kind), block, other ? other->rows.start[row] : PetscInt{row} * block.rows,
          other ? other->cols.start[column] : PetscInt{column} * block.cols, found_in(values, kind, problem)};
}

}  // namespace compound::plugin
