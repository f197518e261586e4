// Dot products in the kernels of products, and loops of conjugate gradients, on a device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "cuda/followed_plans.hpp"
#include "cuda/on_device.hpp"
#include "cuda/runtime.hpp"
#include "storage/krylov_matrix.hpp"
#include "support/dots.hpp"
#include "support/failing_in_turn.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Dots : public OnDevice {};
class KrylovLoops : public OnDevice {};

template <class S>
void expect_dots(const Pattern& pattern, std::string_view line, Op op, Form form) {
  Random random;
  const Operands<S> operands(pattern, "dense", {3, 3}, random);
  const PackedMatrix A = packed(operands, followed_plan<S>(line), backend("cuda"));
  const auto w = random_vector<S>(operands.z(op).size(), random);
  const auto product = multiplied(A, operands, op, Form::assign);
  for (const Follow kind : {Follow::dot, Follow::bilinear}) {
    SCOPED_TRACE(std::string(line) + ", " + product_name(op, form));
    const auto made = multiplied_with_dot(A, operands, op, form, kind, w);
    const S wanted = reference_dot(kind, w, product);
    S error = made.dot;
    error -= wanted;
    EXPECT_LE(size_of_terms<S>({S(1)}, {error}), (sizeof(real_of<S>) == 4 ? 1e-5 : 1e-13) * size_of_terms(w, product));
    if (A.plan().schedule.carries == Carries::atomic) continue;
    EXPECT_TRUE(same_bits(made.y, multiplied(A, operands, op, form)));
    const auto again = multiplied_with_dot(A, operands, op, form, kind, w);
    EXPECT_TRUE(same_bits(std::vector{made.dot}, std::vector{again.dot})) << "other bits the second time";
  }
}

TEST_F(Dots, FollowProductsOfEverySort) {
  const Pattern pattern = random_pattern(3000, 3000, 9, 3);
  for (const char* line : followed_lines) expect_dots<double>(pattern, line, Op::none, Form::assign);
  for (const char* line : {"csr components lanes=32", "sell:32 rows", "ccoo:64 slots"}) {
    expect_dots<double>(pattern, line, Op::transpose, Form::assign);
    expect_dots<double>(pattern, line, Op::none, Form::add);
    expect_dots<double>(pattern, line, Op::none, Form::add_in_place);
    expect_dots<complex_number<double>>(pattern, line, Op::none, Form::assign);
    expect_dots<float>(pattern, line, Op::none, Form::assign);
  }
}

/// One block of threads, groups that are full, a last one that is not, and several levels.
TEST_F(Dots, AddUpAnyNumberOfBlocks) {
  for (const idx rows : {1, 31, 128, 16384, 16385, 50000, 600000})
    for (const char* line : {"csr rows lanes=1 threads=32", "sell:32 components threads=128"}) {
      const Pattern pattern = random_pattern(rows, rows, rows < 3 ? 1 : 2, 3);
      expect_dots<double>(pattern, line, Op::none, Form::assign);
    }
}

TEST_F(Dots, OfNothingAreNothing) {
  const Pattern pattern = pattern_of(4, {});
  expect_dots<double>(pattern, "sell:32 rows", Op::none, Form::assign);
}

TEST_F(Dots, LeaveAProductThatIsStopped) {
  const Pattern pattern = random_pattern(300, 300, 9, 3);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const PackedMatrix A = packed(operands, followed_plan<double>("sell:32 rows"), device());
  const int flags[] = {0, 7};
  const Buffer<int> on_device(device(), std::span<const int>(flags));
  const auto w = random_vector<double>(900, random);

  EXPECT_EQ(multiplied_with_dot(A, operands, Op::none, Form::add_in_place, Follow::dot, w, on_device.data() + 1).y,
            operands.z(Op::none));
  EXPECT_NE(multiplied_with_dot(A, operands, Op::none, Form::add_in_place, Follow::dot, w, on_device.data()).y,
            operands.z(Op::none));
}

/// A grid's symmetric matrix of 3x3 blocks: `shift` on the diagonal makes it positive definite, or not.
struct System {
  Pattern pattern;
  std::vector<double> blocks, b,
      inverses;                     ///< inverses: of the scalar diagonal, [1][scalars], or of blocks, [3][scalars]
  std::vector<double> null_vector;  ///< beside the constant, or empty: no null space is removed

  System(idx side, double shift, int columns) {
    std::vector<std::vector<idx>> rows;
    for (idx i = 0; i < side * side; ++i) {
      rows.emplace_back();
      for (const idx j : {i - side, i - 1, i, i + 1, i + side})
        if (j >= 0 && j < side * side && (std::abs(j - i) != 1 || j / side == i / side)) rows.back().push_back(j);
    }
    pattern = pattern_of(side * side, rows);
    const std::size_t n = 3 * std::size_t(side) * side;
    inverses.assign(n * columns, 0);
    for (idx i = 0; i < side * side; ++i)
      for (const idx j : rows[i])
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r) {
            const double coupling = 0.1 * (r + c);
            blocks.push_back(i == j ? (r == c ? 4.5 + shift + 0.3 * r + 0.01 * (i % 7) : coupling)
                                    : (r == c ? -1.0 : -0.05 * (r + c)));
          }
    for (std::size_t i = 0; i < n; ++i) {
      b.push_back(std::sin(0.37 * double(i)) + 0.2);
      if (columns == 1) inverses[i] = 1 / (4.5 + shift + 0.3 * double(i % 3) + 0.01 * double(i / 3 % 7));
      if (columns == 3)  // not the inverse, but symmetric and definite
        for (std::size_t k = 0; k < 3; ++k) inverses[k * n + i] = i % 3 == k ? 0.25 : -0.01;
    }
  }
  std::size_t scalars() const { return b.size(); }
  PackedMatrix packed(std::string_view line, Backend& on) const {
    PackedMatrix A(pattern.view(), {{3, 3}, scalar_type_of<double>()}, followed_plan<double>(line), on);
    A.update_values(blocks.data());
    return A;
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(x.size());
    for (idx row = 0; row < pattern.rows; ++row)
      for (count32 e = pattern.start[row]; e < pattern.start[row + 1]; ++e)
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r) y[3 * row + r] += blocks[9 * e + 3 * c + r] * x[3 * pattern.column[e] + c];
    return y;
  }
  /// Not of this matrix, but loops do not ask; preconditioners of blocks keep both.
  void have_null_space() {
    for (std::size_t i = 0; i < scalars(); ++i)
      null_vector.push_back((i % 3 == 0 ? 1 : i % 3 == 1 ? -1 : 0) / std::sqrt(2.0 / 3 * double(scalars())));
  }
  void remove_null_space(std::vector<double>& v) const {
    if (null_vector.empty()) return;
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
    const double part = std::inner_product(v.begin(), v.end(), null_vector.begin(), 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] -= mean + part * null_vector[i];
  }
  std::vector<double> preconditioned(const std::vector<double>& r) const {
    std::vector<double> z(r.size());
    const std::size_t columns = inverses.size() / r.size();
    if (columns == 0) z = r;
    for (std::size_t i = 0; i < r.size(); ++i)
      for (std::size_t k = 0; k < columns; ++k) z[i] += inverses[k * r.size() + i] * r[i / columns * columns + k];
    remove_null_space(z);
    return z;
  }
};

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Norms and numbers of the textbook's loop.
std::vector<krylov_news> reference_news(const System& s, KrylovNorm kind, int iterations) {
  std::vector<double> x(s.scalars()), r = s.b, z = s.preconditioned(r), p = z;
  std::vector<krylov_news> all;
  double rho = inner(r, z);
  const auto note = [&](double alpha, double beta) {
    const double norm = kind == KrylovNorm::natural            ? std::sqrt(std::abs(rho))
                        : kind == KrylovNorm::preconditioned   ? std::sqrt(inner(z, z))
                        : kind == KrylovNorm::unpreconditioned ? std::sqrt(inner(r, r))
                                                               : 0;
    all.push_back({norm, alpha == 0 ? 0 : 1 / alpha, beta});
  };
  note(0, 0);
  for (int i = 0; i < iterations; ++i) {
    const auto w = s.times(p);
    const double alpha = rho / inner(p, w);
    for (std::size_t k = 0; k < r.size(); ++k) x[k] += alpha * p[k], r[k] -= alpha * w[k];
    z = s.preconditioned(r);
    const double before = std::exchange(rho, inner(r, z));
    for (std::size_t k = 0; k < r.size(); ++k) p[k] = z[k] + rho / before * p[k];
    note(alpha, rho / before);
  }
  return all;
}

struct Solved {
  std::vector<double> x, norms, inverse_steps, growths;
  KrylovRun start, end;
  KrylovLoop::Shape shape;
};

Solved solved(const System& s, const PackedMatrix& A, KrylovNorm norm, const KrylovLimits& limits,
              bool step_by_step = false, KrylovRunner runner = KrylovRunner::graphs) {
  Backend& on = A.backend();
  const int columns = int(s.inverses.size() / s.scalars());
  KrylovProblem problem{KrylovMethod::cg, scalar_type_of<double>(), slot_t(s.scalars()), columns, norm, true, runner};
  if (!s.null_vector.empty()) problem.null_space = {true, 1};
  const auto loop = on.extensions().krylov->krylov_loop(problem);
  if (!s.null_vector.empty())
    on.upload(loop->null_space(), s.null_vector.data(), s.null_vector.size() * sizeof(double));
  if (columns) on.upload(loop->factors(), s.inverses.data(), s.inverses.size() * sizeof(double));
  const Buffer<double> b(on, std::span<const double>(s.b)), x(on, s.scalars());
  loop->prepare(krylov_matrix(A), step_by_step ? 1 : 8);
  Solved made;
  const auto report = [&](int i, const krylov_news& news) {
    EXPECT_EQ(i, int(made.norms.size()));
    made.norms.push_back(news.norm);
    made.inverse_steps.push_back(news.inverse_step);
    made.growths.push_back(news.growth);
  };
  made.start = loop->start(nullptr, b.data(), report);
  if (step_by_step) do {
      KrylovLimits one = limits;
      one.most = made.end.iteration + 1;
      made.end = loop->go_on(one, report);
    } while (made.end.stop == KrylovStop::iterations && made.end.iteration < limits.most);
  else
    made.end = loop->go_on(limits, report);
  made.x.resize(s.scalars());
  made.shape = loop->shape();
  loop->take_x(x.data());
  on.download(made.x.data(), x.data(), x.bytes());
  return made;
}

TEST_F(KrylovLoops, HaveTheNormsOfTheTextbook) {
  for (const int columns : {0, 1, 3}) {
    const System s(23, 0.5, columns);
    const PackedMatrix A = s.packed("sell:32 rows", device());
    for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::unpreconditioned, KrylovNorm::natural}) {
      const Solved made = solved(s, A, norm, {1e-9, infinity, 500});
      const auto wanted = reference_news(s, norm, made.end.iteration);
      SCOPED_TRACE(columns);
      EXPECT_EQ(made.start.iteration, 0);
      EXPECT_EQ(made.start.stop, KrylovStop::not_yet);
      EXPECT_EQ(made.end.stop, KrylovStop::norm);
      ASSERT_EQ(made.norms.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(made.norms[i], wanted[i].norm, 1e-7 * wanted[i].norm + 1e-12) << i;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_NEAR(made.inverse_steps[i], wanted[i].inverse_step, 1e-6 * wanted[i].inverse_step) << i;
        EXPECT_NEAR(made.growths[i], wanted[i].growth, 1e-6 * wanted[i].growth) << i;
      }
      EXPECT_GT(made.norms[made.norms.size() - 2], 1e-9);
      EXPECT_LE(made.norms.back(), 1e-9);
      const auto Ax = s.times(made.x);
      for (std::size_t i = 0; i < Ax.size(); ++i) ASSERT_NEAR(Ax[i], s.b[i], 1e-7);
    }
  }
}

/// In graphs and in one kernel.
TEST_F(KrylovLoops, RemoveNullSpaces) {
  // The residual keeps what the matrix's range has of the null space, which is not this matrix's: further down its
  // product with z is of rounding errors.
  const KrylovLimits limits{1e-2, infinity, 500};
  for (const int columns : {0, 3}) {
    System s(23, 0.5, columns);
    s.have_null_space();
    const PackedMatrix A = s.packed("sell:32 rows", device());
    for (const KrylovRunner runner : {KrylovRunner::graphs, KrylovRunner::persistent, KrylovRunner::persistent2})
      for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::natural}) {
        SCOPED_TRACE(columns);
        const Solved made = solved(s, A, norm, limits, false, runner);
        EXPECT_EQ(made.end.stop, KrylovStop::norm);
        EXPECT_EQ(made.shape.one_kernel, runner != KrylovRunner::graphs);
        EXPECT_EQ(made.shape.grid_syncs, runner == KrylovRunner::graphs       ? 0
                                         : runner == KrylovRunner::persistent ? 4
                                                                              : 3);
        const auto wanted = reference_news(s, norm, made.end.iteration);
        ASSERT_EQ(made.norms.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_NEAR(made.norms[i], wanted[i].norm, 1e-7 * wanted[i].norm + 1e-12) << i;
        auto removed = made.x;
        s.remove_null_space(removed);
        for (std::size_t i = 0; i < removed.size(); ++i) ASSERT_NEAR(made.x[i], removed[i], 1e-12);
        const Solved again = solved(s, A, norm, limits, true, runner);
        EXPECT_TRUE(same_bits(again.x, made.x)) << "step by step";
      }
  }
}

TEST_F(KrylovLoops, GiveTheSameBitsHoweverTheyAreQueued) {
  const System s(40, 0.5, 3);
  for (const char* line : {"sell:32 rows", "csr components lanes=32 dynamic", "ccoo:64 slots"}) {
    const PackedMatrix A = s.packed(line, device());
    const KrylovLimits limits{1e-9, infinity, 37};
    const Solved first = solved(s, A, KrylovNorm::natural, limits);
    EXPECT_EQ(first.end.stop, KrylovStop::iterations);
    EXPECT_EQ(first.end.iteration, 37);
    for (const Solved& other :
         {solved(s, A, KrylovNorm::natural, limits), solved(s, A, KrylovNorm::natural, limits, true)}) {
      EXPECT_TRUE(same_bits(first.x, other.x)) << line;
      EXPECT_TRUE(same_bits(first.norms, other.norms)) << line;
      EXPECT_EQ(other.end.iteration, 37);
    }
  }
}

/// One kernel for all iterations does what graphs of kernels do, by every sort of product that it can have; the others
/// stay graphs.
TEST_F(KrylovLoops, AreTheSameInOneKernel) {
  for (const idx side : {3, 40, 200}) {
    const System s(side, 0.5, 3);
    for (const std::string_view line : followed_lines) {
      if (line.ends_with("atomic")) continue;
      SCOPED_TRACE(line);
      const PackedMatrix A = s.packed(line, device());
      for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::natural}) {
        const KrylovLimits limits{1e-9, infinity, 600};
        const Solved graphs = solved(s, A, norm, limits);
        for (const KrylovRunner runner : {KrylovRunner::persistent, KrylovRunner::persistent2}) {
          const Solved kernel = solved(s, A, norm, limits, false, runner);
          EXPECT_EQ(kernel.shape.one_kernel, !line.starts_with("ccoo"));
          EXPECT_EQ(kernel.shape.grid_syncs, line.starts_with("ccoo") ? 0 : runner == KrylovRunner::persistent ? 3 : 2);
          EXPECT_FALSE(graphs.shape.one_kernel);
          EXPECT_EQ(kernel.end.stop, KrylovStop::norm);
          EXPECT_LE(std::abs(kernel.end.iteration - graphs.end.iteration), 1);
          for (std::size_t i = 0; i < std::min(kernel.norms.size(), graphs.norms.size()); ++i)
            EXPECT_NEAR(kernel.norms[i], graphs.norms[i], 1e-8 * graphs.norms[i] + 1e-11) << i;
          for (std::size_t i = 0; i < s.scalars(); ++i) ASSERT_NEAR(kernel.x[i], graphs.x[i], 1e-8);
          for (const bool step_by_step : {false, true}) {
            const Solved again = solved(s, A, norm, limits, step_by_step, runner);
            EXPECT_TRUE(same_bits(again.norms, kernel.norms)) << "step by step: " << step_by_step;
            EXPECT_TRUE(same_bits(again.inverse_steps, kernel.inverse_steps)) << "step by step: " << step_by_step;
            EXPECT_TRUE(same_bits(again.x, kernel.x)) << "step by step: " << step_by_step;
          }
        }
      }
    }
  }
}

/// What a loop needs it has after the first solve, whatever values come.
TEST_F(KrylovLoops, AllocateNothingInAThousandSolves) {
  System s(8, 0.5, 3);
  PackedMatrix A = s.packed("sell:32 rows", device());
  const Buffer<double> b(device(), std::span<const double>(s.b));
  for (const KrylovRunner runner : {KrylovRunner::graphs, KrylovRunner::persistent, KrylovRunner::persistent2}) {
    const auto loop = device().extensions().krylov->krylov_loop(
        {KrylovMethod::cg, scalar_type_of<double>(), slot_t(s.scalars()), 3, KrylovNorm::preconditioned, true, runner});
    device().upload(loop->factors(), s.inverses.data(), s.inverses.size() * sizeof(double));
    const KrylovLoop::Matrix matrix = krylov_matrix(A);
    double last = 0;
    const auto solve = [&] {
      loop->prepare(matrix, 8);
      loop->start(nullptr, b.data(), [](int, const krylov_news&) {});
      return loop->go_on({1e-6, infinity, 100}, [&](int, const krylov_news& news) { last = news.norm; }).stop;
    };
    ASSERT_EQ(solve(), KrylovStop::norm);
    for (int i = 0; i < 1000; ++i) {
      for (double& v : s.blocks) v *= i % 2 ? 1.25 : 0.8;
      A.update_values(s.blocks.data());
      ASSERT_EQ(A.stamp(), matrix.stamp);
      cuda::fail_allocation(1);
      ASSERT_EQ(solve(), KrylovStop::norm) << "solve " << i;
      cuda::fail_allocation(0);
      ASSERT_LE(last, 1e-6);
    }
  }
}

/// What becomes of the residual has a vector of its own where it is kept beside the residual.
TEST_F(KrylovLoops, HaveNoVectorThatTheyDoNotNeed) {
  const auto allocations = [](KrylovMethod method, int columns, bool projects) {
    KrylovProblem problem{method, scalar_type_of<double>(), 300, columns};
    problem.null_space.constant = projects;
    const auto make = [&] { device().extensions().krylov->krylov_loop(problem); };
    make();  // loads its kernels, which counts, too
    return failures_in_turn(cuda::fail_allocation, make);
  };
  const int of_cg = allocations(KrylovMethod::cg, 0, false), of_bcgs = allocations(KrylovMethod::bcgs, 0, false);
  EXPECT_GT(of_cg, 3);
  EXPECT_EQ(allocations(KrylovMethod::cg, 0, true), of_cg + 1);
  EXPECT_EQ(allocations(KrylovMethod::cg, 3, false), of_cg + 2) << "one is the preconditioner";
  EXPECT_EQ(allocations(KrylovMethod::cg, 3, true), of_cg + 2);
  EXPECT_EQ(allocations(KrylovMethod::bcgs, 0, true), of_bcgs);
  EXPECT_EQ(allocations(KrylovMethod::bcgs, 3, false), of_bcgs + 2);
  EXPECT_EQ(allocations(KrylovMethod::bcgs, 3, true), of_bcgs + 1);
}

/// An error each time, and the right answer from the first try that gets what it asks for.
TEST_F(KrylovLoops, ReportEveryAllocationThatFails) {
  const System s(8, 0.5, 1);
  const PackedMatrix A = s.packed("sell:32 rows", device());
  for (const KrylovRunner runner : {KrylovRunner::graphs, KrylovRunner::persistent, KrylovRunner::persistent2}) {
    Solved made;
    const int failures = failures_in_turn(cuda::fail_allocation, [&] {
      made = solved(s, A, KrylovNorm::preconditioned, {1e-10, infinity, 200}, false, runner);
    });
    EXPECT_GT(failures, 3);
    EXPECT_EQ(made.end.stop, KrylovStop::norm);
    const auto product = s.times(made.x);
    for (std::size_t i = 0; i < product.size(); ++i) ASSERT_NEAR(product[i], s.b[i], 1e-8) << i;
  }
}

/// More iterations than a kernel has.
TEST_F(KrylovLoops, GoOnInAnotherKernel) {
  const System s(10, 0.5, 0);
  const PackedMatrix A = s.packed("sell:32 rows", device());
  for (const KrylovRunner runner : {KrylovRunner::persistent, KrylovRunner::persistent2}) {
    const Solved made = solved(s, A, KrylovNorm::none, {-1, infinity, 1300}, false, runner);
    EXPECT_LE(made.end.iteration, 1300);
    EXPECT_EQ(int(made.norms.size()), made.end.iteration + 1);
  }
}

TEST_F(KrylovLoops, SayWhyTheyStop) {
  const KrylovLimits limits{1e-9, infinity, 500};
  for (const KrylovRunner runner : {KrylovRunner::graphs, KrylovRunner::persistent, KrylovRunner::persistent2}) {
    const auto solved = [&](const System& s, const PackedMatrix& A, KrylovNorm norm, const KrylovLimits& l) {
      return compound::test::solved(s, A, norm, l, false, runner);
    };
    {
      const System s(10, -9, 0);
      const Solved made = solved(s, s.packed("sell:32 rows", device()), KrylovNorm::natural, limits);
      EXPECT_EQ(made.end.stop, KrylovStop::indefinite_matrix);
    }
    {
      System s(10, 0.5, 1);
      for (std::size_t i = 0; i < s.scalars(); i += 2) s.inverses[i] *= -1;
      EXPECT_EQ(solved(s, s.packed("sell:32 rows", device()), KrylovNorm::unpreconditioned, limits).end.stop,
                KrylovStop::indefinite_preconditioner);
    }
    {
      System s(10, 0.5, 0);
      s.b.assign(s.b.size(), 0);
      EXPECT_EQ(solved(s, s.packed("sell:32 rows", device()), KrylovNorm::none, limits).start.stop,
                KrylovStop::no_residual);
      s.b[5] = std::nan("");
      EXPECT_EQ(solved(s, s.packed("sell:32 rows", device()), KrylovNorm::natural, limits).start.stop,
                KrylovStop::norm);
    }
    {
      const System s(10, 0.5, 0);
      EXPECT_EQ(solved(s, s.packed("sell:32 rows", device()), KrylovNorm::natural, {1e-9, 1e-3, 500}).end.iteration, 1);
    }
  }
}

class KrylovSystemsLoops : public OnDevice {};

/// Right-hand side k of several.
std::vector<double> right_hand_side(const System& s, int k) {
  std::vector<double> b = s.b;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin((0.11 + 0.05 * k) * double(i)) + 0.1 * k;
  return b;
}

/// `first` and those after it. Each has its own limits.
std::vector<Solved> solved_at_once(const System& s, const PackedMatrix& A, KrylovNorm norm, int first, int systems,
                                   const std::vector<KrylovLimits>& limits) {
  Backend& on = A.backend();
  const int columns = int(s.inverses.size() / s.scalars());
  KrylovProblem problem{KrylovMethod::cg, scalar_type_of<double>(), slot_t(s.scalars()), columns, norm};
  if (!s.null_vector.empty()) problem.null_space = {true, 1};
  const auto loop = on.extensions().krylov->krylov_systems(problem, systems);
  if (!s.null_vector.empty())
    on.upload(loop->null_space(), s.null_vector.data(), s.null_vector.size() * sizeof(double));
  if (columns) on.upload(loop->factors(), s.inverses.data(), s.inverses.size() * sizeof(double));
  std::vector<Solved> made;
  for (const bool again : {false, true}) {
    std::vector<Solved> now(systems);
    const auto report = [&](int system, int i, const krylov_news& news) {
      EXPECT_EQ(i, int(now[system].norms.size())) << system;
      now[system].norms.push_back(news.norm);
    };
    loop->prepare(krylov_matrix_of_systems(A), 2);
    const Buffer<double> x(on, s.scalars());
    for (int k = 0; k < systems; ++k) {
      const Buffer<double> b(on, std::span<const double>(right_hand_side(s, first + k)));
      loop->set(k, nullptr, b.data());
      on.synchronize();
    }
    loop->start(report);
    loop->go_on(std::span(limits).subspan(first, systems), report);
    for (int k = 0; k < systems; ++k) {
      now[k].end = loop->where(k);
      now[k].x.resize(s.scalars());
      loop->take_x(k, x.data());
      on.download(now[k].x.data(), x.data(), x.bytes());
      EXPECT_TRUE(!again || same_bits(now[k].x, made[k].x)) << "the second solve of system " << k;
    }
    made = std::move(now);
  }
  return made;
}

/// Systems that stop at very different times, one of them before the first iteration, and each with the bits that it
/// has in any company.
TEST_F(KrylovSystemsLoops, SolveEachSystemAsAlone) {
  constexpr int most = most_krylov_systems;
  std::vector<KrylovLimits> limits;
  for (int k = 0; k < most; ++k) limits.push_back({std::pow(10.0, -1 - k % 9), infinity, k == 5 ? 7 : 500});
  limits[3].most = 0;
  for (const int columns : {0, 1, 3})
    for (const bool has_null_space : {false, true}) {
      if (has_null_space && columns == 1) continue;  // the diagonal does not keep it
      System s(23, 0.5, columns);
      if (has_null_space) s.have_null_space();
      for (KrylovLimits& l : limits) l.below = std::max(l.below, has_null_space ? 1e-2 : 0);
      for (const char* line : {"sell:32 rows", "csr components lanes=32", "ccoo:64 slots"}) {
        SCOPED_TRACE(std::string(line) + ", blocks of " + std::to_string(columns));
        const PackedMatrix A = s.packed(line, device());
        const std::vector<Solved> all = solved_at_once(s, A, KrylovNorm::preconditioned, 0, most, limits);
        for (int k = 0; k < most; ++k) {
          System one = s;
          one.b = right_hand_side(s, k);
          const Solved alone = solved(one, A, KrylovNorm::preconditioned, limits[k]);
          EXPECT_EQ(all[k].end.stop, k == 5 || k == 3 ? KrylovStop::iterations : KrylovStop::norm) << k;
          EXPECT_EQ(int(all[k].norms.size()), all[k].end.iteration + 1) << k;
          if (k == 3) {
            EXPECT_EQ(all[k].end.iteration, 0);
            EXPECT_EQ(all[k].x, std::vector<double>(s.scalars()));
            continue;
          }
          EXPECT_TRUE(same_bits(all[k].norms, alone.norms)) << k;
          EXPECT_TRUE(same_bits(all[k].x, alone.x)) << k;
        }
        for (const int first : {0, 4, 11}) {
          const std::vector<Solved> some = solved_at_once(s, A, KrylovNorm::preconditioned, first, 5, limits);
          for (int k = 0; k < 5; ++k) EXPECT_TRUE(same_bits(some[k].x, all[first + k].x)) << first << " + " << k;
        }
      }
    }
}

}  // namespace
}  // namespace compound::test
