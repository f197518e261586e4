#include "backend/multigrid.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace compound {

namespace {

/// A number that kernels count in.
class Counter {
 public:
  explicit Counter(Backend& on) : on_(on), count_(on, 1) { clear(); }
  void clear() { on_.clear(count_.data(), sizeof(count32)); }
  count32* data() const { return count_.data(); }
  count32 value() const {
    count32 found;
    on_.download(&found, count_.data(), sizeof found);
    return found;
  }

 private:
  Backend& on_;
  Buffer<count32> count_;
};

/// [numbers + 1] where the entries of each begin that there are so many of; throws `too_large` beyond 32 bits.
std::vector<count32> starts_of(Backend& on, const Buffer<count32>& numbers) {
  std::vector<count32> start(numbers.bytes() / sizeof(count32) + 1, 0);
  if (start.size() > 1) on.download(start.data() + 1, numbers.data(), numbers.bytes());
  slot_t sum = 0;
  for (std::size_t k = 1; k < start.size(); ++k) {
    sum += start[k];
    start[k] = static_cast<count32>(sum);
  }
  if (sum > slot_t{~count32{0}})
    throw error(ErrorKind::too_large, "a product of sparse matrices has " + std::to_string(sum) +
                                          " blocks, more than 32 bits count; use more processes");
  return start;
}

/// Threads for a row of B: no more than it has entries.
int inner_for(const PlacedRows& B) {
  const std::size_t entries = B.column.bytes() / sizeof(idx), rows = static_cast<std::size_t>(std::max(B.rows, 1));
  return entries <= 2 * rows ? 1 : entries <= 16 * rows ? 8 : 32;
}

/// Nothing where a row has more columns than the table.
std::optional<PlacedRows> product_pattern_by(const ColumnTable& table, Backend& on, const MultigridKernels& kernels,
                                             product_pattern_args a, idx cols, int inner) {
  const Counter too_many(on);
  const Buffer<count32> counts(on, static_cast<std::size_t>(a.rows));
  const Buffer<unsigned long long> products(on, 1);
  on.clear(products.data(), products.bytes());
  a.products = products.data();
  a.too_many = too_many.data();
  a.counts = counts.data();
  kernels.run(table, inner, a);
  if (too_many.value() > 0) return {};
  const std::vector<count32> start = starts_of(on, counts);
  PlacedRows C{a.rows, cols, Buffer<count32>(on, std::span<const count32>(start)), Buffer<idx>(on, start.back())};
  unsigned long long found;
  on.download(&found, products.data(), sizeof found);
  C.products = static_cast<double>(found);
  a.c_start = C.start.data();
  a.c_column = C.column.data();
  if (start.back() > 0) kernels.run(table, inner, a);
  on.synchronize();  // before what it reads is released
  return C;
}

}  // namespace

std::optional<PlacedRows> product_pattern(Backend& on, const MultigridKernels& kernels, const PlacedRows& A,
                                          const PlacedRows& B, bool with_b) {
  product_pattern_args a;
  a.rows = A.rows;
  a.a_start = A.start.data();
  a.a_column = A.column.data();
  a.b_start = B.start.data();
  a.b_column = B.column.data();
  a.with_b = with_b;
  for (const ColumnTable& table : column_tables)
    if (auto C = product_pattern_by(table, on, kernels, a, B.cols, inner_for(B))) return C;
  return {};
}

std::optional<PlacedTransposed> transposed(Backend& on, const MultigridKernels& kernels, const PlacedRows& A) {
  transpose_args a;
  const std::size_t entries = A.column.bytes() / sizeof(idx);
  const Buffer<count32> taken(on, static_cast<std::size_t>(A.cols));
  on.clear(taken.data(), taken.bytes());
  a.rows = A.rows;
  a.cols = A.cols;
  a.start = A.start.data();
  a.column = A.column.data();
  a.taken = taken.data();
  kernels.run(TransposeStep::count, a);
  const std::vector<count32> start = starts_of(on, taken);
  for (std::size_t k = 1; k < start.size(); ++k)
    if (start[k] - start[k - 1] > count32{most_of_transposed_row}) return {};
  const Buffer<unsigned long long> key(on, entries);
  // GCC destroys an aggregate within braces of another one twice where what follows it throws: it is made before.
  PlacedRows rows{A.cols, A.rows, Buffer<count32>(on, std::span<const count32>(start)), Buffer<idx>(on, entries)};
  PlacedTransposed T{std::move(rows), Buffer<count32>(on, entries)};
  a.to_start = T.pattern.start.data();
  a.key = key.data();
  a.to_column = T.pattern.column.data();
  a.entry_of = T.entry_of.data();
  kernels.run(TransposeStep::put, a);
  kernels.run(TransposeStep::sort, a);
  on.synchronize();  // before what it reads is released
  return T;
}

bool is_symmetric(Backend& on, const MultigridKernels& kernels, const PlacedRows& graph) {
  const Counter lacking(on);
  aggregate_args a;
  a.nodes = graph.rows;
  a.start = graph.start.data();
  a.column = graph.column.data();
  a.counter = lacking.data();
  kernels.run(GraphStep::check_symmetry, a);
  return lacking.value() == 0;
}

PlacedRows strong_edges(Backend& on, const MultigridKernels& kernels, const StrengthTask& t) {
  const auto nodes = static_cast<std::size_t>(t.pattern.rows);
  const Buffer<double> weight(on, t.pattern.column.bytes() / sizeof(idx)), diagonal(on, nodes);
  const Buffer<count32> kept(on, nodes);
  strength_args a;
  a.nodes = t.pattern.rows;
  a.start = t.pattern.start.data();
  a.column = t.pattern.column.data();
  a.values = t.values;
  a.components = t.components;
  a.symmetrize = t.symmetrize;
  a.threshold = t.threshold;
  a.weight = weight.data();
  a.diagonal = diagonal.data();
  a.kept = kept.data();
  kernels.run(StrengthStep::weigh_edges, t.scalar, t.size, a);
  kernels.run(StrengthStep::count_kept, t.scalar, t.size, a);
  const std::vector<count32> start = starts_of(on, kept);
  PlacedRows graph{t.pattern.rows, t.pattern.cols, Buffer<count32>(on, std::span<const count32>(start)),
                   Buffer<idx>(on, start.back())};
  a.kept_start = graph.start.data();
  a.kept_column = graph.column.data();
  kernels.run(StrengthStep::write_kept, t.scalar, t.size, a);
  on.synchronize();  // before what it reads is released
  return graph;
}

std::vector<idx> roots(Backend& on, const MultigridKernels& kernels, const PlacedRows& graph, int distance) {
  const auto nodes = static_cast<std::size_t>(graph.rows);
  const Buffer<priority> state(on, nodes), near(on, nodes);
  const Buffer<idx> root(on, nodes), final_root(on, nodes);
  const Buffer<count32> of_root(on, nodes);
  Counter undecided(on);
  aggregate_args a;
  a.nodes = graph.rows;
  a.start = graph.start.data();
  a.column = graph.column.data();
  a.distance = distance;
  a.state = state.data();
  a.near = near.data();
  a.counter = undecided.data();
  a.root = root.data();
  a.final_root = final_root.data();
  a.of_root = of_root.data();
  on.clear(of_root.data(), of_root.bytes());
  kernels.run(GraphStep::begin_states, a);
  constexpr int rounds_a_look = 4;  // a look waits for the device
  do {
    for (int round = 0; round < rounds_a_look; ++round) {
      undecided.clear();
      kernels.run(GraphStep::find_nearest, a);
      kernels.run(GraphStep::decide, a);
    }
  } while (undecided.value() > 0);
  kernels.run(GraphStep::join_neighbours, a);
  kernels.run(GraphStep::join_the_rest, a);
  std::vector<idx> found(nodes);
  if (nodes > 0) on.download(found.data(), final_root.data(), final_root.bytes());
  return found;
}

void orthonormalize(Backend& on, const MultigridKernels& kernels, ScalarType scalar, const basis_args& args,
                    slot_t nodes) {
  basis_args a = args;
  const slot_t rows = nodes * a.size + slot_t{a.aggregates} * a.modes;
  const Buffer<double> work(on, static_cast<std::size_t>(rows * a.modes));
  a.work = work.data();
  kernels.run(scalar, a);
  on.synchronize();  // before what it works on is released
}

}  // namespace compound
