// Multigrid's cycles on a backend that has passes over vectors, beside the same by dense matrices.
#include "storage/cycle.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "support/products.hpp"
#include "support/random.hpp"
#include "support/recording_backend.hpp"

namespace compound::test {
namespace {

/// T_k(x), or V_k(x) of the fourth kind: W_k(cos t) = sin((k + 1/2) t) / sin(t / 2).
double chebyshev(int k, double x) {
  double before = 1, now = x;
  if (k == 0) return 1;
  for (int i = 1; i < k; ++i) before = std::exchange(now, 2 * x * now - before);
  return now;
}
double fourth_kind(int k, double x) {
  double before = 1, now = 2 * x + 1;
  if (k == 0) return 1;
  for (int i = 1; i < k; ++i) before = std::exchange(now, 2 * x * now - before);
  return now;
}

/// The error after the steps, of one that was 1, where the matrix is the number `a`.
double error_after(const std::vector<SmoothingStep>& steps, double a) {
  double x = 1, before = 0;
  for (const SmoothingStep& s : steps) before = std::exchange(x, s.along * x + s.keep * before - s.scale * a * x);
  return x;
}

TEST(SmoothingSteps, OfTheFirstKindGiveItsPolynomials) {
  const double least = 0.3, most = 2.2, middle = (most + least) / 2, half = (most - least) / 2;
  for (int k = 0; k <= 6; ++k)
    for (const double a : {0.01, 0.3, 0.9, 2.0, 2.2, 3.0})
      EXPECT_NEAR(error_after(chebyshev_steps(k, least, most), a),
                  chebyshev(k, (middle - a) / half) / chebyshev(k, middle / half), 1e-12)
          << k << " steps, " << a;
}

TEST(SmoothingSteps, OfTheFourthKindGiveItsPolynomials) {
  const std::vector<double> ones(6, 1);
  for (int k = 0; k <= 6; ++k)
    for (const double a : {0.01, 0.9, 2.0, 2.2})
      EXPECT_NEAR(error_after(*fourth_kind_steps(k, 2.2, ones.data()), a),
                  fourth_kind(k, 1 - 2 * a / 2.2) / (2 * k + 1), 1e-12)
          << k << " steps, " << a;
}

/// Weights of the differences between the vectors that follow each other.
TEST(SmoothingSteps, OfTheFourthKindTakeWeightsOfUpToTwoSteps) {
  const std::vector<double> weights{1.1, 0.7, 1.2}, ones(3, 1);
  for (int k = 1; k <= 2; ++k)
    for (const double a : {0.1, 1.4}) {
      double expected = 1, before = 1;
      for (int i = 1; i <= k; ++i) {
        const double now = error_after(*fourth_kind_steps(i, 2, ones.data()), a);
        expected += weights[i - 1] * (now - before);
        before = now;
      }
      EXPECT_NEAR(error_after(*fourth_kind_steps(k, 2, weights.data()), a), expected, 1e-13) << k << " steps";
    }
  EXPECT_FALSE(fourth_kind_steps(3, 2, weights.data()));
}

/// A host that works for cycles like a device, but for recordings.
class CyclingBackend final : public RecordingBackend, public CycleWork {
 public:
  CyclingBackend() : RecordingBackend("recording", Reach::copies, {.cycle = this}) {}
  void smooth(ScalarType, const smoothing_pass_args& a) override {
    for (slot_t i = 0; i < a.scalars; ++i) smooth_scalar<double>(a, i);
  }
  void multiply_dense(ScalarType, const dense_args& a) override {
    for (slot_t i = 0; i < a.rows; ++i) {
      double sum = 0;
      for (slot_t j = 0; j < a.rows; ++j)
        sum += static_cast<const double*>(a.matrix)[i * a.rows + j] * static_cast<const double*>(a.b)[j];
      static_cast<double*>(a.y)[i] = sum;
    }
  }
  std::unique_ptr<Recording> record() override { throw error(ErrorKind::unsupported, "no recordings"); }
};

using Vector = std::vector<double>;

/// With itself: the last scalars of a vector are the ghosts.
class ExchangeWithItself final : public PeerExchange {
 public:
  explicit ExchangeWithItself(int from, int to)
      : PeerExchange({scalar_type_of<double>(), 1, {}}), from_(from), to_(to) {}
  void put(const void* x, const int*) override { given_ = static_cast<const double*>(x) + from_; }
  void take(void* ghosts, const int*) override { std::copy_n(given_, to_ - from_, static_cast<double*>(ghosts)); }
  void put_back(const void* ghosts) override { given_ = static_cast<const double*>(ghosts); }
  void add(void* y) override {
    for (int i = from_; i < to_; ++i) static_cast<double*>(y)[i] += given_[i - from_];
  }

 private:
  int from_, to_;
  const double* given_ = nullptr;
};

/// A matrix of numbers, row by row, and the same packed in blocks: in one matrix, or in two as several processes have
/// theirs.
struct Dense {
  int rows, cols;
  Vector at;
  std::unique_ptr<PackedMatrix> packed, own, others;
  std::unique_ptr<ExchangeWithItself> exchange;
  mutable Vector ghosts;

  Dense(Backend& on, int block_rows, int block_cols, BlockShape block, Random& random, double diagonal)
      : rows(block_rows * block.rows), cols(block_cols * block.cols), at(std::size_t(1) * rows * cols) {
    for (double& v : at) v = 0.1 * random.scalar<double>();
    for (int i = 0; i < std::min(rows, cols); ++i) at[std::size_t(i) * cols + i] += diagonal;
    const int owned = (block_cols + 1) / 2;
    packed = columns(on, block, 0, block_cols, block_cols);
    own = columns(on, block, 0, owned, block_cols);
    others = columns(on, block, owned, block_cols, block_cols - owned);
    exchange = std::make_unique<ExchangeWithItself>(owned * block.cols, cols);
    ghosts.resize(cols - owned * block.cols);
  }
  std::unique_ptr<PackedMatrix> columns(Backend& on, BlockShape block, int from, int to, int all) const {
    const int block_rows = rows / block.rows, shift = to - from == all ? from : 0;
    Pattern p{block_rows, all, {0}, {}};
    Vector blocks;
    for (int i = 0; i < block_rows; ++i) {
      for (int j = from; j < to; ++j) {
        p.column.push_back(j - shift);
        for (int c = 0; c < block.cols; ++c)
          for (int r = 0; r < block.rows; ++r)
            blocks.push_back(at[std::size_t(i * block.rows + r) * cols + j * block.cols + c]);
      }
      p.start.push_back(count32(p.column.size()));
    }
    auto made = std::make_unique<PackedMatrix>(p.view(), Problem{block, scalar_type_of<double>()},
                                               parse_plan("entry=dense csr", {}), on);
    made->update_values(blocks.data());
    return made;
  }
  DeviceMatrix matrix(bool of_several) const {
    if (!of_several) return {packed.get()};
    return {own.get(), others.get(), exchange.get(), ghosts.data()};
  }
  Vector times(const Vector& x) const {
    Vector y(rows, 0);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) y[i] += at[std::size_t(i) * cols + j] * x[j];
    return y;
  }
  Vector transposed_times(const Vector& x) const {
    Vector y(cols, 0);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) y[j] += at[std::size_t(i) * cols + j] * x[i];
    return y;
  }
};

struct Level {
  Dense A, P;
  std::optional<Dense> R;
  std::vector<SmoothingStep> down, up;
  int columns = 1;
  Vector factors;
  bool up_from_zero = false;
  int visits = 1;

  Vector preconditioned(const Vector& r) const {
    if (columns == 0) return r;
    Vector z(r.size(), 0);
    for (std::size_t i = 0; i < r.size(); ++i)
      for (int k = 0; k < columns; ++k) z[i] += factors[k * r.size() + i] * r[i / columns * columns + k];
    return z;
  }
  Vector smoothed(const std::vector<SmoothingStep>& steps, const Vector& b, Vector x) const {
    Vector before(x.size(), 0);
    for (const SmoothingStep& s : steps) {
      Vector r = A.times(x);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
      const Vector z = preconditioned(r);
      Vector next(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) next[i] = s.along * x[i] + s.keep * before[i] + s.scale * z[i];
      before = std::exchange(x, next);
    }
    return x;
  }
};

struct Hierarchy {
  std::vector<Level> levels;
  int coarse = 6;
  Vector inverse;

  Vector visit(std::size_t l, const Vector& b, Vector x) const {
    if (l == levels.size()) {
      Vector y(coarse, 0);
      for (int i = 0; i < coarse; ++i)
        for (int j = 0; j < coarse; ++j) y[i] += inverse[i * coarse + j] * b[j];
      return y;
    }
    const Level& level = levels[l];
    x = level.smoothed(level.down, b, x);
    Vector r = level.A.times(x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    const Vector below = level.R ? level.R->times(r) : level.P.transposed_times(r);
    Vector correction(below.size(), 0);
    for (int k = 0; k < level.visits; ++k) correction = visit(l + 1, below, correction);
    const Vector added = level.P.times(correction);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += added[i];
    return level.smoothed(level.up, b, level.up_from_zero ? Vector(x.size(), 0) : x);
  }
};

struct CycleOfLevels : testing::Test {
  CyclingBackend on;
  Random random;

  Level level(int blocks, int below, BlockShape block, BlockShape transfer, int columns, int down, int up) {
    Level l{Dense(on, blocks, blocks, block, random, 2),
            Dense(on, blocks, below, transfer, random, 1),
            {},
            chebyshev_steps(down, 0.5, 2.5),
            chebyshev_steps(up, 0.4, 2.3),
            columns,
            {}};
    l.factors.resize(std::size_t(std::max(columns, 1)) * blocks * block.rows);
    for (double& v : l.factors) v = 0.45 + 0.15 * random.scalar<double>();
    return l;
  }
  /// Three levels: blocks of 3, of 6, and 6 unknowns.
  Hierarchy hierarchy(int columns, int down, int up) {
    Hierarchy h;
    h.levels.push_back(level(8, 3, {3, 3}, {3, 6}, columns == 1 ? 1 : columns ? 3 : 0, down, up));
    h.levels.push_back(level(3, 1, {6, 6}, {6, 6}, columns == 1 ? 1 : columns ? 6 : 0, down, up));
    h.inverse.resize(36);
    for (double& v : h.inverse) v = random.scalar<double>();
    return h;
  }
  void expect_same(const Hierarchy& h, int cycles = 1, bool others_solve = false) {
    for (const bool of_several : {false, true}) expect_same_by_parts(h, cycles, others_solve, of_several);
  }
  void expect_same_by_parts(const Hierarchy& h, int cycles, bool others_solve, bool of_several) {
    CyclePlan plan;
    plan.scalar = scalar_type_of<double>();
    plan.coarse_scalars = 6;
    plan.cycles = cycles;
    for (const Level& l : h.levels) {
      const CycleSmoother down{l.down, l.columns, l.factors.data()};
      CycleLevel& level = plan.levels.emplace_back();
      level.A = l.A.matrix(of_several);
      level.interpolation = l.P.matrix(of_several);
      if (l.R) level.restriction = l.R->matrix(of_several);
      level.down = down;
      level.up = {l.up, l.columns, l.factors.data(), l.up_from_zero};
      level.visits = l.visits;
    }
    plan.has_coarse_inverse = !others_solve;
    if (!others_solve) plan.coarse_inverse = h.inverse.data();
    int solves = 0;
    Cycle cycle(on, plan, [&](const void* b, void* x) {
      ++solves;
      on.multiply_dense(plan.scalar, {h.inverse.data(), 6, b, x});
    });
    Vector b(h.levels.front().A.rows), x(b.size(), not_a_number<double>()), expected(b.size(), 0);
    for (double& v : b) v = random.scalar<double>();
    cycle.prepare();
    cycle.run(b.data(), x.data());
    for (int k = 0; k < cycles; ++k) expected = h.visit(0, b, expected);
    double size = 1;
    for (const double v : expected) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-12 * size) << i;
    EXPECT_EQ(solves > 0, others_solve);
    EXPECT_GT(cycle.flops(), 0);
  }
};

TEST_F(CycleOfLevels, IsTheOneOfDenseMatrices) {
  for (const int columns : {0, 1, 3})
    for (const auto& [down, up] : {std::pair{2, 2}, {0, 1}, {1, 0}, {0, 0}, {4, 3}, {1, 1}}) {
      SCOPED_TRACE(std::to_string(columns) + " columns, steps " + std::to_string(down) + " and " + std::to_string(up));
      expect_same(hierarchy(columns, down, up));
    }
}

TEST_F(CycleOfLevels, VisitsLevelsSeveralTimes) {
  for (const auto& [down, up] : {std::pair{2, 2}, {0, 1}, {1, 0}}) {
    auto h = hierarchy(1, down, up);
    h.levels[0].visits = 2;
    expect_same(h);
    expect_same(h, 3);
    expect_same(h, 2, true);
  }
}

TEST_F(CycleOfLevels, RestrictsByAMatrixOfItsOwn) {
  auto h = hierarchy(1, 2, 2);
  h.levels[0].R.emplace(on, 3, 8, BlockShape{6, 3}, random, 1);
  expect_same(h);
}

TEST_F(CycleOfLevels, MaySmoothFromZeroWhateverTheGuess) {
  auto h = hierarchy(1, 2, 2);
  h.levels[1].up_from_zero = true;
  expect_same(h);
}

}  // namespace
}  // namespace compound::test
