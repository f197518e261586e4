// Sparse matrices of full blocks and their products on the host and on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "storage/device_product.hpp"
#include "storage/sparse_product.hpp"
#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {

/// Each column of a row once, where it is first.
inline Pattern each_once(const PatternView& p) {
  Pattern once{p.rows, p.cols, {0}, {}};
  for (idx row = 0; row < p.rows; ++row) {
    std::set<idx> seen;
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      if (seen.insert(p.column[e]).second) once.column.push_back(p.column[e]);
    once.start.push_back(static_cast<count32>(once.column.size()));
  }
  return once;
}

/// Rows of 0 to `longest` entries in any order.
inline Pattern drawn_pattern(idx rows, idx cols, idx longest, Random& random) {
  return each_once(
      random_pattern(rows, cols, std::min(cols, longest), static_cast<std::uint64_t>(random.below(1 << 30))).view());
}

/// Scalars of few bits and any size: products of two are exact, sums are not. Products with powers of two always are.
enum class Drawn { numbers, powers_of_two };

template <class S>
struct SparseOperand {
  Pattern pattern;
  BlockShape block;
  std::vector<S> values;

  SparseOperand(Pattern p, BlockShape b, Random& random, Drawn drawn = Drawn::numbers)
      : pattern(std::move(p)), block(b), values(pattern.column.size() * scalars_in(b)) {
    using Real = real_of<S>;
    for (S& v : values) {
      const Real power = std::ldexp(Real(1), random.below(12) - 6);
      v = power * (drawn == Drawn::numbers ? random.whole_number<S>() : S(1 - 2 * random.below(2)));
    }
  }
  FullBlocks blocks() const { return {pattern.view(), block, values.data()}; }
};

/// Values of the result, which is full of what must not stay.
template <class S>
std::vector<S> room_for(const Pattern& pattern, BlockShape block) {
  return std::vector<S>(pattern.column.size() * scalars_in(block), S(99));
}

template <class S>
std::vector<S> host_product(const SparseOperand<S>& A, const SparseOperand<S>& B) {
  const Term<PatternView> patterns[] = {{A.pattern.view(), B.pattern.view()}};
  const Term<FullBlocks> sum[] = {{A.blocks(), B.blocks()}};
  const Pattern C = product_pattern(patterns);
  auto values = room_for<S>(C, {A.block.rows, B.block.cols});
  multiply(sum, scalar_type_of<S>(), C.view(), values.data());
  return values;
}

template <class S>
std::vector<S> host_galerkin(const SparseOperand<S>& Q, const SparseOperand<S>& A, const SparseOperand<S>& P) {
  const Term<PatternView> patterns[] = {{A.pattern.view(), P.pattern.view()}};
  const Term<FullBlocks> sum[] = {{A.blocks(), P.blocks()}};
  const Pattern C = galerkin_pattern(Q.pattern.view(), patterns);
  auto values = room_for<S>(C, {Q.block.cols, P.block.cols});
  multiply_galerkin(Q.blocks(), sum, scalar_type_of<S>(), C.view(), values.data());
  return values;
}

/// A pattern and values in a backend's memory.
template <class S>
struct PlacedOperand {
  Backend& on;
  PlacedPattern pattern;
  Buffer<S> values;

  PlacedOperand(Backend& backend, const FullBlocks& from)
      : on(backend), pattern(on, from.pattern, from.block), values(on, pattern.scalars()) {
    if (values.bytes() > 0) on.upload(values.data(), from.values, values.bytes());
  }
  operator PlacedBlocks() const { return {pattern, values.data()}; }
  void download(std::vector<S>& to) const {
    if (values.bytes() > 0) on.download(to.data(), values.data(), values.bytes());
  }
};

template <class S>
std::vector<S> product_on(Backend& on, const SparseOperand<S>& A, const SparseOperand<S>& B) {
  const Term<PatternView> patterns[] = {{A.pattern.view(), B.pattern.view()}};
  const Pattern C = product_pattern(patterns);
  const BlockShape block{A.block.rows, B.block.cols};
  const ScalarType scalar = scalar_type_of<S>();
  auto values = room_for<S>(C, block);
  const PlacedOperand<S> a(on, A.blocks()), b(on, B.blocks()), c(on, {C.view(), block, values.data()});
  multiply(on, scalar, a, b, c);
  c.download(values);
  return values;
}

template <class S>
std::vector<S> galerkin_on(Backend& on, const SparseOperand<S>& Q, const SparseOperand<S>& A,
                           const SparseOperand<S>& P) {
  const GalerkinPatterns patterns = galerkin_patterns(Q.pattern.view(), {A.pattern.view(), P.pattern.view()});
  const BlockShape block{Q.block.cols, P.block.cols};
  const ScalarType scalar = scalar_type_of<S>();
  auto values = room_for<S>(patterns.result, block);
  const PlacedOperand<S> q(on, Q.blocks()), a(on, A.blocks()), p(on, P.blocks()),
      c(on, {patterns.result.view(), block, values.data()});
  const PlacedGalerkin between(on, patterns, Q.block, A.block, P.block);
  multiply_galerkin(on, scalar, q, a, p, between, c);
  c.download(values);
  return values;
}

}  // namespace compound::test
