// Products by slots, whose threads help each other, without a device.
#include <gtest/gtest.h>

#include <span>

#include "device/emulated_chunks.hpp"
#include "layout/family.hpp"
#include "storage/chunk_codes.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Rows that end within a thread, a warp, a chunk, the next and after many chunks.
Pattern uneven_rows(bool with_empty_rows) {
  std::vector<std::vector<idx>> rows;
  for (const idx length : {1, 2, 3, 0, 31, 32, 33, 1, 127, 1, 129, 700, 0, 0, 5, 1, 1, 1, 1025, 2, 64, 1, 0})
    if (length > 0 || with_empty_rows) {
      rows.emplace_back(length);
      for (idx k = 0; k < length; ++k) rows.back()[k] = k * 7 % 300;
    }
  return pattern_of(300, rows);
}

constexpr const char* layouts[] = {"ccoo:32:1", "ccoo:32:2",  "ccoo:96:4", "ccoo:128:1",
                                   "ccoo:64:4", "ccoo:256:2", "ccoo:32:8"};

/// A kernel, and whether it reads values that are coded chunk by chunk.
struct Kernel {
  void (*multiply)(const emulated::Task&);
  bool is_coded = false;
};

/// What the backend does around the kernels.
template <class S>
std::vector<S> product(const Operands<S>& o, const char* layout, Form form, bool atomic, Kernel kernel) {
  const LayoutSpec spec = parse_layout(layout);
  const Layout l = encode(o.pattern.view(), spec);
  const layout_args args = l.args();
  const bool clears = atomic || !visits_all_rows(family_of(spec), spec.row_list, args);
  std::vector<S> y(o.rows_z.size(), clears ? S{} : not_a_number<S>()), z = o.rows_z;
  std::vector<S> carries((l.slots / l.height + 1) * o.shape.rows, not_a_number<S>());
  if (form == Form::add_in_place || (form == Form::add && clears)) y = z;
  emulated::Task t{layout, &args, o.pattern.rows, o.pattern.cols, o.blocks.data()};
  t.x = o.cols_vector.data();
  t.adds = clears || form != Form::assign;
  t.z = form == Form::add && !clears ? z.data() : y.data();
  t.y = y.data();
  t.carries = carries.data();
  t.atomic = atomic;
  ChunkedValues coded;
  if (kernel.is_coded) {
    const int words = o.shape.rows * o.shape.cols;
    coded = code_chunks(backend("host"), {o.blocks.data(), l.slots, words, 1, sizeof(S), l.height});
    t.values = coded.values.data();
    t.codes = coded.places.data();
    t.table = coded.table.data();
  }
  kernel.multiply(t);
  return y;
}

template <class S>
void expect_products(const Pattern& pattern, BlockShape shape, Kernel kernel, const std::string& where,
                     std::span<const char* const> in = layouts) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer does not follow threads' contexts";
#endif
  Random random;
  const Operands<S> operands = Operands<S>(pattern, "dense", shape, random)
                                   .for_codes_of(parse_plan(kernel.is_coded ? "ccoo codes=chunks8" : "ccoo", {}));
  for (const char* const layout : in)
    for (const Form form : forms)
      for (const bool atomic : {false, true})
        EXPECT_TRUE(agrees(product(operands, layout, form, atomic, kernel),
                           reference_product(operands, Precision::double_, Op::none, form)))
            << where << ' ' << layout << ' ' << product_name(Op::none, form) << (atomic ? " atomic" : "");
}

TEST(Chunks, AddUpRowsWhereverTheyEnd) {
  for (const bool with_empty_rows : {false, true})
    expect_products<double>(uneven_rows(with_empty_rows), {3, 2}, {emulated::multiply_dense_3x2},
                            with_empty_rows ? "with empty rows" : "");
}

TEST(Chunks, AddUpComplexScalars) {
  expect_products<complex_number<double>>(uneven_rows(true), {1, 1}, {emulated::multiply_complex_scalars}, "");
}

TEST(Chunks, MultiplyValuesThatAreCodedOrNotChunkByChunk) {
  for (const bool with_empty_rows : {false, true})
    expect_products<double>(uneven_rows(with_empty_rows), {3, 2}, {emulated::multiply_coded_dense_3x2, true},
                            with_empty_rows ? "with empty rows" : "");
  expect_products<complex_number<double>>(uneven_rows(true), {1, 1}, {emulated::multiply_coded_complex_scalars, true},
                                          "");
}

TEST(Chunks, MultiplyEveryPatternOfTheZoo) {
  for (const ZooPattern& z : zoo())
    expect_products<double>(z.pattern, {3, 2}, {emulated::multiply_dense_3x2}, std::string(z.name),
                            std::span(layouts).subspan(1, 2));
}

/// Rows of one entry: all rows but the last of a thread are whole in it.
TEST(Chunks, AddUpShortRows) {
  std::vector<std::vector<idx>> rows;
  for (idx r = 0; r < 700; ++r) rows.push_back(r % 5 == 3 ? std::vector<idx>{r, 1} : std::vector<idx>{r});
  expect_products<double>(pattern_of(700, rows), {3, 2}, {emulated::multiply_dense_3x2}, "short rows");
}

}  // namespace
}  // namespace compound::test
