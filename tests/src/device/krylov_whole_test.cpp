// Krylov loops in one kernel, and passes over vectors, as the device text has them, compiled for the host: one block of
// threads that take turns, beside the textbook's loop.
#include <gtest/gtest.h>

#include <sched.h>
#include <ucontext.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace emulated {

#include "emulated_block.hpp"

#include "device/krylov_whole.hpp"

#include "emulated_text_end.hpp"

#include "emulated_krylov.hpp"

namespace {

std::complex<double> inner(const std::vector<std::complex<double>>& a, const std::vector<std::complex<double>>& b,
                           bool hermitian) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (hermitian ? std::conj(a[i]) : a[i]) * b[i];
  return sum;
}

/// The textbook's loop, preconditioned norms.
template <class S>
Ran reference_cg(const System<S>& s, int columns, bool hermitian, int iterations) {
  typename System<S>::Values r, z, p;
  for (const S& b : s.b) r.push_back(value(b));
  Ran made;
  made.x.resize(scalars);
  z = p = s.preconditioned(r, columns);
  auto rho = inner(r, z, hermitian);
  const auto note = [&](double inverse_step, double growth) {
    made.norms.push_back(std::sqrt(inner(z, z, true).real()));
    made.inverse_steps.push_back(inverse_step);
    made.growths.push_back(growth);
  };
  note(0, 0);
  for (int k = 0; k < iterations; ++k) {
    const auto w = s.times(p);
    const auto alpha = rho / inner(p, w, hermitian), before = rho;
    for (int i = 0; i < scalars; ++i) made.x[i] += alpha * p[i], r[i] -= alpha * w[i];
    z = s.preconditioned(r, columns);
    rho = inner(r, z, hermitian);
    for (int i = 0; i < scalars; ++i) p[i] = z[i] + rho / before * p[i];
    note((1.0 / alpha).real(), std::abs(rho / before));
  }
  return made;
}

/// As many norms as rounding leaves alone.
constexpr std::size_t norms_compared = 20;

void expect_norms(const Ran& made, const Ran& wanted) {
  for (std::size_t i = 0; i < std::min(made.norms.size(), norms_compared); ++i) {
    EXPECT_NEAR(made.norms[i], wanted.norms[i], 1e-9 * wanted.norms[i] + 1e-12) << i;
    EXPECT_NEAR(made.inverse_steps[i], wanted.inverse_steps[i], 1e-6 * std::abs(wanted.inverse_steps[i])) << i;
    EXPECT_NEAR(made.growths[i], wanted.growths[i], 1e-6 * wanted.growths[i]) << i;
  }
}

template <class F>
void expect_cg(const System<typename F::scalar>& s, const std::vector<int>& all_at_once) {
  // Of bilinear products the curvature may change its sign, at which a solve ends, when little is left.
  const double below = F::hermitian ? 1e-8 : 1e-5;
  for (const int at_once : all_at_once) {
    const Ran made = run<F>(s, most_krylov_vectors, below, at_once, 200);
    EXPECT_EQ(made.stop, int(KrylovStop::norm));
    const Ran wanted = reference_cg(s, F::columns, F::hermitian, int(made.norms.size()) - 1);
    expect_norms(made, wanted);
    for (int i = 0; i < scalars; ++i) EXPECT_LE(std::abs(made.x[i] - wanted.x[i]), below) << i;
  }
}
template <class S, int columns, bool two, bool hermitian, Traversal by>
void expect_cg() {
  expect_cg<Form<S, KrylovNorm::preconditioned, columns, two, true, hermitian, by>>(System<S>(hermitian), {1, 3, 15});
}

template <class S, bool two, bool hermitian>
void expect_cg_in_every_form() {
  expect_cg<S, 0, two, hermitian, Traversal::rows>();
  expect_cg<S, 1, two, hermitian, Traversal::rows>();
  expect_cg<S, 1, two, hermitian, Traversal::components>();
}

TEST(OneKernel, IsTheTextbooksCg) {
  expect_cg_in_every_form<double, false, true>();
  expect_cg_in_every_form<complex_number<double>, false, true>();
  expect_cg_in_every_form<complex_number<double>, false, false>();
}

TEST(OneKernel, IsTheTextbooksCgWithTwoMeetings) {
  expect_cg_in_every_form<double, true, true>();
  expect_cg_in_every_form<complex_number<double>, true, true>();
  expect_cg_in_every_form<complex_number<double>, true, false>();
}

template <class F>
void expect_ends_where_asked(int first_vectors) {
  const System<double> s(true);
  const Ran four = run<F>(s, first_vectors, -1, 4, 4);
  ASSERT_EQ(four.norms.size(), 5u);
  EXPECT_EQ(four.stop, int(KrylovStop::iterations));

  const Ran to_bound = run<F>(s, first_vectors, four.norms[3], 4, 4);
  EXPECT_EQ(to_bound.norms.size(), 4u) << "a norm that is the bound is small enough";
  EXPECT_EQ(to_bound.stop, int(KrylovStop::norm));
}

TEST(OneKernel, EndsWithTheLastIterationAndWithTheBound) {
  constexpr auto norm = KrylovNorm::preconditioned;
  expect_ends_where_asked<Form<double, norm, 1, false, true, true, Traversal::rows>>(most_krylov_vectors);
  expect_ends_where_asked<Form<double, norm, 1, true, true, true, Traversal::rows>>(most_krylov_vectors);
  expect_ends_where_asked<Form<double, norm, 1, false, false, true, Traversal::rows>>(bcgs_vectors::r0);
}

/// A warp may be at the next sum while the first one still reads.
TEST(OneKernel, AddsUpOverABlockOnceAndAgain) {
  for (int launched = 0; launched < 2; ++launched) {  // with each warp first
    double made[4] = {};
    launch(1, threads, [&] {
      for (int k = 0; k < 4; ++k) {
        const sums<double, 1> sum = sum_over_block(sums<double, 1>{{k + 1.0}});
        if (threadIdx.x == 0) made[k] = sum.of[0];
      }
    });
    for (int k = 0; k < 4; ++k) EXPECT_EQ(made[k], threads * (k + 1.0)) << k;
  }
}

/// The same numbers, to the last bit.
TEST(OneKernel, HasTheSameNormsWithTwoMeetings) {
  const System<double> s(true);
  using Three = Form<double, KrylovNorm::natural, 1, false, true, true, Traversal::rows>;
  using Two = Form<double, KrylovNorm::natural, 1, true, true, true, Traversal::rows>;
  const Ran three = run<Three>(s, most_krylov_vectors, 1e-8, 15, 200),
            two = run<Two>(s, most_krylov_vectors, 1e-8, 15, 200);
  ASSERT_EQ(two.norms.size(), three.norms.size());
  for (std::size_t i = 0; i < two.norms.size(); ++i) EXPECT_NEAR(two.norms[i], three.norms[i], 1e-13 * three.norms[i]);
}

/// With what the matrix sends to 0 removed from each direction.
template <class S, Nulls nulls>
void expect_solution_beside_null_space() {
  const System<S> s(nulls);
  expect_cg<Form<S, KrylovNorm::preconditioned, 0, false, true, true, Traversal::rows, nulls>>(s, {15});
  expect_cg<Form<S, KrylovNorm::preconditioned, 1, false, true, true, Traversal::rows, nulls>>(s, {7});
  expect_cg<Form<S, KrylovNorm::preconditioned, 1, true, true, true, Traversal::rows, nulls>>(s, {15});

  using Bcgs = Form<S, KrylovNorm::preconditioned, 1, false, false, true, Traversal::rows, nulls>;
  const Ran made = run<Bcgs>(s, bcgs_vectors::r0, 1e-9, 5, 300);
  EXPECT_EQ(made.stop, int(KrylovStop::norm));
  const auto product = s.preconditioned(s.times(made.x), 1);
  for (int i = 0; i < scalars; ++i) EXPECT_LE(std::abs(product[i] - value(s.b[i])), 1e-8) << i;
}

TEST(OneKernel, RemovesNullSpaces) {
  expect_solution_beside_null_space<double, Nulls{true, 1}>();
  expect_solution_beside_null_space<double, Nulls{false, 2}>();
  expect_solution_beside_null_space<complex_number<double>, Nulls{true, 1}>();
  expect_solution_beside_null_space<complex_number<double>, Nulls{false, 2}>();
}

/// One thread stops the loop, and no warp goes on, whichever comes first.
TEST(OneKernel, StopsBesideANullSpaceWhereTheMatrixIsIndefinite) {
  using F = Form<double, KrylovNorm::preconditioned, 1, false, true, true, Traversal::rows, Nulls{true, 1}>;
  System<double> s(Nulls{true, 1});
  for (int i = 0; i < rows; ++i)
    for (count32 e = s.start[i]; e < s.start[i + 1]; ++e)
      for (int k = 0; k < 4; ++k) s.values[4 * e + k] = s.column[e] == i && (k == 0 || k == 3) ? (i < 30 ? 1 : -4) : 0;
  for (int launched = 0; launched < 2; ++launched) {  // with each warp first
    if (launched) launch(1, threads, [] {});
    const Ran made = run<F>(s, most_krylov_vectors, 1e-12, 15, 200);
    EXPECT_EQ(made.stop, int(KrylovStop::indefinite_matrix));
    EXPECT_LT(made.norms.size(), 10u);
  }
}

/// A turns each pair of scalars by a right angle: r0^H M A r0 is 0, exactly so of these whole numbers.
TEST(OneKernel, TellsABreakdownOfBicgstabBesideANullSpace) {
  constexpr Nulls constant{true, 0};
  using F = Form<double, KrylovNorm::preconditioned, 1, false, false, true, Traversal::rows, constant>;
  System<double> s(constant);
  for (int i = 0; i < rows; ++i) {
    for (count32 e = s.start[i]; e < s.start[i + 1]; ++e)
      for (int k = 0; k < 4; ++k) s.values[4 * e + k] = s.column[e] != i || k == 0 || k == 3 ? 0 : k == 1 ? -1 : 1;
    const double sign = i == rows - 1 ? 0 : i % 2 ? 1 : -1;
    s.b[2 * i] = sign;
    s.b[2 * i + 1] = 2 * sign;
  }
  s.factors.assign(scalars, 1);

  EXPECT_EQ(run<F>(s, bcgs_vectors::r0, 1e-10, 5, 200).stop, int(KrylovStop::breakdown));
}

/// M A = 1: nothing is left after the first half of an iteration.
TEST(OneKernel, EndsBicgstabWhereHalfAnIterationIsExact) {
  using F = Form<double, KrylovNorm::preconditioned, 1, false, false, true, Traversal::rows>;
  System<double> s(true);
  for (int i = 0; i < rows; ++i)
    for (count32 e = s.start[i]; e < s.start[i + 1]; ++e)
      for (int k = 0; k < 4; ++k) s.values[4 * e + k] = s.column[e] == i && (k == 0 || k == 3) ? 4 : 0;
  s.factors.assign(scalars, 0.25);

  const Ran made = run<F>(s, bcgs_vectors::r0, 1e-10, 5, 200);

  EXPECT_EQ(made.stop, int(KrylovStop::exact));
  for (int i = 0; i < scalars; ++i) EXPECT_EQ(made.x[i], s.b[i]) << i;
}

TEST(OneKernel, SolvesByBicgstab) {
  using F = Form<double, KrylovNorm::preconditioned, 1, false, false, true, Traversal::rows>;
  const System<double> s(true);
  // The first residual is not preconditioned here, and so the norm is another, but the answer is that of M A x = b.
  const Ran made = run<F>(s, bcgs_vectors::r0, 1e-10, 5, 200);
  EXPECT_EQ(made.stop, int(KrylovStop::norm));
  const auto product = s.preconditioned(s.times(made.x), 1);
  for (int i = 0; i < scalars; ++i) EXPECT_LE(std::abs(product[i] - value(s.b[i])), 1e-9) << i;
}

/// A pass by a plain loop, or as the kernel that devices have of it.
enum class PassBy { loop, kernel };

template <class Pass, class S>
std::array<std::complex<double>, most_pass_sums> sums_of_pass(PassBy by, const std::vector<std::vector<S>*>& vectors,
                                                              const std::vector<std::complex<double>>& numbers = {}) {
  std::vector<unsigned> tickets(tickets_of(2));
  std::vector<S> partials(most_pass_sums * partials_of(2));
  S of_numbers[most_pass_numbers] = {}, sums[most_pass_sums] = {};
  pass_args a;
  for (std::size_t i = 0; i < vectors.size(); ++i) a.vectors[i] = vectors[i]->data();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    of_numbers[i] = number<S>(numbers[i].real(), numbers[i].imag());
    a.numbers[i][0] = numbers[i].real();
    a.numbers[i][1] = numbers[i].imag();
  }
  a.scalars = scalars;
  a.sum = {partials.data(), tickets.data()};
  a.sums = sums;
  const Pass pass = Pass::of(of_numbers, a.vectors);
  if (by == PassBy::kernel)
    launch(2, threads / 2, [&] { run_pass<Pass, S>(a); });
  else
    for (slot_t i = 0; i < scalars; ++i) pass(i, sums);
  std::array<std::complex<double>, most_pass_sums> made;
  for (int i = 0; i < most_pass_sums; ++i) made[i] = value(sums[i]);
  return made;
}

template <class S>
typename System<S>::Values values_of(const std::vector<S>& v) {
  typename System<S>::Values values;
  for (const S& s : v) values.push_back(value(s));
  return values;
}

/// In whatever order it is added up.
template <class Values>
void expect_sum(std::complex<double> made, const Values& a, const Values& b, bool hermitian) {
  const double size = std::sqrt(inner(a, a, true).real() * inner(b, b, true).real());
  EXPECT_LE(std::abs(made - inner(a, b, hermitian)), 2 * scalars * 2.3e-16 * size);
}

/// Conjugate gradients with one reduction an iteration, as the caller of the passes runs it.
template <class F>
Ran run_with_one_reduction(const System<typename F::scalar>& system, PassBy by, int iterations) {
  using S = typename F::scalar;
  std::vector<S> d = system.factors, z = system.zeros(), w = z, s = z, p = z, x = z, r = system.b;
  std::complex<double> rho = 0, curvature = 0, alpha = 0, beta = 0;
  Ran made;
  for (int k = 0; k <= iterations; ++k) {
    sums_of_pass<cg_advance_pass<F>>(by, std::vector{&d, &z, &w, &s, &p, &x, &r}, {alpha, beta});
    if (!F::diagonal) z = r;
    const auto of_r = values_of(r), of_z = values_of(z), of_w = system.times(of_z);
    for (int i = 0; i < scalars; ++i) w[i] = number<S>(of_w[i].real(), of_w[i].imag());
    const auto sums = sums_of_pass<cg_sums_pass<F>>(by, std::vector{&r, &z, &w});
    expect_sum(sums[0], of_r, of_z, F::hermitian);
    expect_sum(sums[1], of_z, of_z, true);
    expect_sum(sums[2], of_r, of_r, true);
    expect_sum(sums[3], of_w, of_z, F::hermitian);
    made.norms.push_back(std::sqrt(sums[1].real()));
    made.inverse_steps.push_back(k ? (1.0 / alpha).real() : 0);
    beta = k ? sums[0] / rho : 0;
    made.growths.push_back(std::abs(beta));
    rho = sums[0];
    curvature = sums[3] - beta * beta * curvature;
    alpha = rho / curvature;
  }
  made.x = values_of(x);
  return made;
}

template <class S, int columns, bool hermitian>
void expect_cg_by_passes() {
  using F = Form<S, KrylovNorm::preconditioned, columns, false, true, hermitian, Traversal::rows>;
  const System<S> s(hermitian);
  constexpr int iterations = norms_compared;
  const Ran wanted = reference_cg(s, columns, hermitian, iterations);
  for (const PassBy by : {PassBy::loop, PassBy::kernel}) {
    const Ran made = run_with_one_reduction<F>(s, by, iterations);
    expect_norms(made, wanted);
    for (int i = 0; i < scalars; ++i) EXPECT_LE(std::abs(made.x[i] - wanted.x[i]), 1e-9) << i;
  }
}

TEST(PassesWithOneReduction, AreTheTextbooksCg) {
  expect_cg_by_passes<double, 0, true>();
  expect_cg_by_passes<double, 1, true>();
  expect_cg_by_passes<complex_number<double>, 0, true>();
  expect_cg_by_passes<complex_number<double>, 1, true>();
  expect_cg_by_passes<complex_number<double>, 1, false>();
}

}  // namespace
}  // namespace emulated
