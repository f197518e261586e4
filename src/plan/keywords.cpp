#include "plan/keywords.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "layout/column_codes.hpp"
#include "layout/family.hpp"
#include "plan/library_products.hpp"
#include "plan/partition.hpp"

namespace compound {

namespace {

constexpr std::string_view precision_names[] = {"double", "float"}, carries_names[] = {"ordered", "atomic"},
                           half_names[] = {"none", "symmetric", "hermitian"};

/// The place of a value among its names. Throws `argument` listing them.
int place_of(std::string_view keyword, std::string_view value, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, value);
  if (found == names.end())
    throw error(ErrorKind::argument, std::string(keyword) + std::string(value) + choose(value, names));
  return static_cast<int>(found - names.begin());
}

idx parse_group(std::string_view text, std::string_view what) {
  if (text == "all") return group_all;
  const idx g = parse_number(text, 1, 1024, std::string(what) + " (or 'all')");
  if (!std::has_single_bit(static_cast<unsigned>(g)))
    throw error(ErrorKind::argument, std::string(what) + " " + std::to_string(g) + " must be a power of two, or 'all'");
  return g;
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
      throw error(ErrorKind::argument, "order '" + std::string(value.substr(0, colon)) +
                                           "' in words=; choose row, column, and padded for words=1");
    member->set(p.layout);
  }
}

void set_values(Plan& p, std::string_view value) {
  p.values = place_of("values=", value, precision_names) == 0 ? Precision::double_ : Precision::single;
}

void set_half(Plan& p, std::string_view value) { p.half = static_cast<Half>(place_of("half=", value, half_names)); }

void set_lanes(Plan& p, std::string_view value) {
  p.schedule.lanes = parse_number(value, 1, 32, "lanes=");
  if (!std::has_single_bit(static_cast<unsigned>(p.schedule.lanes)))
    throw error(ErrorKind::argument, "lanes=" + std::string(value) + " must be a power of two, 1 to 32");
}

/// A `name=number` keyword of a schedule.
template <int Schedule::*member, int least, int most>
void set_number(Plan& p, std::string_view value, std::string_view name) {
  p.schedule.*member = parse_number(value, least, most, name);
}

void set_threads(Plan& p, std::string_view value) {
  set_number<&Schedule::threads, 32, most_threads_of_block>(p, value, "threads=");
  if (p.schedule.threads % 32 != 0)
    throw error(ErrorKind::argument, "threads=" + std::string(value) + " must be a multiple of 32, 32 to " +
                                         std::to_string(most_threads_of_block));
}

void set_width(Plan& p, std::string_view value) {
  p.width = value == "auto" ? width_by_rule : parse_number(value, 1, any_number, "width= (or 'auto')");
}

void set_carries(Plan& p, std::string_view value) {
  p.schedule.carries = place_of("carries=", value, carries_names) == 0 ? Carries::ordered : Carries::atomic;
}

using View = std::string_view;
constexpr auto host = MemorySpace::host, device = MemorySpace::device;

constexpr View padding = "what marks padding in slices", rows = "which rows are stored",
               code = "whether the host uses vector instructions", fetching = "when the host reads x",
               work = "what workers share", balance = "how blocks of threads come to rows",
               caching = "whether the matrix stays in the caches", rest = "what the next part takes";

bool has_padding_by_row(const LayoutFamily& f) { return f.has_presence; }
bool has_row_list(const LayoutFamily& f) { return f.has_row_list; }
bool goes_by_slots(const LayoutFamily& f) { return f.goes_by(Traversal::slots); }

// Of one thing the keywords stand together.
constexpr Keyword keywords[] = {
    {"entry=", "the block format", [](Plan& p, View v) { p.entry = entry_kind(v).name; }},
    {"codes=", "how values are coded", set_codes},
    {"half=", "which half of a symmetric matrix is stored", set_half},
    {"words=", "how scalars are stored", set_words},
    {"vectors=", "how vectors are stored", [](Plan& p, View v) { p.layout.vector_group = parse_group(v, "vectors="); }},
    {"values=", "the precision of the stored scalars", set_values},
    {"columns=", "how columns are stored", [](Plan& p, View v) { p.layout.columns = column_code(v).word; }},
    {"lanes=", "how many workers share a row", set_lanes},
    {"unroll=", "how many entries a worker has under way",
     [](Plan& p, View v) { set_number<&Schedule::unroll, 1, 16>(p, v, "unroll="); }, device},
    {"threads=", "the threads of a block", set_threads, device},
    {"blocks=", "the blocks of threads on a multiprocessor",
     [](Plan& p, View v) { set_number<&Schedule::blocks, 1, 32>(p, v, "blocks="); }, device},
    {"carries=", "how sums are carried from chunk to chunk", set_carries, device, goes_by_slots,
     "only layouts that go by slots (ccoo) carry sums from chunk to chunk"},
    {"longest=", rest, [](Plan& p, View v) { p.longest = parse_number(v, 1, any_number, "longest="); }},
    {"width=", rest, set_width},
    {"lengths",
     padding,
     [](Plan& p, View) { p.layout.occupancy = Occupancy::lengths; },
     {},
     has_padding_by_row,
     "only slices by row length (ellr, bellpack, sell) tell entries from padding by them"},
    {"presence", padding, [](Plan& p, View) { p.layout.occupancy = Occupancy::presence; }},
    {"allrows",
     rows,
     [](Plan& p, View) { p.layout.row_list = false; },
     {},
     has_row_list,
     "it stores entries one by one, and no rows"},
    {"rowlist", rows, [](Plan& p, View) { p.layout.row_list = true; }},
    {"simd", code, [](Plan& p, View) { p.schedule.simd = true; }, host},
    {"plain", code, [](Plan& p, View) { p.schedule.simd = false; }, host},
    {"xnear", fetching, [](Plan& p, View) { p.schedule.fetch_x = false; }, host},
    {"xahead", fetching, [](Plan& p, View) { p.schedule.fetch_x = true; }, host},
    {"grid", balance, [](Plan& p, View) { p.schedule.balance = Balance::grid; }, device},
    {"static", balance, [](Plan& p, View) { p.schedule.balance = Balance::fixed; }, device},
    {"dynamic", balance, [](Plan& p, View) { p.schedule.balance = Balance::counted; }, device},
    {"cached", caching, [](Plan& p, View) { p.schedule.cache = Cache::keep; }, device},
    {"stream", caching, [](Plan& p, View) { p.schedule.cache = Cache::stream; }, device},
    {"rows", work, [](Plan& p, View) { p.schedule.traversal = Traversal::rows; }},
    {"components", work, [](Plan& p, View) { p.schedule.traversal = Traversal::components; }},
    {"slots", work, [](Plan& p, View) { p.schedule.traversal = Traversal::slots; }},
};

std::string choices() {
  std::string names = "a layout (" + preset_names() + ")";
  for (const Keyword& k : keywords) names += ", " + std::string(k.name);
  for (const LibraryProduct& product : library_products()) names += ", " + std::string(product.word);
  return names;
}

/// "lanes=" of "lanes=4", "sell" of "sell:32".
View name_in(View word) {
  const std::size_t equals = word.find('=');
  return equals == View::npos ? word.substr(0, word.find(':')) : word.substr(0, equals + 1);
}

std::string text_of(MemorySpace space) { return space == host ? "the host" : "devices"; }

}  // namespace

std::string_view name_of(Half half) { return half_names[static_cast<int>(half)]; }

void set_codes(Plan& p, std::string_view value) {
  const ValueCode& code = value_code(value);
  p.codes = code.word;
  if (code.of == CodeOf::blocks) p.layout.word_group = 1;  // a dictionary of blocks is read entry by entry
}

std::span<const Keyword> plan_keywords() { return keywords; }

const Keyword* find_keyword(std::string_view word) {
  const std::size_t equals = word.find('=');
  const View name = equals == View::npos ? word : word.substr(0, equals + 1);
  const auto found = std::ranges::find(keywords, name, &Keyword::name);
  return found == std::end(keywords) ? nullptr : &*found;
}

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<View> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t from = line.find_first_not_of(" \t", at);
    if (from == View::npos) break;
    const std::size_t to = std::min(line.find_first_of(" \t", from), line.size());
    words.push_back(line.substr(from, to - from));
    at = to;
  }
  return words;
}

bool take_part(Words& all, Words& part) {
  const auto plus = static_cast<std::size_t>(std::ranges::find(all, "+") - all.begin());
  const bool found = plus < all.size();
  part = all.first(plus);
  all = all.subspan(found ? plus + 1 : plus);
  return found;
}

bool names_layout(std::string_view word) {
  const View name = word.substr(0, word.find(':'));
  return std::ranges::any_of(presets(), [&](const Preset& p) { return p.name == name; });
}

std::string unknown_keyword(std::string_view word) {
  std::vector<View> names;
  for (const Preset& p : presets()) names.push_back(p.name);
  for (const Keyword& k : keywords) names.push_back(k.name);
  for (const LibraryProduct& product : library_products()) names.push_back(product.word);
  // Of a product of a library the name goes on behind the colon.
  const View name = nearest(word, names).empty() ? name_in(word) : word;
  return std::string("unknown plan keyword '").append(word).append("'").append(choose(name, names, choices()));
}

std::optional<std::string> why_not_together(Words part) {
  std::vector<std::pair<const Keyword*, View>> said;
  for (const View word : part) {
    const Keyword* const k = find_keyword(word);
    if (!k) continue;
    for (const auto& [before, its_word] : said) {
      if (before->decides == k->decides && its_word == word) return std::string(word) + " stands twice; name it once";
      if (before->decides == k->decides)
        return std::string(its_word) + " and " + std::string(word) + " exclude each other: each says " +
               std::string(k->decides) + "; name one";
      if (before->space != k->space && before->space != MemorySpace::any && k->space != MemorySpace::any)
        return std::string(its_word) + " is for products on " + text_of(before->space) + " and " + std::string(word) +
               " for products on " + text_of(k->space) + "; name the keywords of one of them";
    }
    said.emplace_back(k, word);
  }
  return {};
}

std::optional<std::string> why_not_for(Words part, const LayoutSpec& layout) {
  for (const View word : part) {
    const Keyword* const k = find_keyword(word);
    if (k && k->is_for && !k->is_for(family_of(layout)))
      return std::string(word) + " is not for layout " + std::string(layout.preset) + ": " + std::string(k->why) +
             "; leave " + std::string(word) + " out";
  }
  return {};
}

std::optional<std::string> why_not_in(std::string_view line, const Plan& plan, MemorySpace space) {
  const auto words = words_of_line(line);
  const std::vector<Plan> all_parts = parts(plan);
  Words all = words, part;
  std::size_t number = 0;
  for (bool goes_on = true; goes_on && number < all_parts.size(); ++number) {
    goes_on = take_part(all, part);
    if (auto why = why_not_for(part, all_parts[number].layout)) return why;
    for (const View word : part) {
      const Keyword* const k = find_keyword(word);
      if (k && k->space != MemorySpace::any && k->space != space)
        return std::string(word) + " is for products on " + text_of(k->space) + ", and this one is on " +
               (space == host ? "the host" : "a device") + "; leave " + std::string(word) + " out";
    }
  }
  return {};
}

}  // namespace compound
