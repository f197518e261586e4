#include "diagonals.hpp"

#include "../layout/family.hpp"
#include "backend/diagonal_args.hpp"
#include "decoded_values.hpp"
#include "row_words.hpp"

namespace compound::host {

namespace {

/// Blocks of these sizes have loops of their own, without divisions.
template <class S, Update update, int known_side = 6>
void sum_all(const SumArgs& a) {
  if constexpr (known_side > 0) {
    if (a.side != known_side) return sum_all<S, update, known_side - 1>(a);
  }
  const int words = known_side > 0 ? known_side * known_side : a.side * a.side;
  for (slot_t s = 0; s < a.sums; ++s)
    for (int w = 0; w < words; ++w) sum_word<S, update, known_side>(a, s, w);
}

struct SumRow {
  ScalarType scalar;
  void (*assign)(const SumArgs&);
  void (*add)(const SumArgs&);
};

template <class S>
constexpr SumRow sum_row() {
  return {scalar_type_of<S>(), sum_all<S, Update::assign>, sum_all<S, Update::add>};
}

constexpr SumRow sum_rows[] = {sum_row<float>(), sum_row<double>(), sum_row<complex_number<float>>(),
                               sum_row<complex_number<double>>()};

}  // namespace

void diagonal(const DiagonalTask& t, const Kernels& kernels) {
  if (t.plan.layout.word_group == group_rows) {
    const DiagonalBlocks blocks(t);
    return diagonal(blocks.task(), kernels);
  }
  DiagonalArgs args = diagonal_args(t);
  DecodedValues values(t.plan, t.problem, {t.values, t.codes, t.table, t.layout.height}, args.words);
  for_each_row_lists(family_of(t.plan.layout), t.layout, [&](const row_lists& lists) {
    const row_lists decoded = values.decoded(lists);
    args.values = values.words();
    args.words = values.map();
    (t.inverted ? kernels.invert_diagonal : kernels.diagonal)({decoded, args});
  });
}

void sum(const SumTask& t) {
  for (const SumRow& row : sum_rows)
    if (row.scalar == t.scalar) (t.update == Update::add ? row.add : row.assign)(sum_args(t));
}

}  // namespace compound::host
