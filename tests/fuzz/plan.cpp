// A plan that parses prints a line that parses to the same plan, whatever base it had; where it is accepted for a small
// matrix it multiplies as the definition says.
#include "plan/plan.hpp"

#include <cmath>

#include "base/error.hpp"
#include "planner/default_plan.hpp"
#include "storage/packed.hpp"
#include "target.hpp"

namespace {

using namespace compound;

void print_and_parse(std::string_view text, const Plan& base) {
  Plan plan;
  try {
    plan = parse_plan(text, base);
  } catch (const error&) {
    return;
  }
  const std::string line = to_string(plan);
  try {
    const Plan again = parse_plan(line, base);
    fuzz::require(again == plan, "'" + line + "' is the plan that it was printed of, not '" + to_string(again) + "'");
  } catch (const error& e) {
    fuzz::require(false, "'" + line + "' is a plan: " + e.what());
  }
}

/// A symmetric matrix of a few rows, one of them long and one without entries; blocks of n x n.
struct Small {
  static constexpr idx rows = 9;
  Pattern pattern{rows, rows, {0}, {}};
  Problem problem;
  std::vector<double> blocks, x, y;

  explicit Small(int n) : problem{{n, n}, {}}, x(std::size_t{rows} * n), y(x.size(), 0) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + double(i % 5);
    for (idx row = 0; row < rows; ++row) {
      for (idx column = 0; column < rows; ++column) {
        const bool is_there = row != 5 && column != 5 && (row == 2 || column == 2 || std::abs(row - column) <= 1);
        if (is_there) add(row, column, n);
      }
      pattern.start.push_back(static_cast<count32>(pattern.column.size()));
    }
  }

 private:
  void add(idx row, idx column, int n) {
    pattern.column.push_back(column);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int a = row * n + i, b = column * n + j;
        const double value = 0.25 * (1 + (a * b) % 7 + a + b);
        blocks.push_back(value);
        y[std::size_t(a)] += value * x[std::size_t(b)];
      }
  }
};

void multiply(const Plan& plan, const Small& m) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  Backend& host = backend("host");
  if (why_not(plan, m.problem, host)) return;
  try {
    if (bytes_of(m.pattern.view(), m.problem, plan, host).allocated.total() > most_bytes) return;
    PackedMatrix A(m.pattern.view(), m.problem, plan, host);
    if (A.try_update_values(m.blocks.data())) return;  // the blocks are not of the format
    std::vector<double> y(m.y.size(), std::nan(""));
    A.multiply(Op::none, Update::assign, m.x.data(), nullptr, y.data());
    const double tolerance = plan.values == Precision::single ? 1e-5 : 1e-13;
    for (std::size_t i = 0; i < y.size(); ++i)
      fuzz::require(std::abs(y[i] - m.y[i]) <= tolerance * (1 + std::abs(m.y[i])),
                    "'" + to_string(plan) + "' multiplies: y[" + std::to_string(i) + "] = " + std::to_string(y[i]) +
                        ", not " + std::to_string(m.y[i]));
  } catch (const error&) {
    return;  // says why not
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const Problem real_3x3{{3, 3}, {}};
  static const Plan bases[] = {Plan{}, default_plan({}, real_3x3, "host"), default_plan({}, real_3x3, "cuda")};
  for (const Plan& base : bases) print_and_parse(text, base);

  static const Small matrices[] = {Small(1), Small(3), Small(4)};
  Plan plan;
  try {
    plan = parse_plan(text, Plan{});
  } catch (const error&) {
    return 0;
  }
  if (plan.layout.vector_group != 1) return 0;  // the vectors are PETSc's
  for (const Small& m : matrices) multiply(plan, m);
  return 0;
}
