// Products of a few entries in every combination of the small factors: layouts, words, vectors, operations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

struct SweepCase {
  const char* name;
  std::string_view entry;
  Problem problem;
};

void PrintTo(const SweepCase& c, std::ostream* out) { *out << c.name; }

const SweepCase sweeps[] = {
    {"dense_3x3", "dense", {{3, 3}, {Field::real, Precision::double_}}},
    {"dense_2x5", "dense", {{2, 5}, {Field::real, Precision::double_}}},
    {"dense_complex_3x3", "dense", {{3, 3}, {Field::complex, Precision::double_}}},
    {"complex_of_float", "complex", {{2, 2}, {Field::real, Precision::single}}},
    {"quaternion", "quaternion", {{4, 4}, {Field::real, Precision::double_}}},
    {"quaternion_in_complex", "quaternion", {{2, 2}, {Field::complex, Precision::double_}}},
};

std::vector<std::string> crossed(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> all;
  for (const auto& x : a)
    for (const auto& y : b) all.push_back(x + y);
  return all;
}

/// Lines of all layouts, word maps and vector maps.
std::vector<std::string> all_plans() {
  auto layouts = crossed({"ellr", "sell:2", "sell:8", "sell:32", "sell:33", "sell:256", "sell:8:16", "sell:32:all"},
                         {"", " rowlist", " presence", " rowlist presence"});
  layouts.insert(layouts.end(),
                 {"csr", "csr rowlist", "hdia:32", "hdia:64 rowlist", "dia", "dia rowlist", "ccoo:64", "ccoo:32:2"});
  const auto words = crossed({" words=1", " words=2", " words=8", " words=32", " words=all"}, {":row", ":column"});
  const auto first = crossed(crossed(layouts, words), {" vectors=1", " vectors=32", " vectors=all"});
  auto all = crossed(first, {"", " longest=3 + ccoo:32"});
  for (const std::string& line : crossed({"csr longest=2 + "}, crossed(layouts, words)))
    if (line.find("+ hdia") == line.npos && line.find("+ dia") == line.npos) all.push_back(line);
  return all;
}

class ProductSweep : public testing::TestWithParam<SweepCase> {};

INSTANTIATE_TEST_SUITE_P(Entries, ProductSweep, testing::ValuesIn(sweeps),
                         [](const auto& instance) { return std::string(instance.param.name); });

template <class S>
struct Expected {
  Op op;
  Form form;
  Reference<S> reference;
};

template <class S>
std::vector<Expected<S>> all_products(const Operands<S>& operands, Precision stored) {
  std::vector<Expected<S>> expected;
  for (const Op op : ops)
    for (const Form form : forms) expected.push_back({op, form, reference_product(operands, stored, op, form)});
  return expected;
}

TEST_P(ProductSweep, AgreesWithTheDefinitionInEveryPlan) {
  const SweepCase& c = GetParam();
  const Pattern pattern = random_pattern(41, 29, 5, test_seed());  // some rows empty, some columns repeated
  SCOPED_TRACE(seed_text());

  with_scalar(c.problem.scalar, [&]<class S>(S) {
    Random random;
    const Operands<S> operands(pattern, c.entry, c.problem.block, random);
    Plan base;
    base.entry = c.entry;
    base.values = c.problem.scalar.precision;
    const auto expected = all_products(operands, base.values);
    for (const auto& line : all_plans()) {
      const PackedMatrix A = packed(operands, parse_plan(line, base));
      for (const auto& [op, form, reference] : expected)
        EXPECT_TRUE(agrees(multiplied(A, operands, op, form), reference)) << line << ": " << product_name(op, form);
    }
  });
}

}  // namespace
}  // namespace compound::test
