// Products of sparse matrices by the device text on the host, beside the host's own. Scalars are whole numbers times
// powers of two, so that products are exact, and sums equal where they are in the same order.
#include "storage/device_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/sparse_products.hpp"
#include "device/emulated_sparse_products.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"
#include "support/recording_backend.hpp"
#include "support/sparse_operands.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

class EmulatedDevice final : public RecordingBackend, public SparseProducts {
 public:
  bool sums_at_hand = true;

  EmulatedDevice() : RecordingBackend("recording", Reach::copies, {.sparse_products = this}) {}

  std::optional<PlacedRows> product_pattern(const PlacedRows&, const PlacedRows&, bool) override { return {}; }
  std::optional<PlacedTransposed> transposed(const PlacedRows&) override { return {}; }
  void multiply_sparse(const SparseProductTask& t) override {
    if (t.args.rows == 0) return;
    const bool is_double = t.scalar == scalar_type_of<double>();
    if (!emulated::multiply_sparse({t.a.rows, t.a.cols, t.width, t.transposed, is_double, sums_at_hand, &t.args}))
      throw std::logic_error("no kernel");
  }
};

template <class S>
void check_product(EmulatedDevice& on, const Pattern& of_A, const Pattern& of_B, BlockShape a, int width,
                   Random& random) {
  SCOPED_TRACE(text_of(a) + " by " + std::to_string(width));
  const SparseOperand<S> A(of_A, a, random), B(of_B, {a.cols, width}, random);
  const auto wanted = host_product(A, B);

  EXPECT_EQ(product_on(on, A, B), wanted);

  EXPECT_EQ(on.allocations, on.releases);
}

template <class S>
void check_galerkin(EmulatedDevice& on, const Pattern& of_Q, const Pattern& of_A, const Pattern& of_P, BlockShape a,
                    int coarse, int width, Random& random) {
  SCOPED_TRACE(text_of(a) + " to " + std::to_string(coarse) + "x" + std::to_string(width));
  const SparseOperand<S> Q(of_Q, {a.rows, coarse}, random, Drawn::powers_of_two), A(of_A, a, random),
      P(of_P, {a.cols, width}, random);
  const auto wanted = host_galerkin(Q, A, P);

  EXPECT_EQ(galerkin_on(on, Q, A, P), wanted);

  EXPECT_EQ(on.allocations, on.releases);
}

struct DeviceProduct : testing::TestWithParam<bool> {
  EmulatedDevice on;
  Random random;
  void SetUp() override { on.sums_at_hand = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(SumsAtHand, DeviceProduct, testing::Bool());

TEST_P(DeviceProduct, OfTwoIsTheHosts) {
  SCOPED_TRACE(seed_text());
  struct Sizes {
    BlockShape a;
    int width;
  };
  for (const auto& [a, width] : {Sizes{{1, 1}, 1},
                                 {{2, 2}, 2},
                                 {{3, 3}, 3},
                                 {{2, 2}, 3},
                                 {{3, 3}, 6},
                                 {{6, 6}, 6},
                                 {{6, 6}, 3},
                                 {{3, 6}, 3},
                                 {{2, 5}, 1}}) {
    const Pattern A = drawn_pattern(13, 9, 6, random), B = drawn_pattern(9, 40, 12, random);
    check_product<double>(on, A, B, a, width, random);
    check_product<complex_number<float>>(on, A, B, a, width, random);
  }
}

TEST_P(DeviceProduct, OfGalerkinIsTheHosts) {
  SCOPED_TRACE(seed_text());
  struct Sizes {
    BlockShape a;
    int coarse, width;
  };
  for (const auto& [a, coarse, width] : {Sizes{{1, 1}, 1, 1},
                                         {{2, 2}, 2, 2},
                                         {{2, 2}, 3, 3},
                                         {{3, 3}, 3, 3},
                                         {{3, 3}, 6, 6},
                                         {{6, 6}, 6, 6},
                                         {{6, 6}, 3, 3}}) {
    const Pattern A = drawn_pattern(30, 30, 9, random), P = drawn_pattern(30, 7, 3, random),
                  Q = drawn_pattern(30, 5, 2, random);
    check_galerkin<double>(on, Q, A, P, a, coarse, width, random);
    check_galerkin<double>(on, P, A, P, a, coarse, width, random);
  }
}

/// Rows without entries, rows much longer than a group, one row, one column.
TEST_P(DeviceProduct, OfTheZooIsTheHosts) {
  for (const ZooPattern& z : zoo()) {
    if (z.pattern.column.size() > 3000) continue;  // threads that take turns are slow
    SCOPED_TRACE(std::string(z.name));
    const Pattern p = each_once(z.pattern.view()), t = compound::transposed(p.view()).pattern;
    check_product<double>(on, t, p, {3, 3}, 6, random);
    const Term<PatternView> square[] = {{p.view(), t.view()}};
    check_galerkin<double>(on, p, product_pattern(square), p, {3, 3}, 6, 6, random);
  }
}

TEST_P(DeviceProduct, WithoutRowsOrEntriesIsNothing) {
  const Pattern none = pattern_of(0, {}), empty = pattern_of(4, {{}, {}, {}, {}}), A = pattern_of(4, {{1, 3}, {}});
  check_product<double>(on, none, none, {3, 3}, 3, random);
  check_product<double>(on, A, empty, {3, 3}, 3, random);
  check_galerkin<double>(on, pattern_of(0, {{}, {}, {}, {}}), empty, empty, {3, 3}, 3, 3, random);
}

TEST(DeviceProducts, CountTheirProductsOfBlocks) {
  const Pattern A = pattern_of(2, {{0, 1}, {}, {1}}), B = pattern_of(4, {{3}, {0, 2, 3}});
  EXPECT_EQ(block_products(A.view(), B.view()), 7);
}

TEST(DeviceProducts, AreNoneOfTheHosts) {
  Random random;
  const SparseOperand<double> A(pattern_of(2, {{0, 1}, {}}), {3, 3}, random);
  EXPECT_TRUE(
      throws([&] { product_on(backend("host"), A, A); }, ErrorKind::unsupported, "in the memory of backend host"));
}

}  // namespace
}  // namespace compound::test
