#include "spmv/packing.hpp"
#include "planner/default_plan.hpp"

#include <algorithm>

#include "spmv/block_times.hpp"

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
    if (!b.are_checked) check(view);
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
  if (plan.layout.columns == columns_by_patches) plan.layout.columns = LayoutSpec{}.columns;  // of square halves alone
  return read_bytes(r, plan, scalar_type_of<Scalar>(), backend("host"));
}

}  // namespace

DetectedBlock found_block(const Settings& s, bool off_diagonal, const PatternView& pattern, int given) {
  return detect_block_size(pattern, given, [&](const Reblocked& r) { return bytes_of_blocks(s, off_diagonal, r); });
}

BlockShape block_to_find(const Settings& s, bool off_diagonal, const PatternView& pattern, int given, Backend& on) {
  const BlockEffort by = off_diagonal ? BlockEffort::bytes : s.block_size.by;
  if (by == BlockEffort::bytes || (by == BlockEffort::model && !on.is_device()))
    return found_block(s, off_diagonal, pattern, given).block;
  constexpr double likely = 1.5;  // times the fewest bytes: what reads more is not the fastest
  std::vector<DetectedBlock> sizes =
      block_sizes_by_bytes(pattern, given, [&](const Reblocked& r) { return bytes_of_blocks(s, off_diagonal, r); });
  std::erase_if(sizes, [least = sizes.front().bytes](const DetectedBlock& d) { return d.bytes > likely * least; });
  return fastest_block(s, pattern, given, sizes, on);
}

namespace {

/// Ghost columns may come one by one: the off-diagonal part then stays as it is, unless the kind of entry needs the
/// blocks. Blocks that were not asked for must take less than single scalars with a column each.
bool is_worth_packing(const SeqState& st, BlockShape block, double fill) {
  const Settings& s = st.settings;
  if (s.names_kind()) return true;
  if (!st.base_type.keeps_blocks && s.block_size.way == BlockSize::of_matrix) {
    const double scalars = double(scalars_in(block));
    const double bytes_of_block = scalars * sizeof(Scalar) + sizeof(idx);
    const double bytes_of_scalars = fill * scalars * (sizeof(Scalar) + sizeof(idx));
    return bytes_of_block < bytes_of_scalars;
  }
  return !st.off_diagonal || fill >= 0.5;
}

/// The size of the blocks that are to be packed, of a part that is given in square ones of size `given`.
BlockShape packed_block(const Packing& p, const PatternView& pattern, int given) {
  if (!p.st.base_type.keeps_blocks) return p.st.input.wanted;
  const Settings& s = p.st.settings;
  const bool finds = s.block_size.way == BlockSize::to_find;
  return finds ? block_to_find(s, p.st.off_diagonal, pattern, given, p.backend()) : s.packed_block(given);
}

}  // namespace

std::optional<Reblocked> in_other_blocks(const Packing& p, const PatternView& given) {
  const int size = p.b.block.rows;
  const BlockShape wanted = packed_block(p, given, size);
  if (wanted == p.b.block) return {};
  try {
    Reblocked other = reblocked(given, size, wanted);
    if (is_worth_packing(p.st, wanted, other.fill(given.entries()))) return other;
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  return {};
}

bool reads_upper(const Packing& p) {
  const Settings& s = p.st.settings;
  const bool in_rows = s.layout.empty() || s.layout == "csr";
  return p.st.base_type.keeps_upper && !p.on_device() && in_rows && s.plan_of_part(false).empty() && !s.names_kind() &&
         s.block_size.way != BlockSize::to_find && s.packed_block(p.b.block.rows) == p.b.block;
}

Problem Packing::problem() const {
  const OtherBlocks* const other = copy.other_blocks();
  return {other ? other->shape().block() : b.block, scalar_type_of<Scalar>(), other ? ValueOrder::blocks : b.order,
          st.settings.reproducible, st.base_type.keeps_upper && !copy.both_triangles()};
}

PatternView Packing::given_pattern(Pattern& copied) const {
  const Mirrored* const both = copy.both_triangles();
  return both ? both->pattern.view() : pattern_of(b, copied);
}

PatternView Packing::pattern(Pattern& copied) const {
  const OtherBlocks* const other = copy.other_blocks();
  return other ? other->shape().pattern.view() : given_pattern(copied);
}

const Scalar* Packing::given_values() {
  const Scalar* const given = b.values ? st.matrix_values.read(A) : nullptr;
  const Mirrored* const both = copy.both_triangles();
  if (!both || !given) return given;
  if (mirrored.empty()) {
    mirrored.resize(both->from.size() * scalars_in(b.block));
    const bool conjugates = is_hermitian(A);
    const auto reflect = [conjugates](Scalar a) { return conjugates ? conjugate(a) : a; };
    fill_mirrored(*both, b.block.rows, given, mirrored.data(), reflect);
  }
  return mirrored.data();
}

const Scalar* Packing::values() {
  const OtherBlocks* const other = copy.other_blocks();
  const Scalar* const given = given_values();
  if (!other) return given;
  if (regrouped.empty()) {
    Pattern copied;
    const Reblocked& shape = other->shape();
    regrouped.resize(shape.pattern.column.size() * scalars_in(shape.block()));
    fill_blocks(shape, given_pattern(copied), given, regrouped.data());
  }
  return regrouped.data();
}

const Scalar* Packing::values_on_device() const {
  MatrixValues& values = st.matrix_values;
  const bool is_as_given = !copy.other_blocks() && !copy.both_triangles();
  if (!on_device() || !is_as_given || !values.are_on_device(A)) return nullptr;
  return values.read(A, backend());
}

Misfit misfit_at(Packing& p, count32 entry) {
  Pattern copied;
  const Problem problem = p.problem();
  const BlockShape block = problem.block;
  const Reblocked* const other = p.copy.other_blocks() ? &p.copy.other_blocks()->shape() : nullptr;
  const PatternView pattern = p.pattern(copied);
  const auto after = std::upper_bound(pattern.start.begin(), pattern.start.end(), entry);
  const auto row = static_cast<idx>(after - pattern.start.begin()) - 1, column = pattern.column[entry];
  const std::string_view kind = p.copy.packed()->plan().entry;
  std::vector<Scalar> blocks_of_row(pattern.length(row) * scalars_in(block));
  to_blocks(pattern, problem, p.values(), blocks_of_row.data(), row, row + 1);
  const Scalar* const values = blocks_of_row.data() + (entry - pattern.start[row]) * scalars_in(block);
  return {std::string(kind), block, other ? other->rows.start[row] : PetscInt{row} * block.rows,
          other ? other->cols.start[column] : PetscInt{column} * block.cols, found_in(values, kind, problem)};
}

}  // namespace compound::plugin
