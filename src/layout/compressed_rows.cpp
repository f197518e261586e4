#include "../device/layout/compressed_rows.hpp"

#include "column_codes.hpp"
#include "family.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

using arrays = compressed_rows_arrays;

std::optional<std::string> why_not(const LayoutSpec& spec) {
  if (spec.sigma != 1) return "compressed rows keep their order: a sorting window needs slices";
  return {};
}

Layout without_columns(const PatternView& p, const LayoutSpec& spec, PatternLifetime lifetime) {
  Layout l;
  if (spec.row_list) {
    const std::vector<idx> rows = row_order(p, spec);
    l = layout_of_rows(p, rows);
    std::vector<count32> start{0};
    start.reserve(rows.size() + 1);
    for (const idx row : rows) start.push_back(p.start[row + 1]);
    l.arrays[arrays::start] = {"start", std::move(start)};
  } else {
    l.positions = p.rows;
    l.arrays[arrays::start] = pattern_array("start", p.start, lifetime);
  }
  l.slots = p.entries();
  return l;
}

/// Rows that are not listed are empty: the columns are the pattern's in any case.
Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime lifetime) {
  Layout l = without_columns(p, spec, lifetime);
  column_code(spec.columns)
      .encode(l, arrays::columns, spec, l.arrays[arrays::start].as<count32>(),
              pattern_array("column", p.column, lifetime));
  return l;
}

LayoutCount counted(const PatternView& p, const LayoutSpec& spec, PatternLifetime lifetime) {
  const bool borrowed = lifetime == PatternLifetime::outlives;
  LayoutCount count{.slots = p.entries()};
  if (spec.row_list) {
    const Layout l = layout_of_rows(p, row_order(p, spec));
    count.add(l.bytes() / sizeof(idx));
    count.add(std::size_t(l.positions) + 1);
  } else {
    count.add(p.start.size(), borrowed);
  }
  count.add(p.column.size(), borrowed);
  return count;
}

std::string decoder(const LayoutSpec&, std::string_view order, std::string_view columns) {
  return "compressed_rows<" + std::string(order) + ", " + std::string(columns) + ">";
}

using Any = compressed_rows<RowOrder::any, any_columns>;
constexpr Traversal traversals[] = {Traversal::rows, Traversal::components};

}  // namespace

constinit const LayoutFamily compressed_rows_family{
    .number = "slice height",
    .why_not = why_not,
    .encode = encoded,
    .count = counted,
    .decoder = decoder,
    .any_decoder = "compressed_rows<RowOrder::any, any_columns>",
    .host_form = HostTraversal::rows,
    .list_rows = list_rows<Any>,
    .list_slots = list_slots<Any>,
    .traversals = traversals,
    .slots_are_entries = true,
    .interleaved = false,
    .columns = arrays::columns,
    .has_presence = false,
    .has_row_list = true,
    .word_group = [](const LayoutSpec&) { return idx{1}; },
    .outline = [](const PatternView& p,
                  const LayoutSpec& spec) { return without_columns(p, spec, PatternLifetime::temporary); },
};

}  // namespace compound
