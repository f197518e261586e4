// The set-up of multigrid by the device text on the host.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "backend/multigrid.hpp"
#include "device/emulated_multigrid.hpp"
#include "device/emulated_sparse_products.hpp"
#include "pattern/aggregates.hpp"
#include "support/failing_in_turn.hpp"
#include "support/recording_backend.hpp"
#include "support/sparse_operands.hpp"

namespace compound::test {
namespace {

struct EmulatedKernels final : MultigridKernels {
  void run(GraphStep step, const aggregate_args& a) const override { emulated::run_graph_step(int(step), &a); }
  void run(StrengthStep step, ScalarType, int size, const strength_args& a) const override {
    emulated::run_strength_step(int(step), size, &a);
  }
  void run(const ColumnTable& table, int inner, const product_pattern_args& a) const override {
    emulated::collect_columns(table.lanes == 32, inner, &a);
  }
  void run(TransposeStep step, const transpose_args& a) const override { emulated::run_transpose_step(int(step), &a); }
  void run(ScalarType, const basis_args& a) const override { emulated::orthonormalize(&a); }
};

class EmulatedDevice final : public RecordingBackend, public SparseProducts, public MultigridWork {
 public:
  EmulatedDevice() : RecordingBackend("recording", Reach::copies, {.sparse_products = this, .multigrid = this}) {}

  void multiply_sparse(const SparseProductTask& t) override {
    if (!emulated::multiply_sparse({t.a.rows, t.a.cols, t.width, t.transposed, true, true, &t.args}))
      throw std::logic_error("no kernel");
  }
  std::optional<PlacedRows> product_pattern(const PlacedRows& A, const PlacedRows& B, bool with_b) override {
    return compound::product_pattern(*this, kernels_, A, B, with_b);
  }
  std::optional<PlacedTransposed> transposed(const PlacedRows& A) override {
    return compound::transposed(*this, kernels_, A);
  }
  bool is_symmetric(const PlacedRows& graph) override { return compound::is_symmetric(*this, kernels_, graph); }
  PlacedRows strong_edges(const StrengthTask& task) override { return compound::strong_edges(*this, kernels_, task); }
  std::vector<idx> roots(const PlacedRows& graph, int distance) override {
    return compound::roots(*this, kernels_, graph, distance);
  }
  void orthonormalize(ScalarType scalar, const basis_args& args, slot_t nodes) override {
    compound::orthonormalize(*this, kernels_, scalar, args, nodes);
  }
  void smooth(ScalarType, const smooth_args& args) override { emulated::smooth_rows(&args); }

 private:
  EmulatedKernels kernels_;
};

/// Nothing stays allocated.
class MultigridFixture : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(on_.allocations, on_.releases); }
  EmulatedDevice& device() { return on_; }

 private:
  EmulatedDevice on_;
};
constexpr struct {
  int graphs = 5, nodes = 36, repeats = 1, rows = 20;
  std::size_t zoo_entries = 300;
} how_much;

#include "support/multigrid_tests.hpp"

/// Every allocation of a step fails in turn: an error each time, nothing lost, nothing released twice.
TEST_F(DeviceMultigridWork, EndsWithAnErrorWhereverMemoryRunsOut) {
  const Pattern p = pattern_of(drawn_graph(50, 200, random));
  const SparseOperand<double> A(p, {3, 3}, random);
  const PlacedOperand<double> on(device(), A.blocks());
  const PlacedRows& rows = on.pattern.rows();
  SparseProducts& products = *device().extensions().sparse_products;
  const std::pair<const char*, std::function<void()>> steps[] = {
      {"pattern of a product", [&] { products.product_pattern(rows, rows, true); }},
      {"transposed", [&] { products.transposed(rows); }},
      {"symmetry", [&] { work().is_symmetric(rows); }},
      {"strong edges",
       [&] { work().strong_edges({.scalar = {}, .size = 3, .pattern = rows, .values = on.values.data()}); }},
      {"roots", [&] { work().roots(rows, 2); }}};
  EmulatedDevice& backend = device();
  for (const auto& [name, step] : steps) {
    SCOPED_TRACE(name);
    const int held = backend.allocations - backend.releases;
    const auto fail = [&](int n) {
      EXPECT_EQ(backend.allocations - backend.releases, held) << n;
      backend.to_fail = n;
    };
    failures_in_turn(fail, step);
  }
}

}  // namespace
}  // namespace compound::test
