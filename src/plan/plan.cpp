#include "plan/plan.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "layout/family.hpp"
#include "plan/keywords.hpp"
#include "plan/library_products.hpp"
#include "plan/partition.hpp"

namespace compound {

namespace {

/// What a line says may be nothing for words in the order of rows, which it then does not mean.
void leave_rows_where_asked(Plan& p, const Plan& base) {
  const LayoutSpec& l = p.layout;
  const bool is_as_given = p.values == base.values && l.columns == LayoutSpec{}.columns && l.vector_group == 1;
  const bool is_whole = p.half == Half::none && p.longest == any_number && p.width == any_number;
  if (l.word_group == group_rows && (!is_of_full_blocks(p) || !is_as_given || !is_whole)) p.layout.word_group = 1;
}

}  // namespace

void set_layout(Plan& p, std::string_view text) {
  const LayoutSpec read = parse_layout(text);
  const LayoutFamily& family = family_of(read);
  p.layout.preset = read.preset;
  p.layout.slice = read.slice;
  p.layout.sigma = read.sigma;
  p.layout.each = read.each;
  // On the host words that lie as blocks do may stay where they are.
  p.layout.word_group = family.slots_are_entries && !p.schedule.of_device() ? 1 : family.word_group(read);
  p.layout.padded = false;
  p.layout.occupancy = Occupancy::lengths;
  p.schedule.library = {};
  if (!family.has_row_list) p.layout.row_list = false;
  if (family.threads && p.schedule.of_device()) {
    p.schedule.threads = family.threads(read);
    p.schedule.blocks = std::min(p.schedule.blocks, most_threads / p.schedule.threads);
  }
  if (family.goes_by(p.schedule.traversal)) return;
  p.schedule.traversal = family.traversals.front();
  if (p.schedule.traversal == Traversal::slots)
    p.schedule.lanes = p.schedule.unroll = 1;
  else
    p.schedule.carries = Schedule{}.carries;
}

void go_by_patches(Plan& p, int lanes) {
  constexpr int threads_at_once = 1024;  // of a multiprocessor: 64 registers each
  Schedule& s = p.schedule;
  p.layout.columns = columns_by_patches;
  s.traversal = Traversal::rows;
  s.lanes = lanes;
  s.unroll = 1;
  s.balance = Balance::grid;
  s.threads = threads_of_patch(p);
  s.blocks = std::max(1, threads_at_once / s.threads);
}

void set_words_in_rows(LayoutSpec& l) {
  l.word_group = group_rows;
  l.word_order = WordOrder::column;
  l.padded = false;
}

void set_entry(Plan& p, std::string_view entry) {
  p.entry = entry_kind(entry).name;
  if (p.entry != "dense" && p.schedule.traversal == Traversal::components) p.schedule.traversal = Traversal::rows;
}

namespace {

constexpr std::string_view balance_names[] = {"grid", "static", "dynamic"};

/// The part of a plan line that is for devices only; without threads what a device's plan would not have unasked: no
/// backend takes it, and the line says why.
std::string device_text(const Schedule& s) {
  const auto text = [&](bool is_shown, const std::string& word) {
    return s.of_device() || is_shown ? " " + word : std::string();
  };
  return text(s.unroll != 1, "unroll=" + std::to_string(s.unroll)) +
         text(false, "threads=" + std::to_string(s.threads)) +
         (s.blocks != 0 ? std::string(" blocks=").append(std::to_string(s.blocks)) : "") +
         text(s.balance != Balance::grid, std::string(balance_names[static_cast<int>(s.balance)])) +
         text(s.cache != Cache::keep, s.cache == Cache::stream ? "stream" : "cached");
}

/// What the parts of a plan have each: of the plan itself that of the first.
template <class Part>
std::string part_text(const Part& part, bool row_list_is_usual) {
  const LayoutSpec& layout = part.layout;
  const Schedule& schedule = part.schedule;
  std::string line = " columns=" + std::string(layout.columns);
  if (layout.occupancy == Occupancy::presence) line += " presence";
  if (layout.row_list && !row_list_is_usual) line += " rowlist";
  line.append(" ").append(name_of(schedule.traversal));
  if (!schedule.simd) line += " plain";
  if (schedule.fetch_x) line += " xahead";
  line += " lanes=" + std::to_string(schedule.lanes);
  line += device_text(schedule);
  if (schedule.carries == Carries::atomic) line += " carries=atomic";
  if (!schedule.library.empty()) line.append(" ").append(schedule.library);
  const std::string rest = rest_text(part.longest, part.width);
  return rest.empty() ? line : line + " " + rest;
}

std::string layout_text(const LayoutSpec& layout) {
  if (layout.word_group == group_rows) return layout_name(layout) + " words=" + std::string(words_in_rows);
  return layout_name(layout) + " words=" + word_group_text(layout.word_group) +
         (layout.word_order == WordOrder::row ? ":row" : ":column") + (layout.padded ? ":padded" : "");
}

}  // namespace

std::string to_string(const Plan& p) {
  std::string line = "entry=" + std::string(p.entry) + " " + layout_text(p.layout);
  line += " vectors=" + word_group_text(p.layout.vector_group);
  line += " values=" + std::string(name_of(p.values));
  if (value_code(p.codes).of != CodeOf::nothing) line += " codes=" + std::string(p.codes);
  if (p.half != Half::none) line.append(" half=").append(name_of(p.half));
  line += part_text(p, false);
  for (const PlanPart& part : p.later)
    line += " + " + layout_text(part.layout) + part_text(part, family_of(part.layout).has_row_list);
  return line;
}

namespace {

void set_keyword(Plan& p, std::string_view word) {
  const Keyword* const k = find_keyword(word);
  if (k) k->set(p, k->has_value() ? word.substr(k->name.size()) : std::string_view());
}

bool stands_alone(std::string_view word) {
  const Keyword* const k = find_keyword(word);
  return k && !k->has_value();
}
bool names_code(std::string_view word) { return word.starts_with("codes="); }
bool names_half(std::string_view word) { return word.starts_with("half=") && word != "half=none"; }

/// A half on a device brings a layout, where the line names none, and what goes with it. Gives why it cannot.
std::optional<std::string> bring_patches(Plan& p, bool has_layout, Words words) {
  if (!p.schedule.of_device()) return {};
  if (!has_layout) set_layout(p, "sell:32:" + std::to_string(usual_segments_of_patch));
  if (p.layout.preset != "sell" || p.layout.sigma == whole) return {};
  p.layout.row_list = false;
  p.schedule.lanes = 1;
  for (const auto word : words)
    if (word.starts_with("lanes=")) set_keyword(p, word);
  if (auto why = why_not_patches(p)) return why;
  go_by_patches(p, p.schedule.lanes);
  return {};
}

/// The words of one part. `later`: it is not the first.
Plan parse_part(Words words, std::string_view text, const Plan& base, bool later) {
  const auto refuse = [&](const std::string& why) {
    throw error(ErrorKind::argument, (later ? "a part of plan '" : "plan '") + std::string(text) + "'" + why);
  };
  for (const auto word : words)
    if (!find_keyword(word) && !find_library_product(word) && !names_layout(word))
      throw error(ErrorKind::argument, unknown_keyword(word));
  if (const auto why = why_not_together(words)) refuse(": " + *why);
  Plan plan = base;
  // The layout first, wherever it stands: it brings a word group that words= may then change.
  int layouts = 0;
  const LibraryProduct* const product = library_product_in(words);
  if (product && std::ranges::none_of(words, names_layout)) set_layout(plan, "csr"), ++layouts;
  for (const auto word : words) {
    if (!names_layout(word)) continue;
    set_layout(plan, word);
    if (++layouts > 1) refuse(std::string(" names two layouts; name one") + (later ? "" : ", or parts by ' + '"));
  }
  if (later && layouts == 0) refuse(" names no layout; after each + comes one: " + preset_names());
  if (layouts > 0)
    if (const auto why = why_not_for(words, plan.layout)) refuse(": " + *why);
  if (std::ranges::any_of(words, names_half))
    if (const auto why = bring_patches(plan, layouts > 0, words)) refuse(": " + *why);
  if (later) plan.layout.row_list = family_of(plan.layout).has_row_list;
  if (product) set_library_product(plan, *product);
  for (const auto word : words)
    if (stands_alone(word)) set_keyword(plan, word);
  if (later) set_codes(plan, plan.codes);
  for (const auto word : words)
    if (names_code(word)) set_keyword(plan, word);  // it brings a word group that words= may then refuse
  for (const auto word : words)
    if (!names_code(word) && !stands_alone(word)) set_keyword(plan, word);
  const auto names_words = [](std::string_view word) { return word.starts_with("words="); };
  if (std::ranges::none_of(words, names_words)) leave_rows_where_asked(plan, base);
  if (plan.schedule.of_device()) {  // words of the host, which plan_for_line() refuses there
    plan.schedule.simd = Schedule{}.simd;
    plan.schedule.fetch_x = Schedule{}.fetch_x;
  }
  return plan;
}

/// As parse_part(): with the first part's choices for the whole plan, and the others from `base`.
PlanPart parse_later_part(Words words, std::string_view text, const Plan& first, Plan base) {
  for (const auto word : words)
    for (const std::string_view of_plan : {"entry=", "values=", "codes=", "half=", "vectors="})
      if (word.starts_with(of_plan))
        throw error(ErrorKind::argument, std::string(word) + " in a later part of plan '" + std::string(text) +
                                             "': it is for the whole plan; say it before the first +");
  base.entry = first.entry;
  base.values = first.values;
  base.codes = first.codes;
  base.half = first.half;
  base.layout.vector_group = first.layout.vector_group;
  base.layout.word_order = first.layout.word_order;
  base.layout.columns = LayoutSpec{}.columns;
  const Plan part = parse_part(words, text, base, true);
  return {part.layout, part.schedule, part.longest, part.width};
}

}  // namespace

std::string_view layout_in(std::string_view line) {
  const auto words = words_of_line(line);
  std::string_view found;
  for (const auto word : words) {
    if (word == "+") break;
    if (names_layout(word)) return word;
    if (find_library_product(word)) found = "csr";
  }
  return found;
}

Plan parse_plan(std::string_view text, const Plan& given) {
  const auto words = words_of_line(text);
  Plan base = given;
  base.longest = base.width = any_number;
  base.later.clear();
  if (words.empty()) throw error(ErrorKind::argument, "empty plan; name at least a layout: " + preset_names());
  Words all = words, part;
  bool goes_on = take_part(all, part);
  Plan plan = parse_part(part, text, base, false);
  while (goes_on) {
    goes_on = take_part(all, part);
    plan.later.push_back(parse_later_part(part, text, plan, base));
  }
  if (const auto why = why_not_in_parts(plan))
    throw error(ErrorKind::argument, "plan '" + std::string(text) + "': " + *why);
  return plan;
}

PlanText split_off_diagonal(std::string_view text) {
  const std::size_t at = text.find("off:");
  if (at == std::string_view::npos) return {text, {}};
  if (text.find("off:", at + 4) != std::string_view::npos)
    throw error(ErrorKind::argument,
                "plan '" + std::string(text) + "' says 'off:' twice; give one plan for the off-diagonal part");
  return {text.substr(0, at), text.substr(at + 4)};
}

}  // namespace compound
