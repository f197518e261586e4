#include "pattern/aggregates.hpp"

namespace compound {

Aggregates aggregates_of(std::span<const idx> root) {
  const std::size_t nodes = root.size();
  std::vector<idx> number(nodes, -1);
  idx aggregates = 0;
  for (std::size_t node = 0; node < nodes; ++node)
    if (root[node] == static_cast<idx>(node)) number[node] = aggregates++;
  Aggregates a{std::vector<count32>(static_cast<std::size_t>(aggregates) + 1, 0), {}, {}};
  Pattern& p = a.tentative;
  p = {static_cast<idx>(nodes), aggregates, {0}, {}};
  p.start.reserve(nodes + 1);
  p.column.reserve(nodes);
  for (const idx of : root) {
    if (of >= 0) {
      p.column.push_back(number[of]);
      ++a.start[number[of] + 1];
    }
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  for (idx k = 0; k < aggregates; ++k) a.start[k + 1] += a.start[k];
  std::vector<count32> next(a.start.begin(), a.start.end() - 1);
  a.node.resize(p.column.size());
  for (std::size_t node = 0; node < nodes; ++node)
    if (root[node] >= 0) a.node[next[number[root[node]]]++] = static_cast<idx>(node);
  return a;
}

}  // namespace compound
