// The product as its definition says, in long double, with a bound on what rounding may do.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/operation.hpp"
#include "pattern/pattern.hpp"
#include "plan/plan.hpp"

namespace compound::test {

template <class S>
using wide_of = std::conditional_t<is_complex<S>, complex_number<long double>, long double>;

template <class S>
auto widened(S s) {
  if constexpr (is_complex<S>)
    return complex_number<long double>{s.re, s.im};
  else
    return static_cast<long double>(s);
}

template <class S>
long double magnitude(S s) {
  if constexpr (is_complex<S>) {  // not std::hypot, which takes most of a test's time
    const auto re = static_cast<long double>(s.re), im = static_cast<long double>(s.im);
    return std::sqrt(re * re + im * im);
  } else {
    return std::abs(static_cast<long double>(s));
  }
}

template <class S>
struct Reference {
  std::vector<wide_of<S>> y;
  /// 8 eps terms (|z| + |A| |x|): each of `terms` products and sums is off by at most eps / 2 in a real part and a few
  /// eps in a complex one, of a partial sum that |z| + |A||x| bounds.
  std::vector<long double> bound;
};

/// op(A) x, plus z if it is not empty. `blocks`: [entries][cols][rows], each scalar known up to `off_by`.
template <class S>
Reference<S> reference_product(const PatternView& pattern, BlockShape shape, const std::vector<S>& blocks, Op op,
                               const std::vector<S>& x, const std::vector<S>& z, long double off_by = 0) {
  const std::size_t size =
      op == Op::none ? std::size_t(pattern.rows) * shape.rows : std::size_t(pattern.cols) * shape.cols;
  Reference<S> result{std::vector<wide_of<S>>(size), std::vector<long double>(size)};
  std::vector<int> terms(size);
  std::vector<long double> unknown(size);
  for (std::size_t i = 0; i < z.size(); ++i)
    result.y[i] = widened(z[i]), result.bound[i] = magnitude(z[i]), terms[i] = 0;
  const S* a = blocks.data();
  for (idx row = 0; row < pattern.rows; ++row)
    for (count32 e = pattern.start[row]; e < pattern.start[row + 1]; ++e)
      for (int j = 0; j < shape.cols; ++j)
        for (int i = 0; i < shape.rows; ++i, ++a) {
          const std::size_t scalar_row = std::size_t(row) * shape.rows + i;
          const std::size_t scalar_col = std::size_t(pattern.column[e]) * shape.cols + j;
          const std::size_t to = op == Op::none ? scalar_row : scalar_col;
          const std::size_t from = op == Op::none ? scalar_col : scalar_row;
          const auto value = widened(op == Op::hermitian ? conjugate(*a) : *a);
          result.y[to] += value * widened(x[from]);
          result.bound[to] += magnitude(*a) * magnitude(x[from]);
          unknown[to] += off_by * magnitude(x[from]);
          ++terms[to];
        }
  const int with_z = z.empty() ? 0 : 1;
  for (std::size_t i = 0; i < size; ++i)  // a row without entries is exact
    result.bound[i] =
        unknown[i] +
        result.bound[i] * (terms[i] == 0 ? 0 : 8.0L * std::numeric_limits<real_of<S>>::epsilon() * (terms[i] + with_z));
  return result;
}

/// Every scalar of y within its own bound; NaN never is.
template <class S>
testing::AssertionResult agrees(const std::vector<S>& y, const Reference<S>& reference) {
  if (y.size() != reference.y.size())
    return testing::AssertionFailure() << y.size() << " scalars, expected " << reference.y.size();
  for (std::size_t i = 0; i < y.size(); ++i) {
    auto difference = widened(y[i]);
    difference -= reference.y[i];
    if (!(magnitude(difference) <= reference.bound[i]))
      return testing::AssertionFailure() << "scalar " << i << " of " << y.size() << " is off by "
                                         << magnitude(difference) << ", allowed are " << reference.bound[i];
  }
  return testing::AssertionSuccess();
}

}  // namespace compound::test
