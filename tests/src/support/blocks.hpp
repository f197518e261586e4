// Full blocks of every kind of entry, written out from the definitions: not by the code under test.
#pragma once

#include <string_view>
#include <vector>

#include "plan.hpp"
#include "random.hpp"

namespace compound::test {

/// The scalar of vectors and blocks, for code chosen at run time: f(S{}).
template <class F>
auto with_scalar(ScalarType type, const F& f) {
  const bool is_float = type.precision == Precision::single;
  if (type.field == Field::real) return is_float ? f(float{}) : f(double{});
  return is_float ? f(complex_number<float>{}) : f(complex_number<double>{});
}

/// Block of a + bi or a + bi + cj + dk, column by column; empty for a dense block.
template <class S>
std::vector<S> block_of(std::string_view entry, real_of<S> a, real_of<S> b, real_of<S> c, real_of<S> d) {
  if (entry == "dense") return {};
  if constexpr (is_complex<S>) {
    return {S{a, b}, S{-c, d}, S{c, d}, S{a, -b}};
  } else {
    if (entry == "complex") return {a, b, -b, a};
    return {a, b, c, d, -b, a, d, -c, -c, -d, a, b, -d, c, -b, a};
  }
}

/// [entries][cols][rows] scalars of random blocks that are of the kind `entry`.
template <class S>
std::vector<S> random_blocks(std::string_view entry, BlockShape shape, count32 entries, Random& random) {
  std::vector<S> blocks;
  const std::size_t scalars = std::size_t{entries} * shape.rows * shape.cols;
  while (blocks.size() < scalars) {
    if (entry == "dense") {
      blocks.push_back(random.scalar<S>());
      continue;
    }
    real_of<S> w[4];
    for (auto& word : w) word = random.scalar<real_of<S>>();
    const auto block = block_of<S>(entry, w[0], w[1], w[2], w[3]);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  return blocks;
}

template <class S>
std::vector<S> random_vector(std::size_t scalars, Random& random) {
  std::vector<S> v(scalars);
  for (S& s : v) s = random.scalar<S>();
  return v;
}

/// Not inline: GCC 12 drops pairs of conversions double -> float -> double when it vectorises them.
double rounded_to_float(double v);

/// What is left of the scalars after they were kept in words of this precision.
template <class S>
std::vector<S> as_stored(std::vector<S> blocks, Precision stored) {
  using R = real_of<S>;
  if (stored == Precision::double_) return blocks;
  for (S& s : blocks) {
    if constexpr (is_complex<S>)
      s = S{static_cast<R>(rounded_to_float(s.re)), static_cast<R>(rounded_to_float(s.im))};
    else
      s = static_cast<R>(rounded_to_float(s));
  }
  return blocks;
}

}  // namespace compound::test
