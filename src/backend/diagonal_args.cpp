#include "backend/diagonal_args.hpp"

namespace compound {

DiagonalArgs diagonal_args(const DiagonalTask& t) {
  DiagonalArgs a;
  a.layout = t.layout;
  a.block_size = t.problem.block.rows;
  a.words = matrix_word_map(t.plan, t.problem, t.layout.slots);
  a.words_by_row = t.plan.layout.word_order == WordOrder::row;
  a.values = t.values;
  a.codes = t.codes;
  a.table = t.table;
  a.to = t.to;
  a.inverted = t.inverted;
  return a;
}

}  // namespace compound
