// Random full blocks of every kind of entry. That a kind's blocks are those of its definition is tested with the kind
// (tests/src/device/entry/).
#pragma once

#include <string_view>
#include <vector>

#include "entry/list.hpp"
#include "plan/plan.hpp"
#include "words.hpp"

namespace compound::test {

/// The scalar of vectors and blocks, for code chosen at run time: f(S{}).
template <class F>
auto with_scalar(ScalarType type, const F& f) {
  const bool is_float = type.precision == Precision::single;
  if (type.field == Field::real) return is_float ? f(float{}) : f(double{});
  return is_float ? f(complex_number<float>{}) : f(complex_number<double>{});
}

/// [entries][cols][rows] scalars of random blocks that are of the kind `entry`, all its words anything.
template <class S>
std::vector<S> random_blocks(std::string_view entry, BlockShape shape, count32 entries, Random& random) {
  std::vector<S> blocks;
  for_each_kind<S>([&]<class Kind, class Entry>() {
    if (entry != Entry::name) return;
    const Entry made = Entry::of(shape.rows, shape.cols);
    for (count32 e = 0; e < entries; ++e) {
      const std::vector<S> block = block_of_words(made, any_words(made, random));
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
  });
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
