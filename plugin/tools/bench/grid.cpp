#include "grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace compound::bench {

namespace {

constexpr Step cross[] = {{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};

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

constexpr GridKind all_grid_kinds[] = {
    {"5", 2, false, false, &stencil_graph, cross},
    {"7", 3, false, false, &stencil_graph, star},
    {"15", 3, false, false, &stencil_graph, tetrahedra},
    {"27", 3, false, false, &stencil_graph, cube},
    {"surface", 2, false, true, &stencil_graph, triangles},
    // For the papers' experiments.
    {"dense", 1, true, false, &dense_graph, {}},
    {"kkt", 3, true, false, &kkt_graph, {}},
    {"elasticity", 3, false, false, &elasticity_graph, {}},
};

struct Node {
  std::int64_t x, y, z;
};

Node node_of(const Grid& g, std::int64_t row) {
  return {row % g.sides.x, row / g.sides.x % g.sides.y, row / g.sides.x / g.sides.y};
}

/// So many rows and entries can be counted; no memory holds them.
constexpr double most_nodes = 1e15;

std::int64_t rows_of_stencil(const Grid& g) { return g.sides.x * g.sides.y * g.sides.z; }

std::int64_t entries_of_stencil(const Grid& g) {
  if (g.kind->periodic) return g.rows() * static_cast<std::int64_t>(g.kind->steps.size());
  std::int64_t all = 0;
  for (const Step& s : g.kind->steps)
    all += (g.sides.x - std::abs(s.x)) * (g.sides.y - std::abs(s.y)) * (g.sides.z - std::abs(s.z));
  return all;
}

void neighbours_of_stencil(const Grid& g, std::int64_t row, std::vector<std::int64_t>& to) {
  const Node n = node_of(g, row);
  const Sides& side = g.sides;
  for (const Step& s : g.kind->steps) {
    std::int64_t i = n.x + s.x, j = n.y + s.y;
    const std::int64_t k = n.z + s.z;
    if (g.kind->periodic) {
      i = (i + side.x) % side.x;
      j = (j + side.y) % side.y;
    } else if (i < 0 || i >= side.x || j < 0 || j >= side.y || k < 0 || k >= side.z) {
      continue;
    }
    to.push_back((k * side.y + j) * side.x + i);
  }
}

/// Which of the steps it is; one more number for the other entries of long rows.
std::int64_t relation_of_stencil(const Grid& g, std::int64_t row, std::int64_t column) {
  return std::ranges::find(g.kind->steps, g.step(row, column)) - g.kind->steps.begin();
}

void check_nodes(double nodes) {
  if (nodes > most_nodes)
    throw std::invalid_argument("the matrix would have more than 1e15 rows or entries; choose a smaller case");
}

/// The number of equal sides for which `amount` (rising with it) comes nearest to `wanted`.
template <class Amount>
Grid nearest(const GridKind& kind, double wanted, const Amount& amount) {
  check_nodes(wanted);
  const auto reached = [&](std::int64_t side) { return static_cast<double>(amount(Grid(&kind, side))); };
  std::int64_t below = least_side(kind), above = below + 1;
  while (reached(above) <= wanted) above *= 2;
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (reached(middle) <= wanted ? below : above) = middle;
  }
  return {&kind, std::abs(reached(above) - wanted) < std::abs(reached(below) - wanted) ? above : below};
}

}  // namespace

const Graph stencil_graph{rows_of_stencil, entries_of_stencil, neighbours_of_stencil, relation_of_stencil};

std::span<const GridKind> grid_kinds() { return all_grid_kinds; }

std::string grid_names() {
  std::string names;
  for (const GridKind& k : all_grid_kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

const GridKind* find_grid(std::string_view name) {
  const auto found = std::ranges::find(all_grid_kinds, name, &GridKind::name);
  return found == std::end(all_grid_kinds) ? nullptr : &*found;
}

std::int64_t least_side(const GridKind& kind) { return kind.periodic ? 3 : 1; }

Grid::Grid(const GridKind* of, const Sides& with) : kind(of), sides(with) {
  check_nodes(double(with.x) * double(with.y) * double(with.z));
}

Grid::Grid(const GridKind* of, std::int64_t side)
    : Grid(of, {side, of->dimensions > 1 ? side : 1, of->dimensions > 2 ? side : 1}) {}

void Grid::neighbours(std::int64_t row, std::vector<std::int64_t>& to) const {
  to.clear();
  kind->graph->neighbours(*this, row, to);
}

std::int64_t Grid::relation(std::int64_t row, std::int64_t column) const {
  return kind->graph->relation(*this, row, column);
}

Step Grid::step(std::int64_t row, std::int64_t column) const {
  const Node from = node_of(*this, row), to = node_of(*this, column);
  // Across a border that is another's opposite, a step back is one ahead.
  const auto along = [&](std::int64_t difference, std::int64_t side) {
    if (kind->periodic && difference > 1) difference -= side;
    if (kind->periodic && difference < -1) difference += side;
    return static_cast<int>(difference);
  };
  return {along(to.x - from.x, sides.x), along(to.y - from.y, sides.y), along(to.z - from.z, sides.z)};
}

std::string Grid::description() const {
  const bool numbered = kind->name.find_first_not_of("0123456789") == std::string_view::npos;
  std::string text = std::string(kind->name) + (numbered ? "-point grid, " : " grid, ") + std::to_string(sides.x);
  if (*this == Grid(kind, sides.x)) {
    if (kind->dimensions > 1) text += "^" + std::to_string(kind->dimensions);
  } else {
    text += " x " + std::to_string(sides.y);
    if (kind->dimensions > 2) text += " x " + std::to_string(sides.z);
  }
  return text + " nodes";
}

Grid grid_of_rows(const GridKind& kind, double rows) {
  return nearest(kind, rows, [](const Grid& g) { return g.rows(); });
}

Grid grid_of_entries(const GridKind& kind, double entries) {
  return nearest(kind, entries, [](const Grid& g) { return g.entries(); });
}

}  // namespace compound::bench
