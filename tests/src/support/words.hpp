// Words of one entry in an array of their own, and the entry's full block from them.
#pragma once

#include <vector>

#include "device/layout/words.hpp"
#include "device/pack_values.hpp"
#include "random.hpp"

namespace compound::test {

/// The words as a kernel sees them: w(i, j) over the entry's grid.
template <class Entry>
auto words_view(const Entry& entry, const std::vector<typename Entry::word>& words) {
  return matrix_words<1, WordOrder::column>{}.at(entry, words.data(), 0);
}

template <class Entry>
std::vector<typename Entry::word> random_words(const Entry& entry, Random& random) {
  std::vector<typename Entry::word> words(entry.words());
  for (auto& w : words) w = random.whole_number<typename Entry::word>();
  return words;
}

/// With all the bits that words can have.
template <class Entry>
std::vector<typename Entry::word> any_words(const Entry& entry, Random& random) {
  std::vector<typename Entry::word> words(entry.words());
  for (auto& w : words) {
    w = random.scalar<typename Entry::word>();
    if constexpr (requires { Entry::word_of(w); }) w = Entry::word_of(w);
  }
  return words;
}

/// [cols][rows], as the core takes blocks.
template <class Entry>
std::vector<typename Entry::scalar> block_of_words(const Entry& entry, const std::vector<typename Entry::word>& words) {
  const auto w = words_view(entry, words);
  std::vector<typename Entry::scalar> block;
  for (int j = 0; j < entry.cols(); ++j)
    for (int i = 0; i < entry.rows(); ++i) block.push_back(entry.block(w, i, j));
  return block;
}

template <class Entry>
std::vector<typename Entry::word> words_of_block(const Entry& entry, const std::vector<typename Entry::scalar>& block) {
  std::vector<typename Entry::word> words(entry.words());
  const auto to = matrix_words<1, WordOrder::column>{}.at(entry, words.data(), 0);
  entry.from_block(full_block<typename Entry::scalar>{block.data(), entry.rows()},
                   [&](int i, int j, typename Entry::word w) { to.put(i, j, w); });
  return words;
}

template <class Entry>
bool block_fits(const Entry& entry, const std::vector<typename Entry::scalar>& block) {
  return fits(entry, full_block<typename Entry::scalar>{block.data(), entry.rows()});
}

/// op(block) x + out by the definition; whole numbers make it exact.
template <class S>
std::vector<S> block_product(const std::vector<S>& block, int rows, Op op, const std::vector<S>& x,
                             std::vector<S> out) {
  for (std::size_t e = 0; e < block.size(); ++e) {
    const std::size_t i = e % rows, j = e / rows;
    if (op == Op::none)
      out[i] += block[e] * x[j];
    else
      out[j] += (op == Op::hermitian ? conjugate(block[e]) : block[e]) * x[i];
  }
  return out;
}

/// The product of two n x n blocks.
template <class S>
std::vector<S> matrix_product(const std::vector<S>& a, const std::vector<S>& b, int n) {
  std::vector<S> c(a.size());
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < n; ++i) c[i + j * n] += a[i + k * n] * b[k + j * n];
  return c;
}

/// The conjugate transpose of an n x n block.
template <class S>
std::vector<S> adjoint(const std::vector<S>& a, int n) {
  std::vector<S> t(a.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) t[j + i * n] = conjugate(a[i + j * n]);
  return t;
}

}  // namespace compound::test
