// What a plan asks of a problem, and what its words are there.
#include <algorithm>

#include "layout/family.hpp"
#include "plan/keywords.hpp"
#include "plan/library_products.hpp"
#include "plan/partition.hpp"

namespace compound {

namespace {

constexpr std::size_t widest_bytes = 16;  // that a device reads at once

std::size_t bytes_of_words(const Plan& p, const Problem& problem) {
  return bytes_of_word(p, problem) * entry_shape(p, problem).words;
}

std::optional<std::string> why_not_padded(const Plan& p, const Problem& problem) {
  if (value_code(p.codes).of != CodeOf::nothing)
    return "codes=" + std::string(p.codes) + " stores no scalars in the slots that could be padded; leave padded out";
  if (p.layout.word_group != 1)
    return "an entry's scalars are padded where they are stored together: words=1:padded, not words=" +
           word_group_text(p.layout.word_group);
  const std::size_t bytes = bytes_of_words(p, problem);
  if (bytes % widest_bytes == 0)
    return "words=1:padded would change nothing: each entry has " + std::to_string(bytes) +
           " bytes of scalars, a multiple of 16 already; leave padded out";
  return {};
}

std::optional<std::string> why_not_in_chunks(const Plan& p) {
  const LayoutSpec& l = p.layout;
  const std::string code = "codes=" + std::string(p.codes);
  if (!family_of(l).has_chunks())
    return code + " keeps values chunk by chunk, and layout " + std::string(l.preset) +
           " has no chunks; use ccoo, or codes=scalars8";
  if (l.word_group == group_all || slots_of_chunk(l) % l.word_group != 0)
    return code + " needs whole groups of scalars in each chunk of " + std::to_string(slots_of_chunk(l)) +
           " entries, which words=" + word_group_text(l.word_group) + " does not give; use words=32 or words=1";
  return {};
}

/// Words in the order of rows are the caller's own: nothing packs them.
std::optional<std::string> why_not_in_rows(const Plan& p, const Problem& problem) {
  const LayoutSpec& l = p.layout;
  const std::string words = "words=rows are the values of a matrix as it stores them, scalar row by scalar row";
  if (problem.order != ValueOrder::rows) return words + ", and this one stores them block by block (BAIJ); use words=1";
  const auto only_with = [&](std::string_view what, const std::string& found) {
    return words + ": with " + std::string(what) + " alone, not " + found + "; use words=1";
  };
  if (!family_of(l).slots_are_entries || family_of(l).has_chunks())
    return only_with("layout csr", "with " + std::string(l.preset));
  if (p.entry != "dense") return only_with("entry=dense", "entry=" + std::string(p.entry));
  if (value_code(p.codes).of != CodeOf::nothing) return only_with("codes=none", "codes=" + std::string(p.codes));
  if (p.values != problem.scalar.precision)
    return only_with("values=" + std::string(name_of(problem.scalar.precision)),
                     "values=" + std::string(name_of(p.values)));
  if (l.columns != LayoutSpec{}.columns) return only_with("columns=32", "columns=" + std::string(l.columns));
  if (l.vector_group != 1) return only_with("vectors=1", "vectors=" + word_group_text(l.vector_group));
  return {};
}

/// The host adds to two blocks of y an entry, row by row; devices go by patches.
std::optional<std::string> why_not_half(const Plan& p, const Problem& problem) {
  const LayoutSpec& l = p.layout;
  const std::string half = "half=" + std::string(name_of(p.half));
  if (p.half == Half::hermitian && problem.scalar.field == Field::real)
    return half + " is for complex scalars; for real ones it is half=symmetric";
  if (problem.block.rows != problem.block.cols)
    return half + " is for square blocks, not for blocks of " + std::to_string(problem.block.rows) + "x" +
           std::to_string(problem.block.cols) + "; leave half= out";
  const auto only_with = [&](std::string_view what, const std::string& found) {
    return half + " goes with " + std::string(what) + " alone, not with " + found + "; leave one of them out";
  };
  if (l.columns == columns_by_patches) {
    if (const auto why = why_not_patches(p)) return why;
  } else if (!family_of(l).slots_are_entries || family_of(l).has_chunks()) {
    return only_with("layout csr", "layout " + std::string(l.preset));
  }
  if (value_code(p.codes).of != CodeOf::nothing) return only_with("codes=none", "codes=" + std::string(p.codes));
  if (l.word_group == group_rows) return half + " is packed: words=1, not words=rows";
  return {};
}

std::optional<std::string> applicable_part(const Plan& p, const Problem& problem) {
  const LayoutSpec& l = p.layout;
  if (problem.upper && p.half == Half::none)
    return "a matrix that is given by its upper triangle needs half=symmetric or half=hermitian";
  if (p.half != Half::none) {
    if (const auto why = why_not_half(p, problem)) return why;
  } else if (l.columns == columns_by_patches) {
    return "columns=patch are those of a half: with half=symmetric or half=hermitian; use columns=32";
  }
  if (l.word_group == group_rows)
    if (const auto why = why_not_in_rows(p, problem)) return why;
  const std::string misfit = entry_kind(p.entry).why_not(problem.scalar.field, problem.block);
  if (!misfit.empty()) return misfit;
  const LayoutFamily& family = family_of(l);
  const std::string layout = "layout " + std::string(l.preset);
  if (l.occupancy == Occupancy::presence && !family.has_presence)
    return "presence bits are for slices by length, not for " + layout;
  if (l.columns != LayoutSpec{}.columns && !family.has_columns())
    return layout + " keeps no columns that could be of " + std::string(l.columns) + " bits";
  if (l.row_list && !family.has_row_list) return layout + " has no rowlist: empty rows are nowhere in it";
  if (!family.goes_by(p.schedule.traversal))
    return layout + " goes by " + std::string(name_of(family.traversals.front())) + ", not by " +
           std::string(name_of(p.schedule.traversal));
  if (const auto of_numbers = family.why_not(l)) return of_numbers;
  if (value_code(p.codes).in_columns() && (!family.has_columns() || l.columns != LayoutSpec{}.columns))
    return "codes=" + std::string(p.codes) + " are in the highest bit of a column of 32 bits, which " + layout +
           (family.has_columns() ? " has by columns=32 alone" : " does not have");
  if (value_code(p.codes).of == CodeOf::chunks)
    if (const auto why = why_not_in_chunks(p)) return why;
  if (value_code(p.codes).of == CodeOf::blocks && l.word_group != 1)
    return "codes=" + std::string(p.codes) + " reads the scalars of a block together: use words=1";
  if (const auto why = why_not_by_library(p, problem)) return why;
  if (p.values == Precision::double_ && problem.scalar.precision == Precision::single)
    return "values=double under vectors of float: matrix scalars may be narrower than the vectors, not wider";
  if (l.padded) return why_not_padded(p, problem);
  return {};
}

}  // namespace

std::optional<std::string> why_not_patches(const Plan& p) {
  const LayoutSpec& l = p.layout;
  const std::string columns = "columns=patch are those of sell:32:T, in patches of T segments of rows, ";
  if (l.preset != "sell" || l.slice != 32 || l.sigma < 32 || l.sigma > most_threads_of_block)
    return columns + "32 to " + std::to_string(most_threads_of_block) + ", not of " + layout_name(l) +
           "; use sell:32:256";
  if (l.occupancy != Occupancy::lengths || l.row_list) return columns + "with lengths and allrows; leave the other out";
  if (threads_of_patch(p) > most_threads_of_block)
    return columns + "of lanes=" + std::to_string(p.schedule.lanes) +
           " threads each: " + std::to_string(threads_of_patch(p)) + " with " + layout_name(l) +
           ", and a block has at most " + std::to_string(most_threads_of_block) +
           "; use sell:32:" + std::to_string(most_threads_of_block / p.schedule.lanes) + ", or leave lanes= out";
  return {};
}

std::optional<std::string> applicable(const Plan& p, const Problem& problem) {
  if (const auto why = why_not_in_parts(p)) return why;
  const auto is_in_rows = [](const Plan& part) { return part.layout.word_group == group_rows; };
  if (!p.later.empty() && std::ranges::any_of(parts(p), is_in_rows))
    return "words=rows are all of a matrix's values, as it stores them: they make a plan of one part; use words=1";
  if (p.half != Half::none && !p.later.empty())
    return "half=" + std::string(name_of(p.half)) + " is for plans of one part; leave the other parts out";
  if (value_code(p.codes).of == CodeOf::chunks && !p.later.empty())
    return "codes=" + std::string(p.codes) + " is for plans of one part; use codes=scalars8 or codes=none for several";
  const auto has_other_order = [&](const PlanPart& part) { return part.layout.word_order != p.layout.word_order; };
  if (value_code(p.codes).of == CodeOf::blocks && std::ranges::any_of(p.later, has_other_order))
    return "parts with scalars in different orders have no dictionary in common, as codes=" + std::string(p.codes) +
           " needs: use words=1 in all, or the same order";
  return first_of_parts(p, [&](const Plan& part) { return applicable_part(part, problem); });
}

bool is_of_full_blocks(const Plan& p, bool upper) {
  const bool has_all = p.half == Half::none || upper;
  return p.later.empty() && has_all && p.entry == "dense" && value_code(p.codes).of == CodeOf::nothing &&
         family_of(p.layout).slots_are_entries;
}

bool words_are_blocks(const Plan& p, const Problem& problem) {
  const LayoutSpec& l = p.layout;
  if (!is_of_full_blocks(p, problem.upper) || p.values != problem.scalar.precision) return false;
  // Blocks of one row have but one order.
  const bool in_rows = problem.order == ValueOrder::rows, in_blocks = !in_rows || problem.block.rows == 1;
  return (in_rows && l.word_group == group_rows) || (in_blocks && words_adjoin(l) && l.word_order == WordOrder::column);
}

EntryShape entry_shape(const Plan& p, const Problem& problem) {
  return entry_kind(p.entry).shape(problem.scalar.field, problem.block);
}

std::size_t bytes_of_word(const Plan& p, const Problem& problem) {
  return bytes_of(EntryShape{.words = 1, .real_words = entry_shape(p, problem).real_words},
                  {problem.scalar.field, p.values});
}

std::size_t bytes_of_entry(const Plan& p, const Problem& problem) {
  const std::size_t bytes = bytes_of_words(p, problem);
  return p.layout.padded ? (bytes + widest_bytes - 1) / widest_bytes * widest_bytes : bytes;
}

word_map<dynamic> matrix_word_map(const Plan& p, const Problem& problem, slot_t slots) {
  if (p.layout.word_group == group_rows) return {};                      // kernels know where they are
  if (!p.layout.padded) return word_map_of(p.layout.word_group, slots);  // asked for at each product
  const std::size_t padding = bytes_of_entry(p, problem) - bytes_of_words(p, problem);
  return word_map_of(p.layout.word_group, slots, static_cast<int>(padding / bytes_of_word(p, problem)));
}

}  // namespace compound
