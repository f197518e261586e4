// Kinds of entry that a program registers: tried, found by name, multiplied in every layout, refused with the reason.
#include "entry/registry.hpp"

#include <gtest/gtest.h>

#include <petsccompound/entry.hpp>

#include "../../examples/custom_entry/symmetric.hpp"
#include "device/entry/quaternion.hpp"
#include "planner/entry_choice.hpp"
#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;

/// Imaginary quaternions, as rotations' velocities: 2 x 2 complex blocks in three real words, or 4 x 4 real ones.
template <class S>
struct pure : custom_entry<pure<S>, S, is_complex<S> ? 2 : 4, is_complex<S> ? 2 : 4, 3, real_of<S>> {
  static constexpr const char* name = "pure";
  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return quaternion<S>::block([&](int k, int) { return k == 0 ? real_of<S>{} : w(k - 1, 0); }, i, j);
  }
  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    quaternion<S>::from_block(b, [&](int k, int, real_of<S> v) {
      if (k > 0) put(k - 1, 0, v);
    });
  }
};

template <class S>
void register_all() {
  register_host_entry(host_entry_of<symmetric<S>>());
  register_host_entry(host_entry_of<pure<S>>());
}

template <class S>
class RegisteredEntries : public testing::Test {
 protected:
  RegisteredEntries() { register_all<S>(); }

  static std::vector<S> symmetric_blocks(count32 entries, Random& random) {
    std::vector<S> blocks;
    for (count32 e = 0; e < entries; ++e) {
      S b[9];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j <= i; ++j) b[3 * i + j] = b[3 * j + i] = random.scalar<S>();
      blocks.insert(blocks.end(), b, b + 9);
    }
    return blocks;
  }
  static constexpr ScalarType scalar = scalar_type_of<S>();
};

using Scalars = testing::Types<float, double, complex_number<float>, C>;
TYPED_TEST_SUITE(RegisteredEntries, Scalars);

TYPED_TEST(RegisteredEntries, AreKindsByName) {
  EXPECT_EQ(entry_kind("symmetric").shape(this->scalar.field, {3, 3}), (EntryShape{3, 3, 6, false}));
  EXPECT_EQ(entry_kind("symmetric").shape(this->scalar.field, {4, 4}), EntryShape{});
  EXPECT_EQ(entry_kind("pure").shape(Field::complex, {2, 2}).real_words, is_complex<TypeParam>);
  EXPECT_NE(entry_kind_names().find("symmetric"), std::string::npos);
}

TYPED_TEST(RegisteredEntries, MultiplyInEveryLayout) {
  using S = TypeParam;
  Random random;
  const Pattern pattern = random_pattern(41, 29, 5, test_seed());
  Operands<S> operands(pattern, "dense", {3, 3}, random);
  operands.blocks = this->symmetric_blocks(pattern.view().entries(), random);
  for (const char* precision : {"float", "double"}) {
    if (this->scalar.precision == Precision::single && std::string_view(precision) == "double") continue;
    for (const char* line :
         {"csr", "hdia:32", "ccoo:32", "csr words=4:row", "csr rowlist", "ellr", "sell:8", "sell:8 presence",
          "sell:32:all", "sell:2 words=all vectors=32", "sell:33 rowlist vectors=all"}) {
      const Plan plan = parse_plan(std::string(line) + " entry=symmetric values=" + precision, {});
      const PackedMatrix A = packed(operands, plan);
      for (const Op op : ops)
        for (const Form form : forms)
          EXPECT_TRUE(agrees(multiplied(A, operands, op, form), reference_product(operands, plan.values, op, form)))
              << to_string(plan) << ", " << product_name(op, form) << ", " << seed_text();
    }
  }
}

TYPED_TEST(RegisteredEntries, GiveDiagonals) {
  using S = TypeParam;
  Random random;
  const Pattern pattern = pattern_of(2, {{1, 0}, {1}});
  Plan plan = parse_plan("csr entry=symmetric", {});
  plan.values = this->scalar.precision;
  const auto blocks = this->symmetric_blocks(3, random);
  PackedMatrix A(pattern.view(), {{3, 3}, this->scalar}, plan, backend("host"));
  A.update_values(blocks.data());
  std::vector<S> diagonal(6);

  A.diagonal(diagonal.data());

  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(diagonal[i] == blocks[9 + 4 * i]);
    EXPECT_TRUE(diagonal[3 + i] == blocks[18 + 4 * i]);
  }
}

TYPED_TEST(RegisteredEntries, GiveTheBlockOfTheirWordsByColumns) {
  using S = TypeParam;
  Random random;
  const auto block = this->symmetric_blocks(1, random);
  S words[6], made[9];
  symmetric<S>::from_block([&](int i, int j) { return block[3 * i + j]; }, [&](int k, int, S w) { words[k] = w; });

  host_entry_of<symmetric<S>>().block(words, made);

  for (int k = 0; k < 9; ++k) EXPECT_TRUE(made[k] == block[k]) << k;  // a symmetric block is the same by rows
}

TYPED_TEST(RegisteredEntries, RefuseOtherBlocks) {
  Random random;
  const Pattern pattern = pattern_of(1, {{0}});
  Plan plan = parse_plan("csr entry=symmetric", {});
  plan.values = this->scalar.precision;
  PackedMatrix A(pattern.view(), {{3, 3}, this->scalar}, plan, backend("host"));
  auto block = this->symmetric_blocks(1, random);
  block[1] += TypeParam(1);

  EXPECT_ERROR(A.update_values(block.data()), ErrorKind::argument, "block 0");
}

TYPED_TEST(RegisteredEntries, AreNeverChosenUnasked) {
  Random random;
  const auto blocks = this->symmetric_blocks(10, random);

  EXPECT_EQ(cheapest_entry({{3, 3}, this->scalar}, backend("host"), blocks.data(), 10), "dense");
}

// What is refused.

/// A scalar times the 2 x 2 identity.
template <class Kind, class S>
struct twice : custom_entry<Kind, S, 2, 2, 1> {
  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return i == j ? w(0, 0) : S{};
  }
  template <class B, class Put>
  COMPOUND_FN static void from_block(const B& b, const Put& put) {
    put(0, 0, b(0, 0));
  }
};

template <class S>
struct wrong_product : twice<wrong_product<S>, S> {
  static constexpr const char* name = "wrong_product";
  template <Op op, class Words>
  COMPOUND_FN static void madd(const Words& w, const S* x, S* out) {
    out[0] += w(0, 0) * x[0];  // and forgets the rest
  }
};

template <class S>
struct assigns : twice<assigns<S>, S> {
  static constexpr const char* name = "assigns";
  template <Op op, class Words>
  COMPOUND_FN static void madd(const Words& w, const S* x, S* out) {
    for (int i = 0; i < 2; ++i) out[i] = (op == Op::hermitian ? conjugate(w(0, 0)) : w(0, 0)) * x[i];
  }
};

template <class S>
struct automatic : twice<automatic<S>, S> {
  static constexpr const char* name = "auto";
};

/// Two definitions of one name.
template <class S>
struct left : custom_entry<left<S>, S, 2, 2, 2> {
  static constexpr const char* name = "leftright";
  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return i == j ? w(i, 0) : S{};
  }
  template <class B, class Put>
  COMPOUND_FN static void from_block(const B& b, const Put& put) {
    for (int k = 0; k < 2; ++k) put(k, 0, b(k, k));
  }
};
template <class S>
struct right : custom_entry<right<S>, S, 2, 2, 2> {
  static constexpr const char* name = "leftright";
  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return i == j ? w(1 - i, 0) : S{};
  }
  template <class B, class Put>
  COMPOUND_FN static void from_block(const B& b, const Put& put) {
    for (int k = 0; k < 2; ++k) put(1 - k, 0, b(k, k));
  }
};

template <class S>
struct wrong_words : twice<wrong_words<S>, S> {
  static constexpr const char* name = "wrong_words";
  template <class B, class Put>
  COMPOUND_FN static void from_block(const B& b, const Put& put) {
    put(0, 0, b(0, 1));
  }
};

template <class S>
struct taken_name : twice<taken_name<S>, S> {
  static constexpr const char* name = "quaternion";
};

template <class S>
struct strange_name : twice<strange_name<S>, S> {
  static constexpr const char* name = "my entry";
};

TEST(Registering, TriesTheKindFirst) {
  EXPECT_ERROR(
      register_host_entry(host_entry_of<wrong_words<double>>()), ErrorKind::argument,
      "entry 'wrong_words': block(from_block(b)) must be b for every b that block() makes: its scalar (0, 0) is 0, "
      "not ");
  EXPECT_ERROR(register_host_entry(host_entry_of<wrong_words<C>>()), ErrorKind::argument,
               "block(from_block(b)) must be b");
  EXPECT_ERROR(register_host_entry(host_entry_of<wrong_product<float>>()), ErrorKind::argument,
               "entry 'wrong_product': madd() does not add the product by block(): component 1 of y + A x is ");
  EXPECT_ERROR(register_host_entry(host_entry_of<assigns<double>>()), ErrorKind::argument,
               "entry 'assigns': madd() does not add the product by block(): component 0 of y + A x is ");
  EXPECT_ERROR(register_host_entry(host_entry_of<assigns<complex_number<float>>>()), ErrorKind::argument, "madd()");
}

TEST(Registering, KeepsTheFirstOfTwoEqualKindsAndRefusesOthersOfTheName) {
  register_host_entry(host_entry_of<left<double>>());
  const ScalarType scalar{Field::real, Precision::double_};
  const host_entry* const first = registered_host_entry("leftright", scalar);

  register_host_entry(host_entry_of<left<double>>());
  EXPECT_ERROR(register_host_entry(host_entry_of<right<double>>()), ErrorKind::argument,
               "entry 'leftright': its scalars stand for other blocks than those of the format that is registered");

  EXPECT_EQ(registered_host_entry("leftright", scalar), first);
}

TEST(Registering, LeavesNothingOfAKindThatIsRefused) {
  EXPECT_ERROR(register_host_entry(host_entry_of<wrong_words<double>>()), ErrorKind::argument,
               "block(from_block(b)) must be b");

  EXPECT_ERROR(entry_kind("wrong_words"), ErrorKind::argument, "unknown entry 'wrong_words'");
}

TEST(Registering, RefusesNamesThatAreTakenOrNone) {
  EXPECT_ERROR(register_host_entry(host_entry_of<taken_name<double>>()), ErrorKind::argument,
               "entry 'quaternion': a built-in format has this name");
  EXPECT_ERROR(register_host_entry(host_entry_of<strange_name<double>>()), ErrorKind::argument,
               "the name must be that of a C++ template");
  EXPECT_ERROR(register_host_entry(host_entry_of<automatic<double>>()), ErrorKind::argument,
               "entry 'auto': that is the keyword for detecting a format");
}

TEST(Registering, RefusesOtherVersionsAndShapes) {
  host_entry old = host_entry_of<symmetric<double>>();
  old.version = 0;
  EXPECT_ERROR(register_host_entry(old), ErrorKind::argument, "compiled against headers of version 0");
  register_all<double>();
  host_entry other = host_entry_of<symmetric<double>>();
  other.words = 9;
  EXPECT_ERROR(register_host_entry(other), ErrorKind::argument,
               "entry 'symmetric': it has 3x3 blocks in 9 scalars, but 3x3 blocks in 6 scalars in");
  other.rows = 33;
  EXPECT_ERROR(register_host_entry(other), ErrorKind::argument, "blocks of 1x1 to 32x32");
}

TEST(Registering, TextsComeWithTheShapeOfTheHostKernels) {
  register_all<double>();
  const EntryShape shape{3, 3, 6, false};

  register_entry_text("symmetric", "a.hpp", "// text", Field::real, shape);
  register_entry_text("symmetric", "a.hpp", "// text", Field::real, shape);

  EXPECT_EQ(*entry_text("symmetric"), "#line 1 \"a.hpp\"\n// text\n#line 1 \"compound.cu\"\n");
  EXPECT_EQ(*entry_text("quaternion"), "");
  EXPECT_EQ(entry_text("pure"), nullptr);
  EXPECT_ERROR(register_entry_text("symmetric", "b.hpp", "// other", Field::real, shape), ErrorKind::argument,
               "its text was taken from a.hpp already, and b.hpp has another");
  EXPECT_ERROR(register_entry_text("symmetric", "a.hpp", "// text", Field::real, {3, 3, 9, false}), ErrorKind::argument,
               "but 3x3 blocks in 6 scalars in a.hpp");
}

TEST(Registering, OfATextAloneLeavesTheHostWithoutKernels) {
  register_entry_text("only_text", "a.hpp", "// text", Field::real, {2, 2, 1, false});
  const auto reason =
      backend("host").applicable(parse_plan("csr entry=only_text", {}), {{2, 2}, {Field::real, Precision::double_}});

  ASSERT_TRUE(reason);
  EXPECT_EQ(*reason, "entry only_text has no host kernels: register them (petsccompound/register_entry.hpp)");
}

}  // namespace
}  // namespace compound::test
