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
  using Product = product<Entry, Word, AnySlices, Words, vector_words<1>>;

  Entry entry;
  Layout layout;
  std::vector<Word> values;

  Encoded(const Entry& e, const Operands<S>& o, const LayoutSpec& spec)
      : entry(e), layout(encode(o.pattern.view(), spec)) {
    values.resize(whole_groups(layout.slots(), 32) * entry.words());
    const packing<Entry, Word, AnySlices, Words> p{
        entry, any_slices_of(layout), {}, data_or_null(layout.first_entry), o.blocks.data(), values.data()};
    for (idx position = 0; position < layout.positions; ++position) pack_row(p, position);
  }

  Product product_of(const Layout& over, const std::vector<S>& x, const std::vector<S>& z, std::vector<S>& y) const {
    Product p;
    p.entry = entry;
    p.slices = any_slices_of(over);
    p.values = values.data();
    p.x = x.data();
    p.z = z.data();
    p.y = y.data();
    return p;
  }
};

/// op(A) x by row(product, position) for each position: of A's own layout, or for its transposes of one of A^T's
/// pattern, reading A's words where they are.
template <Op op, class Entry, class Words, class Row>
std::vector<typename Entry::scalar> gathered(const Encoded<Entry, Words>& A, const Operands<typename Entry::scalar>& o,
                                             const LayoutSpec& spec, const Row& row) {
  using S = typename Entry::scalar;
  std::vector<S> y(o.z(op).size(), not_a_number<S>());
  Layout over = A.layout;
  std::vector<count32> value_slot;
  if constexpr (op != Op::none) {
    const Transposed t = transposed(o.pattern.view());
    over = encode(t.pattern.view(), spec);
    value_slot.resize(over.slots());
    const auto to = slots_of_entries(t.pattern.view(), over), from = slots_of_entries(o.pattern.view(), A.layout);
    for (std::size_t e = 0; e < to.size(); ++e) value_slot[to[e]] = from[t.entry_of[e]];
  }
  auto p = A.product_of(over, o.x(op), o.z(op), y);
  p.value_slot = data_or_null(value_slot);
  for (idx position = 0; position < over.positions; ++position) row(p, position);
  return y;
}

}  // namespace compound::test
