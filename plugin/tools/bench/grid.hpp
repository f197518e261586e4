// Graphs of the generator: which rows of a generated matrix are neighbours, in natural order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace compound::bench {

/// A step from a node to a neighbour.
struct Step {
  int x, y, z;
  bool operator==(const Step&) const = default;
};

struct Grid;

/// What the rows of a family of graphs are, and which of them are neighbours.
struct Graph {
  std::int64_t (*rows)(const Grid&);
  std::int64_t (*entries)(const Grid&);
  void (*neighbours)(const Grid&, std::int64_t row, std::vector<std::int64_t>& to);  ///< to: empty
  std::int64_t (*relation)(const Grid&, std::int64_t row, std::int64_t column);
};

struct GridKind {
  std::string_view name;
  int dimensions;  ///< 1 to 3: how many sides a grid has
  bool one_side;   ///< all sides are equal
  bool periodic;   ///< opposite borders meet
  const Graph* graph;
  std::span<const Step> steps;  ///< (0, 0, 0), the diagonal, among them; none where the graph is no stencil's
};

std::span<const GridKind> grid_kinds();
std::string grid_names();

/// Null for an unknown name.
const GridKind* find_grid(std::string_view name);

/// Below that a periodic surface would visit a neighbour twice.
std::int64_t least_side(const GridKind& kind);

/// Nodes along x, y and z; 1 where there are fewer dimensions.
struct Sides {
  std::int64_t x = 1, y = 1, z = 1;
  bool operator==(const Sides&) const = default;
};

struct Grid {
  const GridKind* kind = nullptr;
  Sides sides;

  Grid() = default;
  /// Throws std::invalid_argument for more nodes than rows and entries can be counted of.
  Grid(const GridKind* of, const Sides& with);
  /// All sides equal.
  Grid(const GridKind* of, std::int64_t side);
  bool operator==(const Grid&) const = default;

  std::int64_t rows() const { return kind->graph->rows(*this); }
  std::int64_t entries() const { return kind->graph->entries(*this); }

  /// Neighbours of a row, itself among them unless its diagonal is empty (kkt), in no particular order.
  void neighbours(std::int64_t row, std::vector<std::int64_t>& to) const;
  /// A number that is the same for all pairs of neighbours in the same relation: by the same step of a stencil, as the
  /// values of a uniform mesh are.
  std::int64_t relation(std::int64_t row, std::int64_t column) const;
  /// From node `row` to `column`, which are neighbours by one of kind->steps.
  Step step(std::int64_t row, std::int64_t column) const;
  /// "7-point grid, 148 x 148 x 58 nodes".
  std::string description() const;
};

/// The grid of equal sides whose number of block rows, or of entries, is nearest to what was asked for.
Grid grid_of_rows(const GridKind& kind, double rows);
Grid grid_of_entries(const GridKind& kind, double entries);

// The graphs. A stencil's nodes have neighbours by the kind's steps.
extern const Graph stencil_graph;
/// Every row has an entry in every column.
extern const Graph dense_graph;
/// Optimality system (Karush, Kuhn, Tucker) of a boundary control problem: N^3 states, 6 N^2 controls on the faces of
/// the cube and N^3 multipliers; [H, 0, K^T; 0, R, B^T; K, B, 0] with diagonal H and R, the 27-point K of the cube and
/// the 9-point B of each face. 2 N^3 + 6 N^2 rows and 2 (3N - 2)^3 + 12 (3N - 2)^2 + N^3 + 6 N^2 entries: those of
/// nlpkkt80, 120, 160, 200 and 240 in the SuiteSparse collection.
extern const Graph kkt_graph;
/// The scalars of three unknowns a node of a cube, each coupled to all of the 27 nodes around it: 81 entries a row.
extern const Graph elasticity_graph;

}  // namespace compound::bench
