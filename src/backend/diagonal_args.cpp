#include "backend/diagonal_args.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace compound {

DiagonalArgs diagonal_args(const DiagonalTask& t, unsigned char* inverted) {
  const BlockShape& b = t.problem.block;
  if (b.rows != b.cols)
    throw error(ErrorKind::argument, "diagonal blocks of a matrix with blocks of " + std::to_string(b.rows) + "x" +
                                         std::to_string(b.cols) + "; only square blocks have a diagonal");
  const LayoutSpec& spec = t.plan.layout;
  DiagonalArgs a;
  a.layout = t.layout;
  a.block_size = b.rows;
  a.words = matrix_word_map(t.plan, t.problem, t.layout.slots);
  a.words_by_row = spec.word_order == WordOrder::row;
  a.values = t.values;
  a.codes = t.codes;
  a.table = t.table;
  a.to = t.to;
  a.inverted = inverted;
  return a;
}

std::optional<idx> first_not_inverted(std::span<const unsigned char> inverted) {
  const auto first = std::ranges::find(inverted, 0);
  if (first == inverted.end()) return {};
  return static_cast<idx>(first - inverted.begin());
}

SumArgs sum_args(const SumTask& t) { return {t.sums, t.first, t.index, t.place, t.from, t.to}; }

}  // namespace compound
