// What every kind of entry must be: words and blocks that give each other back, and products that are the block's.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "entry/list.hpp"
#include "support/words.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;
using Cf = complex_number<float>;

/// An entry whose size is known when compiled, or comes with the object.
template <class Entry, int rows = 0, int cols = 0>
struct Made {
  using entry_type = Entry;
  static Entry make() {
    if constexpr (rows > 0)
      return Entry::of(rows, cols);
    else
      return {};
  }
};

template <class M>
class Entries : public testing::Test {
 protected:
  using Entry = typename M::entry_type;
  using Word = typename Entry::word;
  using Scalar = typename Entry::scalar;
  static constexpr bool structured = requires { Entry::word_count; };

  const Entry entry = M::make();
  Random random;
  testing::ScopedTrace trace{__FILE__, __LINE__, seed_text()};

  std::vector<Scalar> random_vector(int n) {
    std::vector<Scalar> v(n);
    for (auto& s : v) s = random.whole_number<Scalar>();
    return v;
  }

  /// A scalar that alone stands for a word may be anything.
  std::size_t words_in_one_place() const {
    std::size_t count = 0;
    for (int k = 0; k < entry.words(); ++k) {
      std::vector<Word> words(entry.words());
      words[k] = Word(1);
      const auto block = block_of_words(entry, words);
      count += std::ranges::count_if(block, [](const Scalar& b) { return !(b == Scalar{}); }) == 1;
    }
    return count;
  }

  template <Op op>
  void expect_madd_is_that_of_the_block() {
    const auto words = random_words(entry, random);
    const auto x = random_vector(op == Op::none ? entry.cols() : entry.rows());
    auto out = random_vector(op == Op::none ? entry.rows() : entry.cols());
    const auto expected = block_product(block_of_words(entry, words), entry.rows(), op, x, out);

    entry.template madd<op>(words_view(entry, words), x.data(), out.data());

    EXPECT_TRUE(out == expected) << "op " << static_cast<int>(op);
  }
};

/// Of every kind that is its words exactly: its one shape, or a size that is known and one that is carried.
template <class S, class Kind>
constexpr auto made_of(Kind) {
  using Entry = typename Kind::template entry<S>;
  if constexpr (!Entry::exists || requires { Entry::tolerance; })
    return entry_list<>{};
  else if constexpr (Kind::sizes == 0)
    return entry_list<Made<Entry>>{};
  else
    return entry_list<Made<typename Kind::template entry<S, 3>>, Made<Entry, 7, 7>>{};
}
template <class S, class... Kinds>
constexpr auto made_of(kind_list<Kinds...>) {
  return (entry_list<>{} + ... + made_of<S>(Kinds{}));
}

template <class... M>
testing::Types<M...> types_of(entry_list<M...>);
using More = entry_list<Made<dense<double, 1, 1>>, Made<dense<float, 2, 5>>,
                        Made<dense<double, dynamic, dynamic>, 3, 2>, Made<dense<double, dynamic, dynamic>, 32, 1>,
                        Made<dense<Cf, dynamic, dynamic>, 2, 5>, Made<diagonal_entry<double, dynamic>, 32, 32>>;
using Kinds = decltype(types_of(made_of<double>(built_in_kinds{}) + made_of<float>(built_in_kinds{}) +
                                made_of<C>(built_in_kinds{}) + made_of<Cf>(built_in_kinds{}) + More{}));
TYPED_TEST_SUITE(Entries, Kinds);

TYPED_TEST(Entries, AreTheirWords) {
  const auto words = random_words(this->entry, this->random);

  const auto block = block_of_words(this->entry, words);

  EXPECT_TRUE(words_of_block(this->entry, block) == words);
}

TYPED_TEST(Entries, AreTheirBlocks) {
  const auto block = block_of_words(this->entry, random_words(this->entry, this->random));

  const auto again = block_of_words(this->entry, words_of_block(this->entry, block));

  EXPECT_TRUE(again == block);
}

TYPED_TEST(Entries, AreLinearInTheirWords) {
  using S = typename TestFixture::Scalar;
  const auto v = random_words(this->entry, this->random), w = random_words(this->entry, this->random);
  auto combined = v;
  for (std::size_t k = 0; k < v.size(); ++k) combined[k] += typename TestFixture::Word(3) * w[k];
  auto expected = block_of_words(this->entry, v);
  const auto other = block_of_words(this->entry, w);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += S(3) * other[i];

  EXPECT_TRUE(block_of_words(this->entry, combined) == expected);
}

TYPED_TEST(Entries, MultiplyAsTheirBlockDoes) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    this->template expect_madd_is_that_of_the_block<Op::none>();
    this->template expect_madd_is_that_of_the_block<Op::transpose>();
    this->template expect_madd_is_that_of_the_block<Op::hermitian>();
  }
}

TYPED_TEST(Entries, FitTheirOwnBlocks) {
  EXPECT_TRUE(block_fits(this->entry, block_of_words(this->entry, random_words(this->entry, this->random))));
}

TYPED_TEST(Entries, FitBlocksWithInfinity) {
  auto words = random_words(this->entry, this->random);
  words[0] = typename TestFixture::Word(std::numeric_limits<real_of<typename TestFixture::Scalar>>::infinity());

  EXPECT_TRUE(block_fits(this->entry, block_of_words(this->entry, words)));
}

TYPED_TEST(Entries, OfACompressedKindRefuseABlockWithAnyOneScalarChanged) {
  const auto block = block_of_words(this->entry, random_words(this->entry, this->random));
  std::size_t refused = 0;

  for (std::size_t i = 0; i < block.size(); ++i) {
    auto changed = block;
    changed[i] += typename TestFixture::Scalar(1);
    refused += !block_fits(this->entry, changed);
  }

  EXPECT_EQ(refused, TestFixture::structured ? block.size() - this->words_in_one_place() : 0);
}

TYPED_TEST(Entries, OfACompressedKindRefuseNaNAnywhere) {
  const auto block = block_of_words(this->entry, random_words(this->entry, this->random));
  std::size_t refused = 0;

  for (std::size_t i = 0; i < block.size(); ++i) {
    auto changed = block;
    changed[i] = typename TestFixture::Scalar(std::numeric_limits<real_of<typename TestFixture::Scalar>>::quiet_NaN());
    refused += !block_fits(this->entry, changed);
  }

  EXPECT_EQ(refused, TestFixture::structured ? block.size() : 0);
}

TYPED_TEST(Entries, TakeBothZerosForTheSame) {
  using S = typename TestFixture::Scalar;
  const S zeros[] = {S(0), S(-0.0f)};
  std::vector<S> block(std::size_t(this->entry.rows()) * this->entry.cols());

  for (auto& s : block) s = zeros[this->random.below(2)];

  EXPECT_TRUE(block_fits(this->entry, block));
}

TYPED_TEST(Entries, LieInAGridOfTheirWords) {
  EXPECT_EQ(this->entry.word_rows() * this->entry.word_cols(), this->entry.words());
  EXPECT_LE(this->entry.rows(), TestFixture::Entry::block_rows);
  EXPECT_LE(this->entry.cols(), TestFixture::Entry::block_cols);
}

TEST(DenseEntry, DoesTheSameWithSizesKnownAndCarried) {
  const dense<double, 3, 2> known;
  const dense<double, dynamic, dynamic> carried{3, 2};
  Random random;
  const auto words = random_words(known, random);
  const std::vector<double> x = {0.1, 0.7};
  std::vector<double> y = {1, 2, 3}, z = y;

  known.madd<Op::none>(words_view(known, words), x.data(), y.data());
  carried.madd<Op::none>(words_view(carried, words), x.data(), z.data());

  EXPECT_EQ(y, z) << seed_text();
}

}  // namespace
}  // namespace compound::test
