// Graphs that only the papers' experiments need.
#include "grid.hpp"

namespace compound::bench {

namespace {

constexpr int faces = 6, unknowns = 3;

/// A row by what it stands for: a state, a multiplier, or a control on one of the faces, at a node of the cube.
struct Unknown {
  enum : int { state, multiplier, first_control };
  int part;
  std::int64_t node;
};

Grid cube_of(const Grid& g) { return {find_grid("27"), g.sides}; }

std::int64_t nodes_of(const Grid& g) { return g.sides.x * g.sides.x * g.sides.x; }
std::int64_t face_nodes_of(const Grid& g) { return g.sides.x * g.sides.x; }

/// The coordinate of a node along an axis.
std::int64_t along(const Grid& g, std::int64_t node, int axis) {
  for (int i = 0; i < axis; ++i) node /= g.sides.x;
  return node % g.sides.x;
}

/// Faces 2 a and 2 a + 1 are the two ends of axis a.
std::int64_t end_of(const Grid& g, int face) { return face % 2 == 0 ? 0 : g.sides.x - 1; }
bool on_face(const Grid& g, std::int64_t node, int face) { return along(g, node, face / 2) == end_of(g, face); }

std::int64_t row_of(const Grid& g, const Unknown& u) {
  if (u.part == Unknown::state) return u.node;
  if (u.part == Unknown::multiplier) return nodes_of(g) + faces * face_nodes_of(g) + u.node;
  const int face = u.part - Unknown::first_control, axis = face / 2;
  return nodes_of(g) + face * face_nodes_of(g) + along(g, u.node, (axis + 1) % 3) * g.sides.x +
         along(g, u.node, (axis + 2) % 3);
}

Unknown unknown_of(const Grid& g, std::int64_t row) {
  const std::int64_t controls = faces * face_nodes_of(g);
  if (row < nodes_of(g)) return {Unknown::state, row};
  row -= nodes_of(g);
  if (row >= controls) return {Unknown::multiplier, row - controls};
  const int face = static_cast<int>(row / face_nodes_of(g)), axis = face / 2;
  std::int64_t place[3];
  place[axis] = end_of(g, face);
  place[(axis + 1) % 3] = row / g.sides.x % g.sides.x;
  place[(axis + 2) % 3] = row % g.sides.x;
  return {Unknown::first_control + face, (place[2] * g.sides.x + place[1]) * g.sides.x + place[0]};
}

/// The rows of one part at the given nodes; of a face those that lie on it.
void add(const Grid& g, int part, const std::vector<std::int64_t>& nodes, int face, std::vector<std::int64_t>& to) {
  for (const std::int64_t node : nodes)
    if (face < 0 || on_face(g, node, face)) to.push_back(row_of(g, {part, node}));
}

void neighbours_of_kkt(const Grid& g, std::int64_t row, std::vector<std::int64_t>& to) {
  const Unknown u = unknown_of(g, row);
  std::vector<std::int64_t> around;
  cube_of(g).neighbours(u.node, around);
  if (u.part != Unknown::multiplier) {
    to.push_back(row);
    add(g, Unknown::multiplier, around, u.part - Unknown::first_control, to);
    return;
  }
  add(g, Unknown::state, around, -1, to);
  for (int face = 0; face < faces; ++face)
    if (on_face(g, u.node, face)) add(g, Unknown::first_control + face, around, face, to);
}

std::int64_t entries_of_kkt(const Grid& g) {
  const std::int64_t line = 3 * g.sides.x - 2;
  return 2 * line * line * line + 12 * line * line + nodes_of(g) + faces * face_nodes_of(g);
}

std::int64_t relation_of_kkt(const Grid& g, std::int64_t row, std::int64_t column) {
  const Unknown from = unknown_of(g, row), to = unknown_of(g, column);
  constexpr int parts = Unknown::first_control + faces, steps = 28;
  return (from.part * parts + to.part) * steps + cube_of(g).relation(from.node, to.node);
}

}  // namespace

const Graph kkt_graph{
    [](const Grid& g) { return 2 * nodes_of(g) + faces * face_nodes_of(g); },
    entries_of_kkt,
    neighbours_of_kkt,
    relation_of_kkt,
};

const Graph elasticity_graph{
    [](const Grid& g) { return unknowns * cube_of(g).rows(); },
    [](const Grid& g) { return unknowns * unknowns * cube_of(g).entries(); },
    [](const Grid& g, std::int64_t row, std::vector<std::int64_t>& to) {
      std::vector<std::int64_t> around;
      cube_of(g).neighbours(row / unknowns, around);
      for (const std::int64_t node : around)
        for (std::int64_t i = 0; i < unknowns; ++i) to.push_back(unknowns * node + i);
    },
    [](const Grid& g, std::int64_t row, std::int64_t column) {
      const std::int64_t step = cube_of(g).relation(row / unknowns, column / unknowns);
      return (step * unknowns + row % unknowns) * unknowns + column % unknowns;
    },
};

const Graph dense_graph{
    [](const Grid& g) { return g.sides.x; },
    [](const Grid& g) { return g.sides.x * g.sides.x; },
    [](const Grid& g, std::int64_t, std::vector<std::int64_t>& to) {
      for (std::int64_t column = 0; column < g.sides.x; ++column) to.push_back(column);
    },
    [](const Grid&, std::int64_t row, std::int64_t column) { return std::int64_t{row != column}; },
};

}  // namespace compound::bench
