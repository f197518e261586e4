// The generator: graphs of grids as patterns of block rows, in natural or shuffled order.
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
};

/// A family of grids: n^3 nodes with open borders, or a closed surface of n^2.
struct GridKind {
  std::string_view name;
  std::string_view description;
  std::span<const Step> steps;  ///< (0, 0, 0), the diagonal, among them
  bool surface;                 ///< n x n nodes, periodic
};

std::span<const GridKind> grid_kinds();
std::string grid_names();

/// Null for an unknown name.
const GridKind* find_grid(std::string_view name);

struct Grid {
  const GridKind* kind = nullptr;
  std::int64_t side = 0;  ///< nodes a side; at least least_side()
  std::int64_t rows() const { return kind->surface ? side * side : side * side * side; }
  std::int64_t entries() const;

  /// Neighbours of node `row`, itself among them, in no particular order.
  void neighbours(std::int64_t row, std::vector<std::int64_t>& to) const;
};

/// Below that a periodic surface would visit a neighbour twice.
std::int64_t least_side(const GridKind& kind);

/// The grid whose number of block rows, or of entries, is nearest to what was asked for.
Grid grid_of_rows(const GridKind& kind, double rows);
Grid grid_of_entries(const GridKind& kind, double entries);

/// A symmetric permutation that is random within windows of rows; the same on every machine and number of ranks.
class Shuffle {
 public:
  /// window <= 1: nothing moves. window >= rows: anything may go anywhere.
  Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed);
  /// The row that node `row` is numbered as, and back.
  std::int64_t number_of(std::int64_t row) const { return identity() ? row : number_[static_cast<std::size_t>(row)]; }
  std::int64_t node_of(std::int64_t row) const { return identity() ? row : node_[static_cast<std::size_t>(row)]; }
  bool identity() const { return number_.empty(); }

 private:
  std::vector<std::uint32_t> number_, node_;
};

/// splitmix64: a good 64-bit hash of its argument, and a random stream when the argument counts.
constexpr std::uint64_t mixed(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

}  // namespace compound::bench
