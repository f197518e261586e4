#include "plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "layout/column_codes.hpp"
#include "layout/family.hpp"
#include "plan/library_products.hpp"
#include "plan/partition.hpp"

namespace compound {

namespace {

idx parse_group(std::string_view text, std::string_view what) {
  if (text == "all") return group_all;
  const idx g = parse_number(text, 1, 1024, std::string(what) + " (or 'all')");
  if (!std::has_single_bit(static_cast<unsigned>(g)))
    throw error(ErrorKind::argument, std::string(what) + " " + std::to_string(g) + " must be a power of two, or 'all'");
  return g;
}

constexpr std::string_view words_in_rows = "rows";

/// What a line says may be nothing for words in the order of rows, which it then does not mean.
void leave_rows_where_asked(Plan& p, const Plan& base) {
  const LayoutSpec& l = p.layout;
  const bool is_as_given = p.values == base.values && l.columns == LayoutSpec{}.columns && l.vector_group == 1;
  if (l.word_group == group_rows && (!is_of_full_blocks(p) || !is_as_given || p.longest != any_number))
    p.layout.word_group = 1;
}

/// What may follow the group in words=.
struct WordsMember {
  std::string_view name;
  void (*set)(LayoutSpec&);
};
constexpr WordsMember words_members[] = {
    {"row", [](LayoutSpec& l) { l.word_order = WordOrder::row; }},
    {"column", [](LayoutSpec& l) { l.word_order = WordOrder::column; }},
    {"padded", [](LayoutSpec& l) { l.padded = true; }},
};

void set_words(Plan& p, std::string_view value) {
  if (value == words_in_rows) return set_words_in_rows(p.layout);
  std::size_t colon = value.find(':');
  p.layout.word_group = parse_group(value.substr(0, colon), "words=");
  p.layout.padded = false;
  while (colon != std::string_view::npos) {
    value.remove_prefix(colon + 1);
    colon = value.find(':');
    const auto member = std::ranges::find(words_members, value.substr(0, colon), &WordsMember::name);
    if (member == std::end(words_members))
      throw error(ErrorKind::argument, "word order '" + std::string(value.substr(0, colon)) +
                                           "' in words=; choose row, column, and padded for words=1");
    member->set(p.layout);
  }
}

/// A dictionary of blocks is read in no order: entry by entry.
void set_codes(Plan& p, std::string_view value) {
  const ValueCode& code = value_code(value);
  p.codes = code.word;
  if (code.of == CodeOf::blocks) p.layout.word_group = 1;
}

void set_values(Plan& p, std::string_view value) {
  if (value != "double" && value != "float")
    throw error(ErrorKind::argument, "values=" + std::string(value) + "; choose double, float");
  p.values = value == "double" ? Precision::double_ : Precision::single;
}

void set_columns(Plan& p, std::string_view value) { p.layout.columns = column_code(value).word; }

void set_lanes(Plan& p, std::string_view value) {
  p.schedule.lanes = parse_number(value, 1, 32, "lanes=");
  if (!std::has_single_bit(static_cast<unsigned>(p.schedule.lanes)))
    throw error(ErrorKind::argument, "lanes=" + std::string(value) + " must be a power of two, 1 to 32");
}

/// A `name=number` word of a schedule.
template <int Schedule::*member, int least, int most>
void set_number(Plan& p, std::string_view value, std::string_view name) {
  p.schedule.*member = parse_number(value, least, most, name);
}

void set_threads(Plan& p, std::string_view value) {
  set_number<&Schedule::threads, 32, 1024>(p, value, "threads=");
  if (p.schedule.threads % 32 != 0)
    throw error(ErrorKind::argument, "threads=" + std::string(value) + " must be a multiple of 32, 32 to 1024");
}

void set_carries(Plan& p, std::string_view value) {
  if (value != "ordered" && value != "atomic")
    throw error(ErrorKind::argument, "carries=" + std::string(value) + "; choose ordered, atomic");
  p.schedule.carries = value == "ordered" ? Carries::ordered : Carries::atomic;
}

/// The `name=value` words of a plan line.
struct Setting {
  std::string_view name;
  std::string_view allowed;
  void (*set)(Plan&, std::string_view);
};
constexpr Setting settings[] = {
    {"entry", "a kind of entry", [](Plan& p, std::string_view v) { p.entry = entry_kind(v).name; }},
    {"codes", "none, blocks0, blocks1, scalars8, chunks8, blocks8, blocks16", set_codes},
    {"words", "1, 2, 4, ... or all, with :row or :column; 1 with :padded; rows", set_words},
    {"vectors", "1, 2, 4, ... or all",
     [](Plan& p, std::string_view v) { p.layout.vector_group = parse_group(v, "vectors="); }},
    {"values", "double, float", set_values},
    {"columns", "32, 16, 8", set_columns},
    {"lanes", "1, 2, 4, ..., 32", set_lanes},
    {"unroll", "1 to 16", [](Plan& p, std::string_view v) { set_number<&Schedule::unroll, 1, 16>(p, v, "unroll="); }},
    {"threads", "32, 64, ..., 1024", set_threads},
    {"blocks", "1 to 32", [](Plan& p, std::string_view v) { set_number<&Schedule::blocks, 1, 32>(p, v, "blocks="); }},
    {"carries", "ordered, atomic", set_carries},
    {"longest", "1, 2, ...",
     [](Plan& p, std::string_view v) { p.longest = parse_number(v, 1, any_number, "longest="); }},
};

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

/// The words of a plan line that stand alone; those of a group undo each other.
struct Flag {
  std::string_view name;
  void (*set)(Plan&);
};
constexpr Flag flags[] = {
    {"lengths", [](Plan& p) { p.layout.occupancy = Occupancy::lengths; }},
    {"presence", [](Plan& p) { p.layout.occupancy = Occupancy::presence; }},
    {"allrows", [](Plan& p) { p.layout.row_list = false; }},
    {"rowlist", [](Plan& p) { p.layout.row_list = true; }},
    {"simd", [](Plan& p) { p.schedule.simd = true; }},
    {"plain", [](Plan& p) { p.schedule.simd = false; }},
    {"xnear", [](Plan& p) { p.schedule.fetch_x = false; }},
    {"xahead", [](Plan& p) { p.schedule.fetch_x = true; }},
    {"grid", [](Plan& p) { p.schedule.balance = Balance::grid; }},
    {"static", [](Plan& p) { p.schedule.balance = Balance::fixed; }},
    {"dynamic", [](Plan& p) { p.schedule.balance = Balance::counted; }},
    {"cached", [](Plan& p) { p.schedule.cache = Cache::keep; }},
    {"stream", [](Plan& p) { p.schedule.cache = Cache::stream; }},
};

constexpr std::string_view balance_names[] = {"grid", "static", "dynamic"};

/// The part of a plan line that is for devices only.
std::string device_text(const Schedule& s) {
  return " unroll=" + std::to_string(s.unroll) + " threads=" + std::to_string(s.threads) +
         " blocks=" + std::to_string(s.blocks) + " " + std::string(balance_names[static_cast<int>(s.balance)]) +
         (s.cache == Cache::stream ? " stream" : " cached");
}

bool set_flag(Plan& p, std::string_view word) {
  for (const Flag& f : flags)
    if (f.name == word) return f.set(p), true;
  for (const auto& t : traversals)
    if (t.name == word) return p.schedule.traversal = t.traversal, true;
  return false;
}

std::string choices() {
  std::string names = "a layout (" + preset_names() + ")";
  for (const Setting& s : settings) names += ", " + std::string(s.name) + "=";
  for (const Flag& f : flags) names += ", " + std::string(f.name);
  for (const auto& t : traversals) names += ", " + std::string(t.name);
  for (const LibraryProduct& product : library_products()) names += ", " + std::string(product.word);
  return names;
}

bool set_setting(Plan& p, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  for (const Setting& s : settings)
    if (s.name == word.substr(0, equals)) return s.set(p, word.substr(equals + 1)), true;
  throw error(ErrorKind::argument, "unknown word '" + std::string(word) + "' in a plan; choose " + choices());
}

/// A word that is neither `name=value` nor a flag names a layout, or nothing.
bool names_layout(std::string_view word) {
  const std::string_view name = word.substr(0, word.find(':'));
  return std::ranges::any_of(presets(), [&](const Preset& p) { return p.name == name; });
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = text.find_first_not_of(" \t", at);
    if (from == std::string_view::npos) break;
    const std::size_t to = std::min(text.find_first_of(" \t", from), text.size());
    words.push_back(text.substr(from, to - from));
    at = to;
  }
  return words;
}

}  // namespace

namespace {

/// What the parts of a plan have each.
std::string part_text(const LayoutSpec& layout, const Schedule& schedule, idx longest, bool row_list_is_usual) {
  std::string line = " columns=" + std::string(layout.columns);
  if (layout.occupancy == Occupancy::presence) line += " presence";
  if (layout.row_list && !row_list_is_usual) line += " rowlist";
  line += " " + std::string(name_of(schedule.traversal));
  if (!schedule.simd) line += " plain";
  if (schedule.fetch_x) line += " xahead";
  line += " lanes=" + std::to_string(schedule.lanes);
  if (schedule.of_device()) line += device_text(schedule);
  if (schedule.carries == Carries::atomic) line += " carries=atomic";
  if (!schedule.library.empty()) line += " " + std::string(schedule.library);
  return longest == any_number ? line : line + " longest=" + std::to_string(longest);
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
  line += part_text(p.layout, p.schedule, p.longest, false);
  for (const PlanPart& part : p.later)
    line += " + " + layout_text(part.layout) + part_text(part.layout, part.schedule, part.longest, true);
  return line;
}

namespace {

using Words = std::span<const std::string_view>;

bool names_code(std::string_view word) { return word.starts_with("codes="); }

/// The words of one part. `later`: it is not the first.
Plan parse_part(Words words, std::string_view text, const Plan& base, bool later) {
  Plan plan = base;
  // The layout first, wherever it stands: it brings a word group that words= may then change.
  int layouts = 0;
  const LibraryProduct* const product = library_product_in(words);
  if (product && std::ranges::none_of(words, names_layout)) set_layout(plan, "csr"), ++layouts;
  for (const auto word : words) {
    if (word.find('=') != std::string_view::npos || find_library_product(word) || set_flag(plan, word)) continue;
    if (!names_layout(word))
      throw error(ErrorKind::argument, "unknown word '" + std::string(word) + "' in a plan; choose " + choices());
    set_layout(plan, word);
    if (++layouts > 1)
      throw error(ErrorKind::argument, (later ? "a part of plan '" : "plan '") + std::string(text) +
                                           "' names two layouts; name one" + (later ? "" : ", or parts by ' + '"));
  }
  if (later && layouts == 0)
    throw error(ErrorKind::argument, "a part of plan '" + std::string(text) +
                                         "' names no layout; after each + comes one: " + preset_names());
  if (later) plan.layout.row_list = family_of(plan.layout).has_row_list;
  if (product) set_library_product(plan, *product);
  for (const auto word : words)
    if (word.find('=') == std::string_view::npos) set_flag(plan, word);  // set_layout resets occupancy
  if (later) set_codes(plan, plan.codes);
  for (const auto word : words)
    if (names_code(word)) set_setting(plan, word);  // it brings a word group that words= may then refuse
  for (const auto word : words)
    if (!names_code(word)) set_setting(plan, word);
  const auto names_words = [](std::string_view word) { return word.starts_with("words="); };
  if (std::ranges::none_of(words, names_words)) leave_rows_where_asked(plan, base);
  return plan;
}

/// As parse_part(): with the first part's choices for the whole plan, and the others from `base`.
PlanPart parse_later_part(Words words, std::string_view text, const Plan& first, Plan base) {
  for (const auto word : words)
    for (const std::string_view of_plan : {"entry=", "values=", "codes=", "vectors="})
      if (word.starts_with(of_plan))
        throw error(ErrorKind::argument, std::string(word) + " in a later part of plan '" + std::string(text) +
                                             "': it is for the whole plan; say it before the first +");
  base.entry = first.entry;
  base.values = first.values;
  base.codes = first.codes;
  base.layout.vector_group = first.layout.vector_group;
  base.layout.word_order = first.layout.word_order;
  base.layout.columns = LayoutSpec{}.columns;
  const Plan part = parse_part(words, text, base, true);
  return {part.layout, part.schedule, part.longest};
}

/// The words up to the next "+", which `all` then begins behind. Whether there was one.
bool take_part(Words& all, Words& part) {
  const auto plus = static_cast<std::size_t>(std::ranges::find(all, "+") - all.begin());
  const bool found = plus < all.size();
  part = all.first(plus);
  all = all.subspan(found ? plus + 1 : plus);
  return found;
}

}  // namespace

std::string_view layout_in(std::string_view line) {
  const auto words = words_of(line);
  std::string_view found;
  for (const auto word : words) {
    if (word == "+") break;
    if (names_layout(word)) return word;
    if (find_library_product(word)) found = "csr";
  }
  return found;
}

Plan parse_plan(std::string_view text, const Plan& given) {
  const auto words = words_of(text);
  Plan base = given;
  base.longest = any_number;
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
