#include "pairwise.hpp"

#include <algorithm>

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

int newly_covered(const std::vector<Pair>& left, const Choice& c) {
  return static_cast<int>(std::count_if(left.begin(), left.end(), [&](const Pair& p) { return has(c, p); }));
}

/// The best of some random allowed choices that have `must`.
Choice good_choice(const Space& space, const std::vector<Pair>& left, const Pair& must, Random& random) {
  constexpr int attempts = 40;
  Choice best;
  int best_covered = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Choice c;
    for (const int size : space.sizes) c.push_back(random.below(size));
    c[must.factor] = must.value;
    c[must.other_factor] = must.other_value;
    if (!space.allowed(c)) continue;
    const int covered = newly_covered(left, c);
    if (covered > best_covered) best = c, best_covered = covered;
  }
  if (best.empty())
    any_completion(space, must, [&](const Choice& c) { return space.allowed(c) ? (best = c, true) : false; });
  return best;
}

}  // namespace

std::vector<Pair> allowed_pairs(const Space& space) {
  std::vector<Pair> pairs;
  const int factors = static_cast<int>(space.sizes.size());
  for (int f = 0; f < factors; ++f)
    for (int g = f + 1; g < factors; ++g)
      for (int v = 0; v < space.sizes[f]; ++v)
        for (int w = 0; w < space.sizes[g]; ++w)
          if (const Pair p{f, v, g, w}; any_completion(space, p, space.allowed)) pairs.push_back(p);
  return pairs;
}

std::vector<Pair> missing_pairs(const Space& space, const std::vector<Choice>& set) {
  std::vector<Pair> missing = allowed_pairs(space);
  std::erase_if(missing, [&](const Pair& p) {
    return std::any_of(set.begin(), set.end(), [&](const Choice& c) { return has(c, p); });
  });
  return missing;
}

std::vector<Choice> covering_set(const Space& space, std::uint64_t seed) {
  Random random(seed);
  std::vector<Choice> set;
  for (std::vector<Pair> left = allowed_pairs(space); !left.empty();) {
    set.push_back(good_choice(space, left, left.front(), random));
    std::erase_if(left, [&](const Pair& p) { return has(set.back(), p); });
  }
  return set;
}

}  // namespace compound::test
