// Tests of multigrid's set-up in a device's memory, on a device and emulated: patterns of products beside the host's,
// aggregates beside their definition and a greedy choice on the host, bases and smoothing beside plain loops. To be
// included once, within a namespace, after `MultigridFixture`, whose device() is the backend, and `how_much`.
struct DeviceMultigridWork : MultigridFixture {
  Random random;
  MultigridWork& work() { return *device().extensions().multigrid; }
  PlacedPattern placed(const Pattern& p, BlockShape block = {1, 1}) { return {device(), p.view(), block}; }
};

void expect_equal(const Pattern& found, const Pattern& wanted) {
  EXPECT_EQ(found.rows, wanted.rows);
  EXPECT_EQ(found.cols, wanted.cols);
  EXPECT_EQ(found.start, wanted.start);
  EXPECT_EQ(found.column, wanted.column);
}

Pattern product_on_host(const Pattern& A, const Pattern& B) {
  const Term<PatternView> sum[] = {{A.view(), B.view()}};
  return product_pattern(sum);
}

// Patterns of products

using ProductPatterns = DeviceMultigridWork;

TEST_F(ProductPatterns, AreTheHosts) {
  for (const idx longest : {1, 4, 30, 120}) {
    SCOPED_TRACE(std::to_string(longest) + " entries in a row of B, " + seed_text());
    const Pattern A = drawn_pattern(how_much.rows, 700, 40, random), B = drawn_pattern(700, 20000, longest, random);
    const auto found = product_pattern(device(), placed(A, {2, 3}), placed(B, {3, 4}), false);
    ASSERT_TRUE(found);
    expect_equal(found->pattern(device()), product_on_host(A, B));
    EXPECT_EQ(found->block(), (BlockShape{2, 4}));
    EXPECT_EQ(multiplications(placed(A, {2, 3}), *found), block_products(A.view(), B.view()) * 2 * 3 * 4);
  }
}

TEST_F(ProductPatterns, OfTheZooAreTheHosts) {
  for (const ZooPattern& z : zoo()) {
    if (z.pattern.column.size() > how_much.zoo_entries) continue;
    SCOPED_TRACE(std::string(z.name));
    const Pattern p = each_once(z.pattern.view()), t = transposed(p.view()).pattern;
    const auto found = product_pattern(device(), placed(t), placed(p), false);
    ASSERT_TRUE(found);
    expect_equal(found->pattern(device()), product_on_host(t, p));
  }
}

TEST_F(ProductPatterns, HaveTheRightOperandsRowsWhereAsked) {
  const Pattern A = drawn_pattern(300, 300, 3, random), B = drawn_pattern(300, 90, 3, random);
  const Pattern alone = product_on_host(A, B);
  Pattern wanted{300, 90, {0}, {}};
  for (idx row = 0; row < 300; ++row) {
    std::set<idx> columns;
    for (const Pattern* p : {&alone, &B})
      columns.insert(p->column.begin() + p->start[row], p->column.begin() + p->start[row + 1]);
    wanted.column.insert(wanted.column.end(), columns.begin(), columns.end());
    wanted.start.push_back(static_cast<count32>(wanted.column.size()));
  }
  const auto found = product_pattern(device(), placed(A), placed(B), true);
  ASSERT_TRUE(found);
  expect_equal(found->pattern(device()), wanted);
}

/// A row of `n` columns of A, each of which adds a column of its own.
TEST_F(ProductPatterns, AreLeftToTheHostWhereARowIsLongerThanTables) {
  for (const idx n : {200, 256, 257, 8192, 8193}) {
    SCOPED_TRACE(n);
    Pattern A{1, n, {0, static_cast<count32>(n)}, std::vector<idx>(n)}, B{n, n, std::vector<count32>(n + 1), {}};
    std::iota(A.column.begin(), A.column.end(), 0);
    std::iota(B.start.begin(), B.start.end(), 0);
    B.column = A.column;
    const auto found = product_pattern(device(), placed(A), placed(B), false);
    EXPECT_EQ(found.has_value(), n <= 8192);
    if (found) expect_equal(found->pattern(device()), A);
  }
}

TEST_F(ProductPatterns, OfGalerkinProductsAreTheHostsAndGiveTheSameBits) {
  const Pattern A = drawn_pattern(10 * how_much.rows, 10 * how_much.rows, 27, random),
                P = drawn_pattern(10 * how_much.rows, 70, 6, random);
  const SparseOperand<double> a(A, {3, 3}, random), p(P, {3, 6}, random);
  const Term<PatternView> term[] = {{A.view(), P.view()}};
  const PlacedPattern placed_a = placed(A, {3, 3}), placed_p = placed(P, {3, 6});
  auto found = PlacedGalerkin::find(device(), placed_p, placed_a, placed_p);
  ASSERT_TRUE(found);
  const Pattern wanted = galerkin_pattern(P.view(), term);
  expect_equal(found->result.pattern(device()), wanted);

  auto values = room_for<double>(wanted, {6, 6});
  const PlacedOperand<double> on_a(device(), a.blocks()), on_p(device(), p.blocks());
  const Buffer<double> c(device(), values.size());
  multiply_galerkin(device(), scalar_type_of<double>(), on_p, on_a, on_p, found->way, {found->result, c.data()});
  device().download(values.data(), c.data(), c.bytes());
  EXPECT_EQ(values, galerkin_on(device(), p, a, p));
  const double coarse = block_products(transposed(P.view()).pattern.view(), product_on_host(A, P).view()) * 6 * 3 * 6;
  EXPECT_EQ(found->way.multiplications(placed_a, found->result),
            block_products(A.view(), P.view()) * 3 * 3 * 6 + coarse);
}

TEST_F(ProductPatterns, TransposesAreTheHosts) {
  for (const idx rows : {0, 1, 10 * how_much.rows}) {
    SCOPED_TRACE(rows);
    const Pattern A = rows == 0 ? Pattern{0, 7, {0}, {}} : drawn_pattern(rows, 40, 20, random);
    const Transposed wanted = transposed(A.view());
    const auto found = device().extensions().sparse_products->transposed(placed(A).rows());
    ASSERT_TRUE(found);
    std::vector<count32> start(wanted.pattern.start.size()), entry_of(wanted.entry_of.size());
    std::vector<idx> column(entry_of.size());
    device().download(start.data(), found->pattern.start.data(), found->pattern.start.bytes());
    if (!column.empty()) {
      device().download(column.data(), found->pattern.column.data(), found->pattern.column.bytes());
      device().download(entry_of.data(), found->entry_of.data(), found->entry_of.bytes());
    }
    EXPECT_EQ(start, wanted.pattern.start);
    EXPECT_EQ(column, wanted.pattern.column);
    EXPECT_EQ(entry_of, wanted.entry_of);
  }
}

TEST_F(ProductPatterns, TransposesOfLongColumnsAreLeftToTheHost) {
  for (const idx rows : {most_of_transposed_row, most_of_transposed_row + 1}) {
    Pattern A{rows, 1, std::vector<count32>(rows + 1), std::vector<idx>(rows, 0)};
    std::iota(A.start.begin(), A.start.end(), 0);
    EXPECT_EQ(device().extensions().sparse_products->transposed(placed(A).rows()).has_value(),
              rows == most_of_transposed_row);
  }
}

// Aggregates

/// An undirected graph by its neighbours; some of its nodes are their own neighbours.
using Graph = std::vector<std::set<idx>>;

Pattern pattern_of(const Graph& graph) {
  const auto n = static_cast<idx>(graph.size());
  Pattern p{n, n, {0}, {}};
  for (const auto& row : graph) {
    p.column.insert(p.column.end(), row.begin(), row.end());
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

void connect(Graph& graph, idx a, idx b) {
  graph[a].insert(b);
  graph[b].insert(a);
}

Graph drawn_graph(idx nodes, int edges, Random& random) {
  Graph graph(nodes);
  for (int k = 0; k < edges; ++k) connect(graph, random.below(nodes), random.below(nodes));
  return graph;
}

/// Nodes within a distance of 1 or 2, without the node itself.
std::set<idx> around(const Graph& graph, idx node, int distance) {
  std::set<idx> near(graph[node].begin(), graph[node].end());
  if (distance == 2)
    for (const idx next : graph[node]) near.insert(graph[next].begin(), graph[next].end());
  near.erase(node);
  return near;
}

/// Roots by a greedy choice in the order of priorities.
std::vector<bool> greedy_roots(const Graph& graph, int distance) {
  std::vector<idx> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, priority_of);
  std::vector<bool> is_root(graph.size(), false);
  for (const idx node : order) {
    const auto near = around(graph, node, distance);
    is_root[node] = !near.empty() && std::ranges::none_of(near, [&](idx other) { return is_root[other]; });
  }
  return is_root;
}

void expect_aggregates(Backend& on, const Graph& graph, int distance) {
  SCOPED_TRACE(std::to_string(graph.size()) + " nodes, distance " + std::to_string(distance));
  MultigridWork& work = *on.extensions().multigrid;
  const Pattern p = pattern_of(graph);
  const PlacedPattern placed(on, p.view(), {1, 1});
  ASSERT_TRUE(work.is_symmetric(placed.rows()));
  const std::vector<idx> root = work.roots(placed.rows(), distance);
  ASSERT_EQ(root.size(), graph.size());
  const std::vector<bool> greedy = greedy_roots(graph, distance);
  std::vector<int> size(graph.size(), 0);
  for (const idx r : root)
    if (r >= 0) ++size[r];
  for (idx node = 0; node < p.rows; ++node) {
    const auto near = around(graph, node, 1);
    SCOPED_TRACE("node " + std::to_string(node) + " of root " + std::to_string(root[node]));
    if (near.empty()) {
      EXPECT_EQ(root[node], -1);
      continue;
    }
    ASSERT_GE(root[node], 0);
    EXPECT_TRUE(greedy[root[node]]);
    EXPECT_EQ(root[root[node]], root[node]);
    EXPECT_GT(size[root[node]], 1) << "a node with neighbours is alone";
    if (root[node] == node) continue;
    EXPECT_TRUE(around(graph, node, 2).contains(root[node]));  // of distance 1 for roots that would be alone
    for (const idx next : near)
      EXPECT_TRUE(distance == 1 || !greedy[next] || root[node] == next) << "a neighbour of a root is not with it";
    EXPECT_TRUE(distance == 1 || !greedy[node]) << "a root is with another";
  }
}

using Aggregation = DeviceMultigridWork;

TEST_F(Aggregation, IsByDefinitionAndGreedyByPriorities) {
  for (int drawn = 0; drawn < how_much.graphs; ++drawn) {
    const idx nodes = 1 + random.below(how_much.nodes);
    const Graph graph = drawn_graph(nodes, random.below(4 * nodes + 1), random);
    for (const int distance : {1, 2}) expect_aggregates(device(), graph, distance);
  }
}

TEST_F(Aggregation, OfChainsStarsCliquesAndIslands) {
  Graph chain(how_much.nodes), star(how_much.nodes), clique(70), islands(90), alone(40);
  for (idx k = 1; k < how_much.nodes; ++k) connect(chain, k - 1, k);
  for (idx k = 1; k < how_much.nodes; ++k) connect(star, 0, k);
  for (idx a = 0; a < 70; ++a)
    for (idx b = 0; b <= a; ++b) connect(clique, a, b);
  for (idx k = 0; k + 1 < 90; k += 3) connect(islands, k, k + 1);
  for (idx k = 0; k < 40; ++k) alone[k].insert(k);
  for (const Graph& graph : {chain, star, clique, islands, alone, Graph(), Graph(1)})
    for (const int distance : {1, 2}) expect_aggregates(device(), graph, distance);
}

TEST_F(Aggregation, IsTheSameEachTime) {
  const Pattern p = pattern_of(drawn_graph(10 * how_much.nodes, 100 * how_much.nodes, random));
  const PlacedPattern graph = placed(p);
  const auto first = work().roots(graph.rows(), 2);
  for (int k = 0; k < how_much.repeats; ++k) ASSERT_EQ(work().roots(graph.rows(), 2), first);
}

TEST_F(Aggregation, SeesWhetherAGraphIsSymmetric) {
  Graph graph = drawn_graph(300, 900, random);
  EXPECT_TRUE(work().is_symmetric(placed(pattern_of(graph)).rows()));
  const idx node = *std::ranges::max_element(graph[17].empty() ? graph[18] : graph[17]);
  graph[17].erase(node);
  graph[node].insert(17);
  EXPECT_FALSE(work().is_symmetric(placed(pattern_of(graph)).rows()));
}

TEST_F(Aggregation, ListsAreThoseOfRoots) {
  const std::vector<idx> root = {2, -1, 2, 5, 2, 5, -1};
  const Aggregates a = aggregates_of(root);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(a.start, (std::vector<count32>{0, 3, 5}));
  EXPECT_EQ(a.node, (std::vector<idx>{0, 2, 4, 3, 5}));
  expect_equal(a.tentative, {7, 2, {0, 1, 1, 2, 3, 4, 5, 5}, {0, 0, 1, 0, 1}});
  EXPECT_EQ(aggregates_of({}).size(), 0);
}

/// |scalars| of each block and, where asked, of the one across the diagonal, over the diagonal's.
TEST_F(Aggregation, KeepsStrongEdges) {
  constexpr int size = 3;
  Graph graph = drawn_graph(200, 1500, random);
  for (idx k = 0; k < 200; ++k)
    if (k % 10 != 0) graph[k].insert(k);  // some have no diagonal: no edge of theirs stays
  const Pattern p = pattern_of(graph);
  const SparseOperand<double> A(p, {size, size}, random);
  const PlacedOperand<double> on(device(), A.blocks());
  for (const unsigned components : {~0u, 5u})
    for (const bool symmetrize : {false, true})
      for (const double threshold : {0.0, 0.1, 0.5}) {
        const auto weight = [&](idx row, idx column) {
          double sum = 0;
          const count32 first = p.start[row], count = p.start[row + 1] - first;
          for (count32 e = 0; e < count; ++e)
            for (int i = 0; i < size && p.column[first + e] == column; ++i)
              for (int j = 0; j < size; ++j)
                if (components >> i & components >> j & 1)
                  sum += std::abs(A.values[first * size * size + i * count * size + e * size + j]);
          return sum;
        };
        const auto of_edge = [&](idx a, idx b) { return weight(a, b) + (symmetrize ? weight(b, a) : 0); };
        Pattern wanted{p.rows, p.cols, {0}, {}};
        for (idx row = 0; row < p.rows; ++row) {
          for (const idx column : graph[row]) {
            const double scale = of_edge(row, row) * of_edge(column, column);
            if (scale > 0 && of_edge(row, column) / std::sqrt(scale) > threshold) wanted.column.push_back(column);
          }
          wanted.start.push_back(static_cast<count32>(wanted.column.size()));
        }
        const PlacedRows found = work().strong_edges({.scalar = scalar_type_of<double>(),
                                                      .size = size,
                                                      .pattern = on.pattern.rows(),
                                                      .values = on.values.data(),
                                                      .components = components,
                                                      .symmetrize = symmetrize,
                                                      .threshold = threshold});
        Pattern got{p.rows, p.cols, std::vector<count32>(wanted.start.size()), {}};
        device().download(got.start.data(), found.start.data(), found.start.bytes());
        got.column.resize(got.start.back());
        if (!got.column.empty()) device().download(got.column.data(), found.column.data(), found.column.bytes());
        expect_equal(got, wanted);
      }
}

// Prolongators

struct Bases {
  std::vector<double> q, r;
};

/// Of aggregates of all nodes, in turns; modes by columns.
Bases bases_on(Backend& on, const Aggregates& a, int size, int modes, const std::vector<double>& mode) {
  const PlacedPattern tentative(on, a.tentative.view(), {size, modes});
  const Buffer<count32> start(on, std::span<const count32>(a.start));
  const Buffer<idx> node(on, std::span<const idx>(a.node));
  const Buffer<double> of_modes(on, std::span<const double>(mode)), q(on, tentative.scalars()),
      r(on, static_cast<std::size_t>(a.size()) * modes * modes);
  basis_args args;
  args.aggregates = a.size();
  args.start = start.data();
  args.node = node.data();
  args.size = size;
  args.modes = modes;
  args.rows = slot_t{a.tentative.rows} * size;
  args.mode = of_modes.data();
  args.row_start = tentative.rows().start.data();
  args.basis = q.data();
  args.coarse = r.data();
  on.extensions().multigrid->orthonormalize(scalar_type_of<double>(), args, static_cast<slot_t>(a.node.size()));
  Bases found{std::vector<double>(tentative.scalars()), std::vector<double>(r.bytes() / sizeof(double))};
  on.download(found.q.data(), q.data(), q.bytes());
  on.download(found.r.data(), r.data(), r.bytes());
  return found;
}

/// `each` nodes in each aggregate, spread over all.
Aggregates spread_aggregates(idx aggregates, idx each) {
  std::vector<idx> root;
  for (idx node = 0; node < aggregates * each; ++node) root.push_back(node % aggregates);
  return aggregates_of(root);
}

using Prolongators = DeviceMultigridWork;

TEST_F(Prolongators, HaveOrthonormalColumnsThatTimesRAreTheModes) {
  constexpr idx aggregates = 13;
  for (const int size : {1, 3, 6})
    for (const int modes : {1, 6, 16, 32})
      for (const idx each : {1, 2, 7, how_much.nodes}) {
        if (modes == 32 && each > 7) continue;  // emulated for long
        SCOPED_TRACE(std::to_string(each) + " nodes of " + std::to_string(size) + ", modes " + std::to_string(modes));
        const Aggregates a = spread_aggregates(aggregates, each);
        const std::size_t rows = static_cast<std::size_t>(aggregates) * each * size;
        std::vector<double> mode(rows * modes);
        for (double& v : mode) v = random.below(2000) / 1000.0 - 1;
        const Bases b = bases_on(device(), a, size, modes, mode);
        const int own = each * size;  // rows of an aggregate
        for (idx of = 0; of < aggregates; ++of) {
          const auto q = [&](int i, int j) {  // all rows of the prolongator have one block
            const std::size_t node = a.node[a.start[of] + i / size];
            return b.q[(node * size + i % size) * modes + j];
          };
          const auto r = [&](int i, int j) {
            return b.r[static_cast<std::size_t>(j) * aggregates * modes + of * modes + i];
          };
          for (int j = 0; j < modes; ++j) {
            for (int i = j + 1; i < modes; ++i) ASSERT_EQ(r(i, j), 0);
            for (int i = 0; i < own; ++i) {
              double sum = 0;
              for (int k = 0; k < modes; ++k) sum += q(i, k) * r(k, j);
              const std::size_t node = a.node[a.start[of] + i / size];
              ASSERT_NEAR(sum, mode[j * rows + node * size + i % size], 1e-13 * own);
            }
            for (int k = 0; k < modes && own >= modes; ++k) {
              double dot = 0;
              for (int i = 0; i < own; ++i) dot += q(i, j) * q(i, k);
              ASSERT_NEAR(dot, j == k ? 1 : 0, 1e-13);
            }
          }
        }
      }
}

TEST_F(Prolongators, OfDependentOrZeroModesAreFinite) {
  const Aggregates a = spread_aggregates(5, 4);
  constexpr int size = 3, modes = 4, rows = 5 * 4 * size;
  std::vector<double> mode(rows * modes, 0);
  for (int i = 0; i < rows; ++i) {
    mode[i] = 1 + i % 3;
    mode[2 * rows + i] = 2 * mode[i];
    mode[3 * rows + i] = i;
  }
  const Bases b = bases_on(device(), a, size, modes, mode);
  EXPECT_TRUE(std::ranges::all_of(b.q, [](double v) { return std::isfinite(v); }));
  EXPECT_TRUE(std::ranges::all_of(b.r, [](double v) { return std::isfinite(v); }));
}

TEST_F(Prolongators, AreSmoothed) {
  constexpr int height = 3, width = 2;
  constexpr double factor = -0.75;
  const Pattern before = drawn_pattern(300, 40, 3, random);
  const Pattern A = drawn_pattern(300, 300, 9, random);
  const auto after = product_pattern(device(), placed(A, {3, 3}), placed(before, {height, width}), true);
  ASSERT_TRUE(after);
  const Pattern p = after->pattern(device());
  const SparseOperand<double> old(before, {height, width}, random), product(p, {height, width}, random);
  std::vector<double> scale(300 * height);
  for (double& v : scale) v = std::ldexp(1.0, random.below(9) - 4);
  const PlacedOperand<double> on_old(device(), old.blocks()), on_product(device(), product.blocks());
  const Buffer<double> on_scale(device(), std::span<const double>(scale));
  smooth_args s;
  s.rows = 300;
  s.height = height;
  s.width = width;
  s.start = after->rows().start.data();
  s.column = after->rows().column.data();
  s.values = on_product.values.data();
  s.scale = on_scale.data();
  s.factor = factor;
  s.before_start = on_old.pattern.rows().start.data();
  s.before_column = on_old.pattern.rows().column.data();
  s.before = on_old.values.data();
  work().smooth(scalar_type_of<double>(), s);
  auto found = product.values;
  on_product.download(found);

  auto wanted = product.values;
  for (idx row = 0; row < 300; ++row) {
    const count32 first = p.start[row], count = p.start[row + 1] - first;
    const count32 old_first = before.start[row], old_count = before.start[row + 1] - old_first;
    for (int i = 0; i < height; ++i)
      for (count32 k = 0; k < count; ++k)
        for (int j = 0; j < width; ++j) {
          double& v = wanted[first * height * width + (i * count + k) * width + j];
          v = factor * (scale[row * height + i] * v);
          for (count32 o = 0; o < old_count; ++o)
            if (before.column[old_first + o] == p.column[first + k])
              v += old.values[old_first * height * width + (i * old_count + o) * width + j];
        }
  }
  EXPECT_EQ(found, wanted);
}
