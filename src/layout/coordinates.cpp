#include "../device/layout/coordinates.hpp"

#include <limits>

#include "column_codes.hpp"
#include "family.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

using arrays = coordinates_arrays;

std::optional<std::string> why_not(const LayoutSpec& spec) {
  if (spec.slice % 32 != 0)
    return "chunks of coordinates are whole warps' work: " + std::to_string(spec.slice) + " must be a multiple of 32";
  return {};
}

void check_entries(const PatternView& p) {
  if (p.entries() > count32{std::numeric_limits<idx>::max()})
    throw_beyond_32_bits(p.entries(), "entries, with a sign,");
}

Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime lifetime) {
  check_entries(p);
  Layout l;
  l.positions = static_cast<idx>(p.entries());
  l.height = spec.slice;
  l.slots = p.entries();
  std::vector<idx> row(p.entries());
  for (idx r = 0; r < p.rows; ++r)
    for (count32 e = p.start[r]; e < p.start[r + 1]; ++e) row[e] = r;
  l.arrays[arrays::row] = {"row", std::move(row)};
  column_code(spec.columns).encode(l, arrays::columns, pattern_array("column", p.column, lifetime));
  return l;
}

LayoutCount counted(const PatternView& p, const LayoutSpec&, PatternLifetime lifetime) {
  check_entries(p);
  LayoutCount count{.slots = p.entries()};
  count.add(p.entries());  // rows
  count.add(p.column.size(), lifetime == PatternLifetime::outlives);
  return count;
}

std::string decoder(const LayoutSpec&, std::string_view, std::string_view columns) {
  return "coordinates<" + std::string(columns) + ">";
}

using Any = coordinates<columns32<>>;
constexpr Traversal traversals[] = {Traversal::slots};

}  // namespace

constinit const LayoutFamily coordinates_family{
    .number = "entries of a chunk",
    .why_not = why_not,
    .encode = encoded,
    .count = counted,
    .decoder = decoder,
    .any_decoder = "coordinates<columns32<>>",
    .host_form = HostTraversal::lists,
    .list_rows = list_rows<Any>,
    .list_slots = list_slots<Any>,
    .traversals = traversals,
    .slots_are_entries = true,
    .interleaved = false,
    .visits_all_rows = false,
    .has_presence = false,
    .has_row_list = false,
    .word_group = [](const LayoutSpec&) { return idx{32}; },
};

}  // namespace compound
