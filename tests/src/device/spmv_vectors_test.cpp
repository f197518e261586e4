// Products with several vectors, by one worker of the host: each vector has the bits of the kernel for one.
#include "device/spmv_vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/entry/dense.hpp"
#include "device/entry/quaternion.hpp"
#include "support/encoded.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

constexpr int vectors = 3;

/// Vectors with gaps between them, which are not numbers.
template <class S>
struct Several {
  slot_t apart;
  std::vector<S> all;

  Several(std::size_t size, std::size_t gap, Random& random)
      : apart(static_cast<slot_t>(size + gap)), all(vectors * (size + gap), not_a_number<S>()) {
    for (int n = 0; n < vectors; ++n) std::ranges::copy(random_vector<S>(size, random), all.begin() + n * apart);
  }
};

template <class Entry>
struct Case {
  using S = typename Entry::scalar;
  Random random;
  Operands<S> o;
  Encoded<Entry> A;
  Several<S> x, z;
  vectors_apart apart;

  Case(const Pattern& pattern, const char* kind, const LayoutSpec& spec)
      : o(pattern, kind, {Entry{}.rows(), Entry{}.cols()}, random),
        A({}, o, spec),
        x(o.cols_vector.size(), 2, random),
        z(o.rows_z.size(), 1, random),
        apart{x.apart, z.apart, static_cast<slot_t>(o.rows_z.size()) + 3} {}

  /// y by `several`(product, position), and by `one`(product, position) for each vector.
  template <class Kernel, class One>
  void expect_same(const Kernel& several, const One& one) const {
    const std::size_t rows = o.rows_z.size(), cols = o.cols_vector.size();
    std::vector<S> y(static_cast<std::size_t>(vectors * apart.y), not_a_number<S>()), wanted = y;
    const auto p = A.product_of(x.all, z.all, y);
    for (idx position = 0; position < p.layout.positions; ++position) several(p, position);
    for (int n = 0; n < vectors; ++n) {
      const auto vector = [n](const Several<S>& of, std::size_t size) {
        const auto first = of.all.begin() + n * of.apart;
        return std::vector<S>(first, first + static_cast<std::ptrdiff_t>(size));
      };
      const auto own_x = vector(x, cols), own_z = vector(z, rows);
      std::vector<S> own_y(rows, not_a_number<S>());
      const auto q = A.product_of(own_x, own_z, own_y);
      for (idx position = 0; position < q.layout.positions; ++position) one(q, position);
      std::ranges::copy(own_y, wanted.begin() + n * apart.y);
    }
    EXPECT_TRUE(same_bits(y, wanted));
  }
};

template <class Entry, Update update>
void expect_rows(const Case<Entry>& c) {
  c.expect_same(
      [&](const auto& p, idx position) {
        multiply_row_of_vectors<Op::none, update, 1, vectors>(p, c.apart, position, 0, true);
      },
      [](const auto& p, idx position) { multiply_row<Op::none, update, 1>(p, position, 0); });
}

template <class Entry, Update update>
void expect_components(const Case<Entry>& c, const LayoutSpec& spec) {
  constexpr int rows = rows_of<Op::none>(Entry{}), cols = cols_of<Op::none>(Entry{});
  c.expect_same(
      [&](const auto& p, idx position) {
        for (int i = 0; i < rows; ++i)
          multiply_scalar_row_of_vectors<Op::none, update, 1, vectors>(p, c.apart, position, i, 0, true);
      },
      [](const auto& p, idx position) {
        for (int i = 0; i < rows; ++i) multiply_scalar_row<Op::none, update, 1, 1>(p, position, i, 0, true);
      });
  if (family_of(spec).interleaved) return;
  c.expect_same(
      [&](const auto& p, idx position) {
        multiply_row_by_columns_of_vectors<Op::none, update, 1, vectors, rows, cols>(p, c.apart, position, 0, true);
      },
      [](const auto& p, idx position) {
        multiply_row_by_columns<Op::none, update, 1, 1, rows, cols>(p, position, 0, true);
      });
}

TEST(SeveralVectorsAtOnce, HaveTheBitsOfOne) {
  for (const ZooPattern& of : zoo())
    for (const char* layout : {"csr", "ellr", "sell:8:16", "sell:32 presence"}) {
      SCOPED_TRACE(std::string(of.name) + ", " + layout + ", " + seed_text());
      const LayoutSpec spec = parse_plan(layout, {}).layout;
      const Case<dense<double, 3, 2>> blocks(of.pattern, "dense", spec);
      const Case<quaternion<double>> quaternions(of.pattern, "quaternion", spec);
      expect_rows<dense<double, 3, 2>, Update::assign>(blocks);
      expect_rows<dense<double, 3, 2>, Update::add>(blocks);
      expect_rows<quaternion<double>, Update::add>(quaternions);
      expect_components<dense<double, 3, 2>, Update::assign>(blocks, spec);
      expect_components<dense<double, 3, 2>, Update::add>(blocks, spec);
    }
}

}  // namespace
}  // namespace compound::test
