// Full blocks of every kind of entry, written out from the definitions: not by the code under test.
#pragma once

#include <algorithm>
#include <cmath>
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

/// A full block that is written to by row and column.
template <class S>
class Block {
 public:
  explicit Block(BlockShape shape) : shape_(shape), scalars_(std::size_t(shape.rows) * shape.cols) {}
  S& operator()(int i, int j) { return scalars_[i + std::size_t(j) * shape_.rows]; }
  /// Column by column.
  const std::vector<S>& scalars() const { return scalars_; }

 private:
  BlockShape shape_;
  std::vector<S> scalars_;
};

/// Puts multiplication by a + bi + cj + dk from the left at (i, j).
template <class S, class R>
void put_quaternion(Block<S>& to, int i, int j, const R (&q)[4]) {
  const auto [a, b, c, d] = q;
  if constexpr (is_complex<S>) {
    const S by_rows[2][2] = {{S{a, b}, S{c, d}}, {S{-c, d}, S{a, -b}}};
    for (int k = 0; k < 4; ++k) to(i + k / 2, j + k % 2) = by_rows[k / 2][k % 2];
  } else {
    const S by_rows[4][4] = {{a, -b, -c, -d}, {b, a, -d, c}, {c, d, a, -b}, {d, -c, b, a}};
    for (int k = 0; k < 16; ++k) to(i + k / 4, j + k % 4) = by_rows[k / 4][k % 4];
  }
}

/// How a kind makes a random block.
template <class S>
struct BlockRule {
  std::string_view entry;
  void (*write)(Block<S>& to, BlockShape shape, Random& random);
};

template <class S>
void write_random_quaternion(Block<S>& to, int i, int j, bool unit, Random& random) {
  using R = real_of<S>;
  R q[4], norm = 0;
  for (R& a : q) a = random.scalar<R>(), norm += a * a;
  for (R& a : q) a /= unit ? std::sqrt(norm) : R{1};
  put_quaternion(to, i, j, q);
}

template <class S>
constexpr BlockRule<S> block_rules[] = {
    {"dense",
     [](Block<S>& to, BlockShape shape, Random& random) {
       for (int j = 0; j < shape.cols; ++j)
         for (int i = 0; i < shape.rows; ++i) to(i, j) = random.scalar<S>();
     }},
    {"complex",
     [](Block<S>& to, BlockShape, Random& random) {
       to(0, 0) = to(1, 1) = random.scalar<S>();
       to(1, 0) = random.scalar<S>();
       to(0, 1) = S{-1} * to(1, 0);
     }},
    {"quaternion", [](Block<S>& to, BlockShape, Random& random) { write_random_quaternion(to, 0, 0, false, random); }},
    {"unit_quaternion",
     [](Block<S>& to, BlockShape, Random& random) { write_random_quaternion(to, 0, 0, true, random); }},
    {"dual_quaternion",
     [](Block<S>& to, BlockShape shape, Random& random) {
       const int half = shape.rows / 2;
       Block<S> p({half, half});
       write_random_quaternion(p, 0, 0, false, random);
       for (int k = 0; k < half * half; ++k)
         to(k % half, k / half) = to(half + k % half, half + k / half) = p(k % half, k / half);
       write_random_quaternion(to, half, 0, false, random);
     }},
    {"diagonal",
     [](Block<S>& to, BlockShape shape, Random& random) {
       for (int i = 0; i < shape.rows; ++i) to(i, i) = random.scalar<S>();
     }},
    {"scaled_identity",
     [](Block<S>& to, BlockShape shape, Random& random) {
       const S a = random.scalar<S>();
       for (int i = 0; i < shape.rows; ++i) to(i, i) = a;
     }},
};

/// [entries][cols][rows] scalars of random blocks that are of the kind `entry`.
template <class S>
std::vector<S> random_blocks(std::string_view entry, BlockShape shape, count32 entries, Random& random) {
  std::vector<S> blocks;
  const auto rule = std::ranges::find(block_rules<S>, entry, &BlockRule<S>::entry);
  for (count32 e = 0; e < entries; ++e) {
    Block<S> block(shape);
    rule->write(block, shape, random);
    blocks.insert(blocks.end(), block.scalars().begin(), block.scalars().end());
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
