#include "diagonals.hpp"

#include <cstring>
#include <vector>

#include "../layout/family.hpp"
#include "backend/diagonal_args.hpp"
#include "decoded_values.hpp"
#include "kernels.hpp"
#include "row_words.hpp"

namespace compound::host {

namespace {

/// Rows that the layout does not list, or whose block is not there, are 0.
void clear(const DiagonalTask& t, int scalars_per_row) {
  if (t.rows > 0) std::memset(t.to, 0, std::size_t(t.rows) * scalars_per_row * bytes_of(t.problem.scalar));
}

void for_each_list(const DiagonalTask& t, DiagonalArgs args, void (*run)(const host_diagonal&)) {
  if (t.plan.layout.word_group == group_rows) {
    const DiagonalBlocks blocks(t);
    const DiagonalTask alone = blocks.task();
    return for_each_list(alone, diagonal_args(alone, args.inverted), run);
  }
  DecodedValues values(t.plan, t.problem, {t.values, t.codes, t.table, t.layout.height}, args.words);
  for_each_row_lists(family_of(t.plan.layout), t.layout, [&](const row_lists& lists) {
    const row_lists decoded = values.decoded(lists);
    args.values = values.words();
    args.words = values.map();
    run({decoded, args});
  });
}

template <class S, Update update>
void sum_all(const SumArgs& a) {
  for (slot_t s = 0; s < a.sums; ++s) sum_list<S, update>(a, s);
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

void diagonal(std::span<const DiagonalTask> parts) {
  clear(parts.front(), diagonal_args(parts.front()).block_size);
  for (const DiagonalTask& t : parts) for_each_list(t, diagonal_args(t), find_kernels(t.plan, t.problem)->diagonal);
}

std::optional<idx> invert_diagonal(std::span<const DiagonalTask> parts) {
  std::vector<unsigned char> inverted(parts.front().rows, 0);
  const int size = diagonal_args(parts.front()).block_size;
  clear(parts.front(), size * size);
  for (const DiagonalTask& t : parts)
    for_each_list(t, diagonal_args(t, inverted.data()), find_kernels(t.plan, t.problem)->invert_diagonal);
  return first_not_inverted(inverted);
}

void sum(const SumTask& t) {
  for (const SumRow& row : sum_rows)
    if (row.scalar == t.scalar) (t.update == Update::add ? row.add : row.assign)(sum_args(t));
}

}  // namespace compound::host
