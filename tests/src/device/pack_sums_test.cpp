// Sums by lists that are packed as they are made, and blocks that come back out of packed words: as a device's workers
// do it, worker by worker.
#include <gtest/gtest.h>

#include "device/kernels.hpp"
#include "support/block_lists.hpp"
#include "support/device_forms.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

constexpr int side = 3, words = side * side;
using Entry = dense<double, side, side>;
using Words = matrix_words<32, WordOrder::column>;

/// f(worker) for all of a kernel's, and some more.
template <class F>
void for_each_worker(const Layout& l, bool slots_are_entries, const F& f) {
  const slot_t workers =
      slots_are_entries ? l.slots : whole_groups(l.positions, 32) * static_cast<slot_t>(shares_of_positions);
  for (slot_t worker = 0; worker < workers + 40; ++worker) f(worker);
}

template <class Decoder>
void expect_packs_and_unpacks(const Pattern& pattern, const LayoutSpec& spec, bool by_rows) {
  const auto entries = static_cast<slot_t>(pattern.view().entries());
  const BlockLists lists(pattern, side, by_rows, test_seed());
  const std::vector<double> values = lists.summed();
  const Layout l = encode(pattern.view(), spec);
  const Words map{map_of<32>(l.slots)};
  const count32* const start = by_rows ? pattern.start.data() : nullptr;
  const std::size_t scalars = whole_groups(l.slots, 32) * words;
  std::vector<double> wanted(scalars, -1), packed = wanted, back(values.size(), -2);
  const packing<Entry, double, Words> p{{}, map, values.data(), wanted.data(), 0, start, pattern.rows};
  const sum_packing<Entry, double, Words> s{{}, map, lists.sums(), packed.data()};
  const packing<Entry, double, Words> u{{}, map, back.data(), packed.data(), 0, start, pattern.rows};

  for_each_worker(l, Decoder::slots_are_entries, [&](slot_t worker) {
    for_each_slot<Decoder>(l.args(), {}, p, worker,
                           [&](slot_t slot, slot_t e, idx row) { pack_slot(p, slot, e, row); });
    for_each_slot<Decoder>(l.args(), {}, s, worker,
                           [&](slot_t slot, slot_t e, idx row) { pack_slot(s, slot, e, row); });
  });
  for_each_worker(l, Decoder::slots_are_entries, [&](slot_t worker) {
    for_each_slot<Decoder>(l.args(), {}, u, worker,
                           [&](slot_t slot, slot_t e, idx row) { unpack_slot(u, slot, e, row); });
  });

  ASSERT_GT(entries, 0);
  EXPECT_EQ(packed, wanted) << layout_name(spec) << ", by rows " << by_rows << ", " << seed_text();
  EXPECT_EQ(back, values) << layout_name(spec) << ", by rows " << by_rows << ", " << seed_text();
}

TEST(PackSums, PacksWhatIsPackedOfTheSumsAndGivesTheSumsBack) {
  const Pattern pattern = random_pattern(150, 60, 9, test_seed());
  for (const bool by_rows : {false, true}) {
    expect_packs_and_unpacks<Rows>(pattern, parse_layout("csr"), by_rows);
    for (const char* text : {"ellr", "sell:8:16", "sell:32", "sell:2:all"}) {
      expect_packs_and_unpacks<Slices<dynamic, Occupancy::any>>(pattern, parse_layout(text), by_rows);
      LayoutSpec spec = parse_layout(text);
      spec.occupancy = Occupancy::presence;
      expect_packs_and_unpacks<Slices<dynamic, Occupancy::any>>(pattern, spec, by_rows);
    }
    for (const char* text : {"dia", "hdia:32"})
      expect_packs_and_unpacks<diagonal_slices<dynamic, RowOrder::any>>(pattern, parse_layout(text), by_rows);
    expect_packs_and_unpacks<coordinates<>>(pattern, parse_layout("ccoo:64"), by_rows);
  }
}

}  // namespace
}  // namespace compound::test
