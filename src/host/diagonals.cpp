#include "diagonals.hpp"

#include "../layout/family.hpp"
#include "backend/diagonal_args.hpp"
#include "decoded_values.hpp"
#include "row_words.hpp"

namespace compound::host {

namespace {

/// One block: its contributions one after the other, each in one go. Additions are in the order of sum_word().
template <class S, Update update, int side>
void sum_block(const SumArgs& a, slot_t s) {
  constexpr int words = side * side;
  S sum[words] = {};
  const slot_t begin = a.first ? a.first[s] : s, end = a.first ? a.first[s + 1] : s + 1;
  for (slot_t n = begin; n < end; ++n) {
    const S* const from = static_cast<const S*>(a.from) + a.index[n];
    const int* const offset = a.offset + (a.shape ? a.shape[n] * words : 0);
    for (int w = 0; w < words; ++w) sum[w] += from[offset[w]];
  }
  S* to = static_cast<S*>(a.to) + (a.place ? a.place[s] : s * words);
  const int stride = a.stride ? a.stride[s] : side;
  for (int line = 0; line < side; ++line, to += stride)
    for (int k = 0; k < side; ++k) {
      if constexpr (update == Update::add) sum[line * side + k] += to[k];
      to[k] = sum[line * side + k];
    }
}

template <class S, Update update, int known_side = 6>
void sum_all(const SumArgs& a) {
  if constexpr (known_side > 1) {
    if (a.side != known_side) return sum_all<S, update, known_side - 1>(a);
    for (slot_t s = 0; s < a.sums; ++s) sum_block<S, update, known_side>(a, s);
  } else {
    const int words = a.side * a.side;
    for (slot_t s = 0; s < a.sums; ++s)
      if (words == 1)
        sum_word<S, update, 1>(a, s, 0);
      else
        for (int w = 0; w < words; ++w) sum_word<S, update, 0>(a, s, w);
  }
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
