#include "grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace compound::bench {

namespace {

constexpr Step star[] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// Edges of the six tetrahedra that Kuhn cuts a cube into: all steps by 0 or 1 in each direction, and their opposites.
constexpr Step tetrahedra[] = {{-1, -1, -1}, {0, -1, -1}, {-1, 0, -1}, {0, 0, -1}, {-1, -1, 0},
                               {0, -1, 0},   {-1, 0, 0},  {0, 0, 0},   {1, 0, 0},  {0, 1, 0},
                               {1, 1, 0},    {0, 0, 1},   {1, 0, 1},   {0, 1, 1},  {1, 1, 1}};

constexpr auto cube = [] {
  std::array<Step, 27> steps{};
  for (int i = 0; i < 27; ++i) steps[static_cast<std::size_t>(i)] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
  return steps;
}();

constexpr Step triangles[] = {{-1, -1, 0}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};

constexpr GridKind kinds[] = {
    {"7", "a cube of n^3 nodes, each with its 6 neighbours along the axes", star, false},
    {"15", "a cube of n^3 nodes, each with its 14 neighbours in a mesh of tetrahedra", tetrahedra, false},
    {"27", "a cube of n^3 nodes, each with the 26 around it", cube, false},
    {"surface", "a torus of n^2 nodes with 6 neighbours each, as on a triangulated closed surface", triangles, true},
};

/// The side for which `amount` (rising with it) comes nearest to `wanted`.
template <class Amount>
Grid nearest(const GridKind& kind, double wanted, double guess, const Amount& amount) {
  Grid best{&kind, std::max<std::int64_t>(least_side(kind), std::llround(guess))};
  for (std::int64_t side = best.side; side <= best.side + 2; ++side) {
    const Grid g{&kind, side};
    if (std::abs(amount(g) - wanted) < std::abs(amount(best) - wanted)) best = g;
  }
  return best;
}

}  // namespace

std::span<const GridKind> grid_kinds() { return kinds; }

std::string grid_names() {
  std::string names;
  for (const GridKind& k : kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

const GridKind* find_grid(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &GridKind::name);
  return found == std::end(kinds) ? nullptr : &*found;
}

std::int64_t least_side(const GridKind& kind) { return kind.surface ? 3 : 1; }

std::int64_t Grid::entries() const {
  if (kind->surface) return rows() * static_cast<std::int64_t>(kind->steps.size());
  std::int64_t all = 0;
  for (const Step& s : kind->steps) all += (side - std::abs(s.x)) * (side - std::abs(s.y)) * (side - std::abs(s.z));
  return all;
}

void Grid::neighbours(std::int64_t row, std::vector<std::int64_t>& to) const {
  to.clear();
  const std::int64_t x = row % side, y = row / side % side, z = row / side / side;
  for (const Step& s : kind->steps) {
    std::int64_t i = x + s.x, j = y + s.y;
    const std::int64_t k = z + s.z;
    if (kind->surface) {
      i = (i + side) % side;
      j = (j + side) % side;
    } else if (i < 0 || i >= side || j < 0 || j >= side || k < 0 || k >= side) {
      continue;
    }
    to.push_back((k * side + j) * side + i);
  }
}

Grid grid_of_rows(const GridKind& kind, double rows) {
  const double side = kind.surface ? std::sqrt(rows) : std::cbrt(rows);
  return nearest(kind, rows, std::floor(side), [](const Grid& g) { return static_cast<double>(g.rows()); });
}

Grid grid_of_entries(const GridKind& kind, double entries) {
  const double rows = entries / static_cast<double>(kind.steps.size());
  const double side = kind.surface ? std::sqrt(rows) : std::cbrt(rows);
  // Open borders miss entries, so the side is a little longer than that.
  Grid g{&kind, std::max(least_side(kind), static_cast<std::int64_t>(side))};
  while (static_cast<double>(Grid{&kind, g.side + 1}.entries()) <= entries) ++g.side;
  return nearest(kind, entries, static_cast<double>(g.side),
                 [](const Grid& grid) { return static_cast<double>(grid.entries()); });
}

Shuffle::Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed) {
  if (window <= 1) return;
  if (rows > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("-shuffle: more than 2^32 block rows");
  node_.resize(static_cast<std::size_t>(rows));
  number_.resize(static_cast<std::size_t>(rows));
  std::iota(node_.begin(), node_.end(), 0u);
  std::uint64_t state = mixed(seed);
  for (std::int64_t first = 0; first < rows; first += window) {
    const std::int64_t size = std::min(window, rows - first);
    for (std::int64_t i = size - 1; i > 0; --i) {  // std::shuffle is not the same in every library
      state = mixed(state);
      const auto j = static_cast<std::int64_t>(state % static_cast<std::uint64_t>(i + 1));
      std::swap(node_[static_cast<std::size_t>(first + i)], node_[static_cast<std::size_t>(first + j)]);
    }
  }
  for (std::size_t i = 0; i < node_.size(); ++i) number_[node_[i]] = static_cast<std::uint32_t>(i);
}

}  // namespace compound::bench
