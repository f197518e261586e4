#include "patterns.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "base/error.hpp"

namespace compound::test {

namespace {

using Rows = std::vector<std::vector<idx>>;

/// Fills the rows of a matrix that has rows and columns.
struct PatternShape {
  std::string_view name;
  void (*fill)(Rows& rows, idx cols, Random& random);
};

void fill_row(std::vector<idx>& row, idx length, idx cols, Random& random) {
  for (; length > 0; --length) row.push_back(random.below(cols));
}

constexpr PatternShape shapes[] = {
    {"random",
     [](Rows& rows, idx cols, Random& random) {
       const idx longest = 1 + random.below(9);
       for (auto& row : rows) fill_row(row, random.below(longest + 1), cols, random);
     }},
    {"sorted",
     [](Rows& rows, idx cols, Random& random) {
       for (auto& row : rows) {
         fill_row(row, random.below(7), cols, random);
         std::ranges::sort(row);
         row.erase(std::unique(row.begin(), row.end()), row.end());
       }
     }},
    {"empty_rows",
     [](Rows& rows, idx cols, Random& random) {
       for (auto& row : rows)
         if (random.below(4) == 0) fill_row(row, 1 + random.below(3), cols, random);
     }},
    {"no_entries", [](Rows&, idx, Random&) {}},
    {"long_row",
     [](Rows& rows, idx cols, Random& random) {
       for (auto& row : rows) fill_row(row, random.below(3), cols, random);
       auto& longest = rows[random.below(static_cast<int>(rows.size()))];
       for (idx c = 0; c < cols; ++c) longest.push_back(c);
     }},
    {"repeated",
     [](Rows& rows, idx cols, Random& random) {
       for (auto& row : rows) {
         const idx first = random.below(cols), last = std::min<idx>(cols, first + 2);
         for (idx left = random.below(5); left > 0; --left) row.push_back(first + random.below(last - first));
       }
     }},
    {"banded",
     [](Rows& rows, idx cols, Random& random) {
       const idx half = random.below(4);
       for (idx r = 0; r < static_cast<idx>(rows.size()); ++r)
         for (idx c = std::max(0, r - half); c <= std::min(cols - 1, r + half); ++c) rows[r].push_back(c);
     }},
    {"diagonals",
     [](Rows& rows, idx cols, Random& random) {
       std::set<idx> apart = {0};
       for (idx left = random.below(4); left > 0; --left) apart.insert(random.below(2 * cols) - cols);
       for (idx r = 0; r < static_cast<idx>(rows.size()); ++r)
         for (const idx d : apart)
           if (r + d >= 0 && r + d < cols && random.below(8) > 0) rows[r].push_back(r + d);
     }},
    {"symmetric",  // where it is square
     [](Rows& rows, idx cols, Random& random) {
       const auto n = static_cast<idx>(rows.size());
       std::vector<std::set<idx>> columns(rows.size());
       for (idx r = 0; r < n; ++r)
         for (idx left = random.below(5); left > 0; --left) {
           const idx c = random.below(cols);
           columns[r].insert(c);
           if (c < n) columns[c].insert(r < cols ? r : 0);
         }
       for (idx r = 0; r < n; ++r) rows[r].assign(columns[r].begin(), columns[r].end());
     }},
    {"full",
     [](Rows& rows, idx cols, Random&) {
       for (auto& row : rows)
         for (idx c = 0; c < std::min(cols, 40); ++c) row.push_back(c);
     }},
    {"ends",  // the first and the last columns alone
     [](Rows& rows, idx cols, Random& random) {
       for (auto& row : rows)
         for (idx left = random.below(4); left > 0; --left) row.push_back(random.below(2) ? cols - 1 : 0);
     }},
};

[[noreturn]] void refuse_pattern(std::string_view text) {
  throw error(ErrorKind::argument, "no pattern: " + std::string(text));
}

/// The number at the beginning of `text`, which goes on after it and after `mark` (0: the end).
template <class Integer = idx>
Integer take_number(std::string_view& text, char mark, std::string_view whole) {
  Integer n = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(end - text.data());
  if (code != std::errc{} || (mark ? !text.starts_with(mark) : !text.empty())) refuse_pattern(whole);
  if (mark) text.remove_prefix(1);
  return n;
}

}  // namespace

const std::vector<std::string_view>& pattern_shapes() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const PatternShape& s : shapes) all.push_back(s.name);
    return all;
  }();
  return names;
}

std::string draw_pattern_text(Random& random) {
  const auto size = [&] {
    const int kind = random.below(40);
    if (kind == 0) return random.below(2);
    return kind == 1 ? 100 + random.below(200) : 1 + random.below(kind < 24 ? 12 : 45);
  };
  idx rows = size(), cols = random.below(2) ? rows : size();
  if (random.below(150) == 0) rows = 1000 + random.below(150);
  if (random.below(300) == 0) cols = 66000 + random.below(5000);  // beyond codes of 16 bits
  const auto name = shapes[random.below(static_cast<int>(std::size(shapes)))].name;
  return std::string(name) + ":" + std::to_string(rows) + "x" + std::to_string(cols) + ":" +
         std::to_string(random.below(1 << 30));
}

Pattern pattern_of_text(std::string_view whole) {
  std::string_view text = whole;
  const PatternShape* shape = nullptr;
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0]))) {
    const auto name = text.substr(0, text.find(':'));
    shape = std::ranges::find(shapes, name, &PatternShape::name);
    if (shape == std::end(shapes)) refuse_pattern(whole);
    text.remove_prefix(name.size() + 1);
  }
  Rows rows(take_number(text, 'x', whole));
  const idx cols = take_number(text, ':', whole);
  if (shape) {
    Random random(take_number<std::uint64_t>(text, 0, whole));
    if (!rows.empty() && cols > 0) shape->fill(rows, cols, random);
    return pattern_of(cols, rows);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto row = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    for (std::string_view left = row; !left.empty();) {
      const bool last = left.find(',') == left.npos;
      rows[r].push_back(take_number(left, last ? 0 : ',', whole));
    }
  }
  const Pattern made = pattern_of(cols, rows);
  check(made.view());
  return made;
}

std::string text_of(const Pattern& p) {
  std::string text = std::to_string(p.rows) + "x" + std::to_string(p.cols) + ":";
  for (idx row = 0; row < p.rows; ++row) {
    if (row > 0) text += "|";
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      text += (e > p.start[row] ? "," : "") + std::to_string(p.column[e]);
  }
  return text;
}

}  // namespace compound::test
