// Smoothing steps in the kernels of products, by one worker of the host.
#include "device/smoothing.hpp"

#include <gtest/gtest.h>

#include "device/diagonal.hpp"
#include "device/entry/dense.hpp"
#include "device/spmv_components.hpp"
#include "support/encoded.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

template <class Entry>
struct Smoothed {
  using S = typename Entry::scalar;

  Operands<S> o;
  std::vector<S> inverse, before;

  Smoothed(const Pattern& pattern, Random& random) : o(pattern, "dense", {Entry{}.rows(), Entry{}.cols()}, random) {
    for (std::size_t i = 0; i < o.cols_vector.size(); ++i) {
      inverse.push_back(random.scalar<S>());
      before.push_back(random.scalar<S>());
    }
  }

  /// Against along x + keep before + scale D (z - A x), with A x by the same rows.
  template <Update update, class Row>
  void expect(const LayoutSpec& spec, const smoothing_args& step, const Row& by_row) const {
    using Words = matrix_words<32, WordOrder::row>;
    const Encoded<Entry> A({}, o, spec);
    const auto& x = o.x(Op::none);
    const auto& z = o.z(Op::none);
    const auto plain = gathered<Op::none>(
        A, o, spec, [](const auto& p, idx position) { multiply_row<Op::none, Update::assign, 1>(p, position, 0); });
    std::vector<S> y(plain.size(), not_a_number<S>());
    const auto p = A.product_of(x, z, y);
    using Smoothing = std::conditional_t<update == Update::smooth, smoothing<S>, correction<S>>;
    const product<Entry, typename Entry::word, AnyLayout, Words, vector_words<1>, own_values, nothing_follows, const S*,
                  Smoothing>
        q{p.entry, p.layout, p.matrix_words, p.x_words, p.y_words, p.value_of, p.values, p.x, p.z,
          p.y,     {},       Smoothing(step)};
    for (idx position = 0; position < q.layout.positions; ++position) by_row(q, position);
    for (std::size_t i = 0; i < y.size(); ++i) {
      S r = update == Update::smooth ? z[i] : S{};
      r -= plain[i];
      S expected = S(real_of<S>(step.scale)) * ((step.inverse ? inverse[i] : S(1)) * r);
      if (update == Update::correct) expected += z[i];
      if (update == Update::smooth) expected += S(real_of<S>(step.along)) * x[i];
      if (update == Update::smooth && step.before) expected += S(real_of<S>(step.keep)) * before[i];
      S difference = y[i];
      difference -= expected;
      ASSERT_LT(pivot_size(difference), 1e-12) << layout_name(spec) << ", scalar " << i;
    }
  }
};

/// Each step by the whole matrix, or what a part of it changes in one.
template <class Entry, Update update>
void expect_all() {
  SCOPED_TRACE(seed_text());
  Random random;
  constexpr int n = Entry{}.rows();
  const Pattern pattern = random_pattern(40, 40, 6, test_seed());
  const Smoothed<Entry> s(pattern, random);
  const smoothing_args steps[] = {{0, 0, 1, nullptr, nullptr},
                                  {1, 0, 0.7, nullptr, s.inverse.data()},
                                  {1.4, -0.4, 0.9, s.before.data(), s.inverse.data()},
                                  {1.4, -0.4, 0.9, s.before.data(), nullptr}};
  for (const smoothing_args& step : steps)
    for (const char* layout : {"csr", "sell:8:16", "sell:32"}) {
      const LayoutSpec spec = parse_plan(layout, {}).layout;
      s.template expect<update>(
          spec, step, [](const auto& p, idx position) { multiply_row<Op::none, update, 1, 2>(p, position, 0); });
      s.template expect<update>(spec, step, [](const auto& p, idx position) {
        for (int i = 0; i < n; ++i) multiply_scalar_row<Op::none, update, 1, 2>(p, position, i, 0, true);
      });
      if (family_of(spec).interleaved) continue;
      s.template expect<update>(spec, step, [](const auto& p, idx position) {
        multiply_row_by_columns<Op::none, update, 1, 2, n, n>(p, position, 0, true);
      });
    }
}

template <class Entry>
void expect_both() {
  expect_all<Entry, Update::smooth>();
  expect_all<Entry, Update::correct>();
}

TEST(SmoothingInProducts, OfBlocks) { expect_both<dense<double, 3, 3>>(); }
TEST(SmoothingInProducts, OfScalars) { expect_both<dense<double, 1, 1>>(); }
TEST(SmoothingInProducts, OfComplexBlocks) { expect_both<dense<complex_number<double>, 2, 2>>(); }

}  // namespace
}  // namespace compound::test
