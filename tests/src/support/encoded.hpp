// A matrix packed by the device text, and its products by any traversal of it, gathered as a device gathers.
#pragma once

#include "device/pack_values.hpp"
#include "device/spmv_rows.hpp"
#include "device_forms.hpp"
#include "products.hpp"

namespace compound::test {

/// Any layout; words in groups of 32 of row-major order unless told.
template <class Entry, class Words = matrix_words<32, WordOrder::row>>
struct Encoded {
  using S = typename Entry::scalar;
  using Word = typename Entry::word;
  template <class Values>
  using Product = product<Entry, Word, AnyLayout, Words, vector_words<1>, Values>;

  Entry entry;
  LayoutSpec spec;
  Layout layout;
  std::vector<Word> values;

  Encoded(const Entry& e, const Operands<S>& o, const LayoutSpec& in)
      : entry(e), spec(in), layout(encode(o.pattern.view(), in)) {
    values.resize(whole_groups(layout.slots, 32) * entry.words());
    pack_all_slots(packing<Entry, Word, Words>{entry, {}, o.blocks.data(), values.data()}, spec, layout.args());
  }

  Product<own_values> product_of(const std::vector<S>& x, const std::vector<S>& z, std::vector<S>& y) const {
    return product_over(AnyLayout(spec, layout.args()), own_values{}, x, z, y);
  }
  /// Over a layout of A^T's pattern whose slots' words are where `value_of` says.
  template <class Values>
  Product<Values> product_over(const AnyLayout& over, Values value_of, const std::vector<S>& x, const std::vector<S>& z,
                               std::vector<S>& y) const {
    return {entry, over, {}, {}, {}, value_of, values.data(), x.data(), z.data(), y.data()};
  }
};

/// op(A) x by row(product, position) for each position: of A's own layout, or for its transposes of one of A^T's
/// pattern, reading A's words where they are.
template <Op op, class Entry, class Words, class Row>
std::vector<typename Entry::scalar> gathered(const Encoded<Entry, Words>& A, const Operands<typename Entry::scalar>& o,
                                             const LayoutSpec& spec, const Row& row) {
  using S = typename Entry::scalar;
  std::vector<S> y(o.z(op).size(), not_a_number<S>());
  const auto all_rows = [&](const auto& p) {
    for (idx position = 0; position < p.layout.positions; ++position) row(p, position);
  };
  if constexpr (op == Op::none) {
    all_rows(A.product_of(o.x(op), o.z(op), y));
  } else {
    const Transposed t = transposed(o.pattern.view());
    const Layout over = encode(t.pattern.view(), spec);
    std::vector<count32> value_slot(over.slots);
    const auto to = slots_of_entries(t.pattern.view(), spec, over),
               from = slots_of_entries(o.pattern.view(), A.spec, A.layout);
    for (std::size_t e = 0; e < to.size(); ++e) value_slot[to[e]] = from[t.entry_of[e]];
    all_rows(
        A.product_over(AnyLayout(spec, over.args()), listed_values<count32>{value_slot.data()}, o.x(op), o.z(op), y));
  }
  return y;
}

}  // namespace compound::test
