// The set-up of multigrid on a device.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "backend/multigrid.hpp"
#include "cuda/on_device.hpp"
#include "pattern/aggregates.hpp"
#include "support/sparse_operands.hpp"

namespace compound::test {
namespace {

using MultigridFixture = OnDevice;
constexpr struct {
  int graphs = 200, nodes = 1500, repeats = 20, rows = 500;
  std::size_t zoo_entries = std::size_t{1} << 30;
} how_much;

#include "support/multigrid_tests.hpp"

}  // namespace
}  // namespace compound::test
