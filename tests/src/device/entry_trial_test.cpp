// The trial of a kind that a user brought for devices, here on the host: what it finds, and that good kinds pass.
#include "device/entry_trial.hpp"

#include <gtest/gtest.h>

#include "../../../examples/custom_entry/symmetric.hpp"
#include "device/entry/entries.hpp"

namespace compound::test {
namespace {

template <class Entry>
Broken broken_promise(const Entry& entry) {
  return try_entry(entry).broken;
}

/// 2 x 2, all four scalars kept.
template <class Kind, class S>
struct full : custom_entry<Kind, S, 2, 2, 4> {
  template <class Words>
  static S block(const Words& w, int i, int j) {
    return w(i + 2 * j, 0);
  }
  template <class Block, class Put>
  static void from_block(const Block& b, const Put& put) {
    for (int k = 0; k < 4; ++k) put(k, 0, b(k % 2, k / 2));
  }
};

/// Wrong in one of the products alone, or in none.
template <class S, int wrong>
struct multiplying : full<multiplying<S, wrong>, S> {
  template <Op op, class Words>
  static void madd(const Words& w, const S* x, S* out) {
    full<multiplying, S>::template madd<op>(w, x, out);
    if (int(op) == wrong) out[1] += x[0];
  }
};

/// The transpose where the Hermitian transpose is asked for.
template <class S>
struct not_conjugated : full<not_conjugated<S>, S> {
  template <Op op, class Words>
  static void madd(const Words& w, const S* x, S* out) {
    full<not_conjugated, S>::template madd<op == Op::hermitian ? Op::transpose : op>(w, x, out);
  }
};

template <class S>
struct forgetful : full<forgetful<S>, S> {
  template <class Block, class Put>
  static void from_block(const Block& b, const Put& put) {
    for (int k = 0; k < 4; ++k) put(k, 0, b(k % 2, 0));
  }
};

template <class S>
struct not_a_number : full<not_a_number<S>, S> {
  template <Op op, class Words>
  static void madd(const Words&, const S*, S* out) {
    out[0] += real_of<S>(0.0) / real_of<S>(0.0);
  }
};

/// What was there is lost.
template <class S>
struct assigning : full<assigning<S>, S> {
  template <Op op, class Words>
  static void madd(const Words& w, const S* x, S* out) {
    for (int i = 0; i < 2; ++i) out[i] = S{};
    full<assigning, S>::template madd<op>(w, x, out);
  }
};

template <class S>
struct EntryTrial : testing::Test {};
using TrialScalars = testing::Types<float, double, complex_number<float>, complex_number<double>>;
TYPED_TEST_SUITE(EntryTrial, TrialScalars);

TYPED_TEST(EntryTrial, PassesGoodKinds) {
  EXPECT_EQ(broken_promise(symmetric<TypeParam>{}), Broken::nothing);
  EXPECT_EQ(broken_promise(multiplying<TypeParam, -1>{}), Broken::nothing);
  if constexpr (!is_complex<TypeParam>) {
    EXPECT_EQ(broken_promise(complex_entry<TypeParam>{}), Broken::nothing);
  }
  EXPECT_EQ(broken_promise(quaternion<TypeParam>{}), Broken::nothing);
  EXPECT_EQ(broken_promise(dual_quaternion<TypeParam>{}), Broken::nothing);
}

TYPED_TEST(EntryTrial, FindsProductsThatAreNotTheBlocks) {
  EXPECT_EQ(broken_promise(multiplying<TypeParam, int(Op::none)>{}), Broken::product);
  EXPECT_EQ(broken_promise(multiplying<TypeParam, int(Op::transpose)>{}), Broken::transposed_product);
  EXPECT_EQ(broken_promise(multiplying<TypeParam, int(Op::hermitian)>{}), Broken::hermitian_product);
  EXPECT_EQ(broken_promise(not_a_number<TypeParam>{}), Broken::product);
  EXPECT_EQ(broken_promise(assigning<TypeParam>{}), Broken::product);
  EXPECT_EQ(broken_promise(not_conjugated<TypeParam>{}),
            is_complex<TypeParam> ? Broken::hermitian_product : Broken::nothing);
}

TYPED_TEST(EntryTrial, FindsWordsThatAreNotTheBlocks) {
  EXPECT_EQ(broken_promise(forgetful<TypeParam>{}), Broken::block);
}

TEST(FoundByTrial, SaysWhatIsWrong) {
  const trial_found found = try_entry(multiplying<double, int(Op::transpose)>{});

  EXPECT_EQ(found.at, 1);
  EXPECT_NEAR(found.is[0] - found.wanted[0], number_of_trial<double>(0, 7), 1e-12);
}

}  // namespace
}  // namespace compound::test
