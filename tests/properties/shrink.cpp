#include "shrink.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace compound::test {

namespace {

/// Keeps the entries of which keep(row, entry) is true.
template <class Keep>
Pattern with_entries(const Pattern& p, const Keep& keep) {
  Pattern made{p.rows, p.cols, {0}, {}};
  for (idx row = 0; row < p.rows; ++row) {
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      if (keep(row, e)) made.column.push_back(p.column[e]);
    made.start.push_back(static_cast<count32>(made.column.size()));
  }
  return made;
}

/// Takes `n` of some parts, from place `at` on.
void take_from(std::vector<int>& parts, idx at, idx n) {
  for (int& part : parts) {
    const idx here = std::clamp<idx>(part - at, 0, n);
    at = std::max<idx>(0, at - part);
    part -= here;
    n -= here;
  }
}

Case without_rows(const Case& c, idx at, idx n) {
  Case made = c;
  const Pattern& p = c.pattern;
  Pattern q = with_entries(p, [&](idx row, count32) { return row < at || row >= at + n; });
  q.start.erase(q.start.begin() + at + 1, q.start.begin() + at + n + 1);
  q.rows -= n;
  made.set_pattern(std::move(q));
  take_from(made.row_parts, at, n);
  return made;
}

Case without_columns(const Case& c, idx at, idx n) {
  Case made = c;
  Pattern q = with_entries(c.pattern, [&](idx, count32 e) {
    const idx col = c.pattern.column[e];
    return col < at || col >= at + n;
  });
  for (idx& col : q.column) col -= col >= at + n ? n : 0;
  q.cols -= n;
  made.set_pattern(std::move(q));
  take_from(made.col_parts, at, n);
  return made;
}

Case without_entries(const Case& c, idx at, idx n) {
  Case made = c;
  made.set_pattern(with_entries(c.pattern, [&](idx, count32 e) { return idx(e) < at || idx(e) >= at + n; }));
  return made;
}

/// Tries to take pieces of half of all, then smaller ones: f(case, from, how many).
struct Piecewise {
  idx (*size)(const Case&);
  Case (*without)(const Case&, idx at, idx n);
};
constexpr Piecewise piecewise[] = {
    {[](const Case& c) { return c.pattern.rows; }, without_rows},
    {[](const Case& c) { return c.pattern.cols; }, without_columns},
    {[](const Case& c) { return idx(c.pattern.column.size()); }, without_entries},
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t to = std::min(line.find(' ', at), line.size());
    if (to > at) words.push_back(line.substr(at, to - at));
    at = to + 1;
  }
  return words;
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& w : words) line += (line.empty() ? "" : " ") + w;
  return line;
}

/// Without the part of PETSc's matrices off the diagonal, without later parts, without one word; with smaller numbers.
std::vector<Case> with_simpler_plan(const Case& c) {
  std::vector<Case> all;
  const auto add = [&](const std::string& line) { all.push_back(c), all.back().plan = line; };
  for (const char* mark : {" off: ", " longest=", " width="})
    if (const auto at = c.plan.find(mark); at != std::string::npos) add(c.plan.substr(0, at));
  const auto words = words_of(c.plan);
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w] == "+" || words[w] == "off:") continue;
    auto fewer = words;
    fewer.erase(fewer.begin() + static_cast<long>(w));
    add(line_of(fewer));
  }
  for (std::size_t w = 0; w < words.size(); ++w) {
    const auto colon = words[w].find(':');
    if (colon == std::string::npos || words[w].back() == ':') continue;
    for (const std::string& less : {words[w].substr(0, words[w].rfind(':')), words[w].substr(0, colon) + ":2"}) {
      auto changed = words;
      changed[w] = less;
      if (less != words[w] && (less.size() < words[w].size() || less < words[w])) add(line_of(changed));
    }
  }
  return all;
}

std::vector<Case> on_fewer_ranks(const Case& c) {
  std::vector<Case> all;
  for (int ranks = 1; ranks < c.ranks(); ++ranks) {
    all.push_back(c);
    for (auto* parts : {&all.back().row_parts, &all.back().col_parts}) {
      (*parts)[ranks - 1] = std::accumulate(parts->begin() + ranks - 1, parts->end(), 0);
      parts->resize(static_cast<std::size_t>(ranks));
    }
  }
  return all;
}

std::vector<Case> with_one_product(const Case& c) {
  std::vector<Case> all;
  if (std::has_single_bit(c.products)) return all;
  for_each_product(c, [&](Op op, Form form) { all.push_back(c), all.back().products = product_bit(op, form); });
  return all;
}

std::vector<Case> with_smaller_blocks(const Case& c) {
  std::vector<Case> all;
  const auto add = [&](int rows, int cols) {
    if (rows < 1 || cols < 1 || (rows == c.block.rows && cols == c.block.cols)) return;
    all.push_back(c), all.back().block = {rows, cols};
  };
  for (const int n : {1, 2, 3, c.block.rows / 2, c.block.rows - 1}) {
    if (n >= c.block.rows) continue;
    add(n, n), add(n, c.block.cols);
  }
  for (const int n : {1, 2, 3, c.block.cols / 2, c.block.cols - 1})
    if (n < c.block.cols) add(c.block.rows, n);
  return all;
}

/// One member is what it is in the simplest case.
template <class Member>
void add_with(std::vector<Case>& all, const Case& c, Member Case::*member, const Member& simplest) {
  if (c.*member == simplest) return;
  all.push_back(c);
  all.back().*member = simplest;
}

std::vector<Case> with_simpler_members(const Case& c) {
  std::vector<Case> all;
  add_with(all, c, &Case::kind, std::string("dense"));
  if (!c.of_petsc()) {
    add_with(all, c, &Case::scalar, ScalarType{});
    add_with(all, c, &Case::order, ValueOrder::blocks);
    add_with(all, c, &Case::simd, std::string("plain"));
  }
  add_with(all, c, &Case::values, Values::ones);
  add_with(all, c, &Case::fenced, false);
  add_with(all, c, &Case::shift, 0);
  add_with(all, c, &Case::transposed, TransposedValues::copy);
  return all;
}

constexpr std::vector<Case> (*simpler[])(const Case&) = {on_fewer_ranks, with_one_product, with_simpler_plan,
                                                         with_smaller_blocks, with_simpler_members};

}  // namespace

Shrunk shrunk(const Case& from, const std::function<bool(const Case&)>& fails) {
  Shrunk s{from};
  const auto is_taken = [&](const Case& smaller) {
    if (why_not(smaller)) return false;
    ++s.tried;
    if (!fails(smaller)) return false;
    s.smallest = smaller;
    ++s.steps;
    return true;
  };
  for (int before = -1; before != s.steps;) {
    before = s.steps;
    for (const Piecewise& p : piecewise)
      for (idx n = p.size(s.smallest); n > 0; n /= 2)
        for (idx at = 0; at + n <= p.size(s.smallest);)
          if (!is_taken(p.without(s.smallest, at, n))) at += n;
    for (const auto make : simpler)
      for (bool again = true; again;) {
        const auto all = make(s.smallest);
        again = std::ranges::any_of(all, is_taken);
      }
  }
  return s;
}

}  // namespace compound::test
