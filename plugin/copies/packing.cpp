#include "copies/packing.hpp"

#include <algorithm>

namespace compound::plugin {

namespace {

/// Row starts of an empty matrix, which PETSc may leave unallocated.
constexpr count32 no_rows[] = {0};

/// Ghost columns may come one by one: the off-diagonal part then stays as it is, unless the kind of entry needs the
/// blocks.
bool is_worth_it(const SeqState& st, const Reblocked& r, const PatternView& given) {
  const bool needed = st.settings.entry != "auto" && st.settings.entry != "dense";
  return !st.off_diagonal || needed || r.fill(given.entries()) >= 0.5;
}

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

PatternView packed_pattern(Packing& p, const PatternView& given, int* size) {
  PackedCopy& copy = p.copy;
  const int given_size = *size = static_cast<int>(p.b.block_size);
  const int wanted = p.st.settings.packed_block_size(given_size);
  if (wanted == given_size) return given;
  try {
    copy.other_blocks = PackedCopy::OtherBlocks{reblocked(given, given_size, wanted), {}, {}, {}};
  } catch (const error& e) {
    throw error(e.kind(), std::string(e.what()) + " (-mat_compound_block_size)");
  }
  if (!is_worth_it(p.st, copy.other_blocks->shape, given)) {
    copy.other_blocks.reset();
    return given;
  }
  *size = wanted;
  return copy.other_blocks->shape.pattern.view();
}

const Scalar* packed_blocks(Packing& p) {
  const auto* const given = reinterpret_cast<const Scalar*>(p.b.values);
  if (!p.copy.other_blocks) return given;
  if (p.regrouped.empty()) {
    Pattern copied;
    const Reblocked& shape = p.copy.other_blocks->shape;
    p.regrouped.resize(shape.pattern.column.size() * static_cast<std::size_t>(shape.to) * shape.to);
    fill_blocks(shape, pattern_of(p.b, copied), given, p.regrouped.data());
  }
  return p.regrouped.data();
}

Misfit misfit_at(Packing& p, count32 entry) {
  Pattern copied;
  const int size = p.copy.problem.block.rows;
  const auto* const other = p.copy.other_blocks ? &p.copy.other_blocks->shape : nullptr;
  const PatternView pattern = other ? other->pattern.view() : pattern_of(p.b, copied);
  const auto after = std::upper_bound(pattern.start.begin(), pattern.start.end(), entry);
  const auto row = static_cast<idx>(after - pattern.start.begin()) - 1, column = pattern.column[entry];
  const std::string_view kind = p.copy.packed->plan().entry;
  const Scalar* const block = packed_blocks(p) + std::size_t{entry} * size * size;
  return {std::string(kind), size, other ? other->rows.start[row] : PetscInt{row} * size,
          other ? other->cols.start[column] : PetscInt{column} * size, found_in(block, kind, p.copy.problem)};
}

}  // namespace compound::plugin
