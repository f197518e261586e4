#include "grid.hpp"

namespace compound::bench {

namespace {

constexpr std::int64_t unknowns = 3;

Grid cube_of(const Grid& g) { return {find_grid("27"), g.sides}; }

}  // namespace

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

}  // namespace compound::bench
