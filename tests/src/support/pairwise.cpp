#include "pairwise.hpp"

#include <algorithm>
#include <numeric>

#include "random.hpp"

namespace compound::test {

namespace {

bool has(const Choice& c, const Pair& p) { return c[p.factor] == p.value && c[p.other_factor] == p.other_value; }

/// All choices of the deciding factors, with the pair's own values set; calls f until it returns true.
bool any_completion(const Space& space, const Pair& p, const std::function<bool(const Choice&)>& f) {
  Choice c(space.sizes.size(), 0);
  c[p.factor] = p.value;
  c[p.other_factor] = p.other_value;
  std::vector<int> free;
  for (const int factor : space.deciding)
    if (factor != p.factor && factor != p.other_factor) free.push_back(factor);
  for (;;) {
    if (f(c)) return true;
    std::size_t i = 0;
    while (i < free.size() && ++c[free[i]] == space.sizes[free[i]]) c[free[i++]] = 0;
    if (i == free.size()) return false;
  }
}

/// How many choices of a set have each pair; of pairs that are not allowed, one more than there are.
class Covered {
 public:
  Covered(const Space& space, const std::vector<Pair>& pairs) : first_(space.sizes.size() + 1, 0) {
    std::partial_sum(space.sizes.begin(), space.sizes.end(), first_.begin() + 1);
    times_.assign(std::size_t(first_.back()) * first_.back(), 1);
    for (const Pair& p : pairs) at(p.factor, p.value, p.other_factor, p.other_value) = 0;
  }

  int times(const Pair& p) { return at(p.factor, p.value, p.other_factor, p.other_value); }
  /// Pairs that only such a choice would have, of one factor's value with all others' or of all.
  int gained(const Choice& c, int factor, int value) {
    int gained = 0;
    for (int other = 0; other < static_cast<int>(c.size()); ++other)
      gained += other != factor && at(factor, value, other, c[other]) == 0;
    return gained;
  }
  int gained(const Choice& c) {
    int twice = 0;
    for (int factor = 0; factor < static_cast<int>(c.size()); ++factor) twice += gained(c, factor, c[factor]);
    return twice / 2;
  }
  void count(const Choice& c, int more) {
    for (std::size_t f = 0; f < c.size(); ++f)
      for (std::size_t g = f + 1; g < c.size(); ++g) at(f, c[f], g, c[g]) += more;
  }

 private:
  int& at(int factor, int value, int other_factor, int other_value) {
    if (factor > other_factor) return at(other_factor, other_value, factor, value);
    return times_[std::size_t(first_[factor] + value) * first_.back() + first_[other_factor] + other_value];
  }
  std::vector<int> first_, times_;
};

Choice random_choice(const Space& space, const Pair& must, Random& random) {
  constexpr int attempts = 200;
  Choice c;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    c.clear();
    for (const int size : space.sizes) c.push_back(random.below(size));
    c[must.factor] = must.value;
    c[must.other_factor] = must.other_value;
    if (space.allowed(c)) return c;
  }
  any_completion(space, must, [&](const Choice& first) { return space.allowed(first) && (c = first, true); });
  return c;
}

/// Factor by factor the value that gains most, until none gains more.
void improve(const Space& space, const Pair& must, Covered& covered, Choice& c) {
  for (bool better = true; better;) {
    better = false;
    for (int factor = 0; factor < static_cast<int>(c.size()); ++factor) {
      if (factor == must.factor || factor == must.other_factor) continue;
      int best = c[factor], most = covered.gained(c, factor, best);
      for (int value = 0; value < space.sizes[factor]; ++value) {
        const int gained = covered.gained(c, factor, value);
        if (gained <= most) continue;
        Choice other = c;
        other[factor] = value;
        if (space.allowed(other)) best = value, most = gained, better = true;
      }
      c[factor] = best;
    }
  }
}

Choice good_choice(const Space& space, const Pair& must, Covered& covered, Random& random) {
  constexpr int attempts = 30;
  Choice best;
  int most = -1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Choice c = random_choice(space, must, random);
    improve(space, must, covered, c);
    if (const int gained = covered.gained(c); gained > most) best = c, most = gained;
  }
  return best;
}

/// Leaves those out whose pairs all are of others too.
void thin_out(std::vector<Choice>& set, Covered& covered) {
  std::erase_if(set, [&](const Choice& c) {
    covered.count(c, -1);
    if (covered.gained(c) == 0) return true;
    covered.count(c, 1);
    return false;
  });
}

}  // namespace

std::vector<Pair> allowed_pairs(const Space& space) {
  std::vector<Pair> pairs;
  std::vector<int> meeting = space.meeting;
  if (meeting.empty()) {
    meeting.resize(space.sizes.size());
    std::iota(meeting.begin(), meeting.end(), 0);
  }
  for (const int f : meeting)
    for (const int g : meeting)
      for (int v = 0; v < space.sizes[f]; ++v)
        for (int w = 0; f < g && w < space.sizes[g]; ++w)
          if (const Pair p{f, v, g, w}; any_completion(space, p, space.allowed)) pairs.push_back(p);
  return pairs;
}

std::vector<Pair> missing_pairs(std::vector<Pair> pairs, const std::vector<Choice>& set) {
  std::erase_if(pairs, [&](const Pair& p) {
    return std::any_of(set.begin(), set.end(), [&](const Choice& c) { return has(c, p); });
  });
  return pairs;
}

CoveringSet covering_set(const Space& space, std::uint64_t seed) {
  Random random(seed);
  CoveringSet found{allowed_pairs(space), {}};
  auto& [pairs, set] = found;
  Covered covered(space, pairs);
  for (const Pair& p : pairs) {
    if (covered.times(p) > 0) continue;
    set.push_back(good_choice(space, p, covered, random));
    covered.count(set.back(), 1);
  }
  thin_out(set, covered);
  return found;
}

std::vector<Choice> random_set(const Space& space, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Choice> set;
  while (set.size() < count) {
    Choice c;
    for (const int size : space.sizes) c.push_back(random.below(size));
    if (space.allowed(c)) set.push_back(std::move(c));
  }
  return set;
}

}  // namespace compound::test
