// What must be true of every case: properties, each with a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"
#include "support/symmetric.hpp"

namespace compound::test {

struct Failure {
  std::string property, message;
};

struct Verdict {
  std::vector<Failure> failures;  ///< one of a property at most
  int checked = 0;                ///< properties
  const Failure* of(std::string_view property) const {
    for (const Failure& f : failures)
      if (f.property == property) return &f;
    return nullptr;
  }
};

/// What ends a check early: an error that is thrown, memory that may not be touched.
inline constexpr const char* property_of_errors = "takes every plan that it says is applicable";
inline constexpr const char* property_of_memory = "touches its own memory alone";

/// `broken`: adds to products of patterns of more than 3 entries, to see that it is found.
Verdict check_core(const Case& c, bool broken = false);

// What checks of the core and of PETSc's matrices have in common.

/// The operands of a case: random values of its kind, as few different ones as its plan's code has room for; of plans
/// that store a half, symmetric or Hermitian ones.
template <class S>
Operands<S> operands_of(const Case& c, const Plan& plan, std::uint64_t seed) {
  Random random(seed);
  auto o = Operands<S>(c.pattern, c.kind, c.block, random).for_codes_of(plan);
  const std::size_t n = static_cast<std::size_t>(c.block.rows);
  if (plan.half != Half::none) mirror(c.pattern, c.block.rows, plan.half, o.blocks);
  if (c.values == Values::regular)
    for (std::size_t block = 0; block < o.blocks.size(); block += n * n)
      for (std::size_t i = 0; i < n; ++i)
        o.blocks[block + i * n + i] += S(c.kind == "dense" ? real_of<S>(2 * n) : real_of<S>(3));
  if (c.values == Values::ones)
    for (auto* all : {&o.blocks, &o.rows_vector, &o.cols_vector, &o.rows_z, &o.cols_z}) std::ranges::fill(*all, S(1));
  return o;
}

/// Of scalars of y by block of x `at`, whose scalar `k` is not finite, as the values say.
struct Reach {
  std::vector<bool> must, may;
};

/// What scalar `k` of block `at` of x reaches: what it is multiplied with by a number must not be finite, other scalars
/// of the same blocks need not, all others must.
template <class S>
Reach reach_of_x(const Operands<S>& o, Op op, idx at, int k) {
  const Pattern& p = o.pattern;
  const int r = o.shape.rows, c = o.shape.cols, out = op == Op::none ? r : c;
  Reach reach{std::vector<bool>(o.z(op).size()), {}};
  reach.may = reach.must;
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
      if ((op == Op::none ? p.column[e] : row) != at) continue;
      const idx to = op == Op::none ? row : p.column[e];
      for (int i = 0; i < out; ++i) {
        const S a = o.blocks[std::size_t(e) * r * c + (op == Op::none ? k * r + i : i * r + k)];
        reach.may[std::size_t(to) * out + i] = true;
        if (magnitude(a) != 0) reach.must[std::size_t(to) * out + i] = true;
      }
    }
  return reach;
}

template <class S>
bool is_finite_scalar(const S& s) {
  return std::isfinite(static_cast<double>(magnitude(s)));
}

/// Scalars of y from `first` on against what a reach says; empty if all is well.
template <class S>
std::string beyond(const Reach& reach, const std::vector<S>& y, std::size_t first = 0) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (is_finite_scalar(y[i]) && reach.must[first + i])
      return "it does not reach scalar " + std::to_string(first + i) + " of y";
    if (!is_finite_scalar(y[i]) && !reach.may[first + i])
      return "it reaches scalar " + std::to_string(first + i) + " of y";
  }
  return {};
}

/// 2 x - v / 2.
template <class S>
S combined(S x, S v) {
  S u = S(2) * x;
  u -= S(real_of<S>(0.5)) * v;
  return u;
}
template <class S>
std::vector<S> combined(const std::vector<S>& x, const std::vector<S>& v) {
  std::vector<S> u(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) u[i] = combined(x[i], v[i]);
  return u;
}

/// The same of products, whose bounds are known.
template <class S>
std::string why_not_linear(const std::vector<S>& y, const Reference<S>& y_is, const std::vector<S>& of_v,
                           const Reference<S>& v_is, const std::vector<S>& of_sum, const Reference<S>& sum_is) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    auto off = widened(of_sum[i]);
    off -= combined(widened(y[i]), widened(of_v[i]));
    if (!(magnitude(off) <= 2 * sum_is.bound[i] + 2 * y_is.bound[i] + v_is.bound[i]))
      return "A (2 x - v / 2) is not 2 A x - A v / 2 in scalar " + std::to_string(i);
  }
  return {};
}

}  // namespace compound::test
