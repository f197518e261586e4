#include "row_words.hpp"

#include <algorithm>
#include <cstring>

#include "../device/layout/compressed_rows.hpp"
#include "../device/order_blocks.hpp"

namespace compound::host {

namespace {

using Rows = compressed_rows<RowOrder::any, columns32<>>;

/// A block row: `words` of its first scalar row, which has `length` of them.
template <class S>
struct BlockRow {
  const S* words;
  slot_t length;
  const idx* column;
  idx blocks;
  int cols;
};

template <class S, int N>
void add_dot_products(const BlockRow<S>& r, int first, const S* x, S* out) {
  S sum[N] = {};
  const S* w = r.words + first * r.length;
  for (idx k = 0; k < r.blocks; ++k) {
    const S* const of_block = x + slot_t{r.column[k]} * r.cols;
    for (int j = 0; j < r.cols; ++j, ++w) unroll<N>([&]<int i>() { sum[i] += w[i * r.length] * of_block[j]; });
  }
  for (int i = 0; i < N; ++i) out[first + i] += sum[i];
}

template <class S>
void gather(const BlockRow<S>& r, int rows, const S* x, S* y) {
  constexpr int at_once = 4;
  int i = 0;
  for (; i + at_once <= rows; i += at_once) add_dot_products<S, at_once>(r, i, x, y);
  if (rows - i == 3) return add_dot_products<S, 3>(r, i, x, y);
  if (rows - i == 2) return add_dot_products<S, 2>(r, i, x, y);
  if (rows - i == 1) add_dot_products<S, 1>(r, i, x, y);
}

template <class S, bool conjugated>
void scatter(const BlockRow<S>& r, int rows, const S* x, S* y) {
  for (idx k = 0; k < r.blocks; ++k) {
    S* const of_block = y + slot_t{r.column[k]} * r.cols;
    for (int i = 0; i < rows; ++i) {
      const S* const w = r.words + i * r.length + slot_t{k} * r.cols;
      for (int j = 0; j < r.cols; ++j) of_block[j] += (conjugated ? conjugate(w[j]) : w[j]) * x[i];
    }
  }
}

/// f(its words, its first row) for each block row.
template <class S, class F>
void for_each_block_row(const ProductTask& t, const F& f) {
  const Rows layout(t.layout);
  const BlockShape& b = t.problem.block;
  const S* words = static_cast<const S*>(t.values);
  for (idx position = 0; position < layout.positions; ++position) {
    const idx blocks = layout.count(position);
    const BlockRow<S> r{words, slot_t{blocks} * b.cols, layout.columns.column + layout.first(position), blocks, b.cols};
    words += b.rows * r.length;
    f(r, slot_t{layout.row(position)} * b.rows);
  }
}

template <class S>
void multiply(const ProductTask& t) {
  const int rows = t.problem.block.rows;
  const S *const x = static_cast<const S*>(t.x), *const z = static_cast<const S*>(t.z);
  S* const y = static_cast<S*>(t.y);
  for_each_block_row<S>(t, [&](const BlockRow<S>& r, slot_t row) {
    if (t.op == Op::hermitian) return scatter<S, true>(r, rows, x + row, y);
    if (t.op == Op::transpose) return scatter<S, false>(r, rows, x + row, y);
    for (int i = 0; i < rows; ++i) y[row + i] = t.update == Update::add ? z[row + i] : S{};
    gather(r, rows, x, y + row);
  });
}

struct Row {
  ScalarType scalar;
  void (*multiply)(const ProductTask&);
};

template <class S>
constexpr Row row() {
  return {scalar_type_of<S>(), multiply<S>};
}

constexpr Row rows[] = {row<float>(), row<double>(), row<complex_number<float>>(), row<complex_number<double>>()};

}  // namespace

void (*find_row_words(const Plan& plan, const Problem& problem))(const ProductTask&) {
  if (plan.layout.word_group != group_rows) return nullptr;
  return std::ranges::find(rows, problem.scalar, &Row::scalar)->multiply;
}

DiagonalBlocks::DiagonalBlocks(const DiagonalTask& of) : of_(of), plan_(of.plan), start_{0} {
  plan_.layout.word_group = 1;
  const Rows layout(of.layout);
  const int size = of.problem.block.rows;
  const std::size_t scalar = bytes_of(of.problem.scalar), each = scalar * size * size;
  const auto* const words = static_cast<const std::byte*>(of.values);
  for (idx position = 0; position < layout.positions; ++position) {
    const idx count = layout.count(position);
    const auto columns = layout.columns_of(position);
    const std::byte* const row = words + layout.first(position) * each;
    for (idx k = 0; k < count; ++k) {
      if (columns.at(layout.first(position) + k) != layout.row(position)) continue;
      column_.push_back(layout.row(position));
      words_.resize(words_.size() + each);
      std::byte* to = words_.data() + words_.size() - each;
      for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i, to += scalar)
          std::memcpy(to, row + place_in_rows(count, k, i, j, size) * scalar, scalar);
    }
    start_.push_back(static_cast<count32>(column_.size()));
  }
  layout_ = of.layout;
  layout_.slots = static_cast<slot_t>(column_.size());
  layout_.array[Rows::arrays::start] = start_.data();
  layout_.array[Rows::arrays::columns] = column_.data();
}

DiagonalTask DiagonalBlocks::task() const {
  return {.plan = plan_,
          .problem = of_.problem,
          .layout = layout_,
          .values = words_.data(),
          .to = of_.to,
          .inverted = of_.inverted};
}

}  // namespace compound::host
