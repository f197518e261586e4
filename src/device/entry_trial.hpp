// Does a kind of entry keep its promises? Tried with made-up words, before a kind that a user brought is used on a
// device.
#pragma once

#include "operation.hpp"
#include "pack_values.hpp"

namespace compound {

enum class Broken : int { nothing, block, product, transposed_product, hermitian_product };

/// The first promise that is broken, and by what scalar: of the block (column by column), or of the product.
struct trial_found {
  Broken broken = Broken::nothing;
  int at = 0;
  double is[2] = {}, wanted[2] = {};  ///< real and imaginary part
};

struct trial_args {
  trial_found* found = nullptr;
};

template <class S>
COMPOUND_FN S number_of_trial(int i, int seed) {
  const auto number = [&](int n) { return real_of<S>(((n + 1) * 37 + seed * 101) % 64 - 32) / 8 + real_of<S>(0.0625); };
  if constexpr (is_complex<S>)
    return S(number(2 * i), number(2 * i + 1));
  else
    return number(i);
}

template <class S>
COMPOUND_FN trial_found found_by_trial(Broken what, int at, S is, S wanted) {
  if constexpr (is_complex<S>)
    return {what, at, {double(is.re), double(is.im)}, {double(wanted.re), double(wanted.im)}};
  else
    return {what, at, {double(is), 0}, {double(wanted), 0}};
}

/// NaN is near nothing.
template <class S>
COMPOUND_FN bool are_near(S a, S b, real_of<S> most) {
  const auto near = [&](real_of<S> d) { return d <= most && -d <= most; };
  if constexpr (is_complex<S>)
    return near(a.re - b.re) && near(a.im - b.im);
  else
    return near(a - b);
}

/// y + op(A) x by madd() against block().
template <Op op, class Entry, class Words>
COMPOUND_FN trial_found try_product(const Entry& entry, const Words& w, Broken what) {
  using S = typename Entry::scalar;
  using Real = real_of<S>;
  constexpr int most = Entry::block_rows > Entry::block_cols ? Entry::block_rows : Entry::block_cols;
  S x[most], y[most], wanted[most];
  for (int i = 0; i < most; ++i) {
    x[i] = number_of_trial<S>(i, 7);
    y[i] = wanted[i] = number_of_trial<S>(i, 11);  // a madd() that does not add would show
  }
  Real size = 1;
  for (int j = 0; j < entry.cols(); ++j)
    for (int i = 0; i < entry.rows(); ++i) {
      S a = entry.block(w, i, j);
      if constexpr (op == Op::hermitian) a = conjugate(a);
      wanted[op == Op::none ? i : j] += a * x[op == Op::none ? j : i];
      while (!are_near(a, S{}, size) && size < Real(1e30)) size *= 2;
    }
  entry.template madd<op>(w, x, y);
  const Real eps = sizeof(Real) == 4 ? Real(1.2e-7) : Real(2.3e-16);
  const int out = op == Op::none ? entry.rows() : entry.cols();
  for (int i = 0; i < out; ++i)
    if (!are_near(y[i], wanted[i], 2048 * eps * size * Real(entry.rows() + entry.cols())))
      return found_by_trial(what, i, y[i], wanted[i]);
  return {};
}

/// block(from_block(b)) must be b for the blocks of made-up words, and products must be the blocks'.
template <class Entry>
COMPOUND_FN trial_found try_entry(const Entry& entry) {
  using S = typename Entry::scalar;
  using Word = typename Entry::word;
  for (int seed = 0; seed < 4; ++seed) {
    local_words<Word, Entry::word_count> made{}, w{};
    for (int k = 0; k < entry.words(); ++k) made.word[k] = number_of_trial<Word>(k, seed);
    S block[Entry::block_rows * Entry::block_cols];
    for (int j = 0; j < entry.cols(); ++j)
      for (int i = 0; i < entry.rows(); ++i) block[i + j * entry.rows()] = entry.block(made, i, j);
    entry.from_block(full_block<S>{block, entry.rows()}, [&](int k, int, Word v) { w.word[k] = v; });
    for (int j = 0; j < entry.cols(); ++j)
      for (int i = 0; i < entry.rows(); ++i) {
        const int at = i + j * entry.rows();
        const S again = entry.block(w, i, j);
        if (!agrees<Entry>(again, block[at])) return found_by_trial(Broken::block, at, again, block[at]);
      }
    trial_found found = try_product<Op::none>(entry, w, Broken::product);
    if (found.broken == Broken::nothing) found = try_product<Op::transpose>(entry, w, Broken::transposed_product);
    if (found.broken == Broken::nothing) found = try_product<Op::hermitian>(entry, w, Broken::hermitian_product);
    if (found.broken != Broken::nothing) return found;
  }
  return {};
}

}  // namespace compound
