// Products by scalar rows, as a device with many workers has them, by one worker of the host.
#include "device/spmv_components.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/entry/dense.hpp"
#include "support/encoded.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

template <Op op, Update update, int at_once>
constexpr auto by_scalar_rows = [](const auto& p, idx position) {
  for (int i = 0; i < rows_of<op>(p.entry); ++i) multiply_scalar_row<op, update, 1, at_once>(p, position, i, 0, true);
};

template <Op op, Update update, int at_once, class Entry>
constexpr auto by_columns = [](const auto& p, idx position) {
  multiply_row_by_columns<op, update, 1, at_once, rows_of<op>(Entry{}), cols_of<op>(Entry{})>(p, position, 0, true);
};

template <Op op, class Entry, class Words>
void expect_scalar_rows(const Operands<typename Entry::scalar>& o, const LayoutSpec& spec) {
  const Encoded<Entry, Words> A({}, o, spec);
  const auto assigned = reference_product(o, Precision::double_, op, Form::assign);
  const auto added = reference_product(o, Precision::double_, op, Form::add);

  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_scalar_rows<op, Update::assign, 1>), assigned));
  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_scalar_rows<op, Update::assign, 3>), assigned));
  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_scalar_rows<op, Update::add, 2>), added));
  if (family_of(spec).interleaved) return;
  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_columns<op, Update::assign, 1, Entry>), assigned));
  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_columns<op, Update::assign, 3, Entry>), assigned));
  EXPECT_TRUE(agrees(gathered<op>(A, o, spec, by_columns<op, Update::add, 2, Entry>), added));
}

class Components : public testing::TestWithParam<ZooPattern> {
 protected:
  template <class Entry, class Words>
  void expect_all_of_order() const {
    Random random;
    const Entry entry;
    const Operands<typename Entry::scalar> o(GetParam().pattern, "dense", {entry.rows(), entry.cols()}, random);
    for (const char* layout : {"csr", "ellr", "sell:8:16", "sell:32 presence", "hdia:32"}) {
      SCOPED_TRACE(std::string(layout) + ", " + seed_text());
      const LayoutSpec spec = parse_plan(layout, {}).layout;
      expect_scalar_rows<Op::none, Entry, Words>(o, spec);
      expect_scalar_rows<Op::transpose, Entry, Words>(o, spec);
      expect_scalar_rows<Op::hermitian, Entry, Words>(o, spec);
    }
  }
  template <class Entry>
  void expect_all() const {
    expect_all_of_order<Entry, matrix_words<1, WordOrder::column>>();
    expect_all_of_order<Entry, matrix_words<32, WordOrder::row>>();
  }
};

INSTANTIATE_TEST_SUITE_P(Zoo, Components, testing::ValuesIn(zoo()), [](const auto& instance) {
  std::string name(instance.param.name);
  std::erase(name, ',');
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

TEST_P(Components, GiveTheProductsOfScalars) { expect_all<dense<double, 1, 1>>(); }
TEST_P(Components, GiveTheProductsOfSquareBlocks) { expect_all<dense<double, 3, 3>>(); }
TEST_P(Components, GiveTheProductsOfOblongBlocks) {
  expect_all<dense<double, 2, 5>>();
  expect_all<dense<double, 12, 1>>();
}
TEST_P(Components, GiveTheProductsOfComplexScalars) { expect_all<dense<complex_number<double>, 3, 2>>(); }

TEST(Components, WriteNothingWithoutARow) {
  const Pattern pattern = pattern_of(1, {{0}});
  Random random;
  using Entry = dense<double, 1, 1>;
  const Operands<double> o(pattern, "dense", {1, 1}, random);
  const Encoded<Entry> A({}, o, parse_layout("csr"));
  std::vector<double> y(1, 7);
  const auto p = A.product_of(o.cols_vector, {}, y);

  multiply_scalar_row<Op::none, Update::assign, 1, 2>(p, 1, 0, 0, false);
  multiply_row_by_columns<Op::none, Update::assign, 1, 2, 1, 1>(p, 1, 0, false);

  EXPECT_EQ(y[0], 7);
}

}  // namespace
}  // namespace compound::test
