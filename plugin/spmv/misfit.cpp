#include "spmv/misfit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "storage/packed.hpp"

namespace compound::plugin {

namespace {

/// What the kind makes of the block: its columns are products with the identity's. Empty for a user's kind that the
/// host has no kernels of.
std::vector<Scalar> as_entry(const Scalar* block, std::string_view entry, const Problem& problem) {
  const auto [rows, cols] = problem.block;
  const count32 start[] = {0, 1};
  const idx column[] = {0};
  Plan plan;
  set_layout(plan, "csr");
  set_entry(plan, entry);
  plan.values = problem.scalar.precision;
  if (backend("host").applicable(plan, problem)) return {};
  PackedMatrix A({1, 1, start, column}, problem, plan, backend("host"));
  A.try_update_values(block, Memory::host, Fit::known);
  std::vector<Scalar> all(std::size_t{1} * rows * cols);
  for (int j = 0; j < cols; ++j) {
    std::vector<Scalar> unit(cols);
    unit[j] = Scalar{1};
    A.multiply(Op::none, Update::assign, unit.data(), nullptr, all.data() + std::ptrdiff_t{1} * j * rows);
  }
  return all;
}

struct Number {
  double re, im;
  bool is_nan() const { return std::isnan(re) || std::isnan(im); }
};
[[maybe_unused]] Number number(double s) { return {s, 0}; }
template <class T>
Number number(const complex_number<T>& s) {
  return {s.re, s.im};
}

std::string text(const Number& s, int digits = 15) {
  char buffer[80];
  if constexpr (is_complex<Scalar>)
    std::snprintf(buffer, sizeof(buffer), "%.*g%+.*gi", digits, s.re, digits, s.im);
  else
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, s.re);
  return buffer;
}

/// Two numbers that differ, so that one sees it: with all their digits where that takes them.
std::pair<std::string, std::string> texts(const Number& a, const Number& b) {
  if (text(a) != text(b)) return {text(a), text(b)};
  return {text(a, 17), text(b, 17)};
}

// Infinities are copied like other numbers, but a product by the identity would multiply them by 0.
constexpr double instead_of_infinity = 0x1p1000;
double without_infinity(double v) { return std::isinf(v) ? std::copysign(instead_of_infinity, v) : v; }
double with_infinity(double v) {
  return std::abs(v) == instead_of_infinity ? std::copysign(std::numeric_limits<double>::infinity(), v) : v;
}
[[maybe_unused]] void replace_infinity(double& s) { s = without_infinity(s); }
template <class T>
void replace_infinity(complex_number<T>& s) {
  s = {without_infinity(s.re), without_infinity(s.im)};
}

std::string at(std::size_t scalar, int rows) {
  const auto height = static_cast<std::size_t>(rows);
  return "(" + std::to_string(scalar % height) + ", " + std::to_string(scalar / height) + ")";
}

}  // namespace

std::string found_in(const Scalar* block, std::string_view entry, const Problem& problem) {
  const int rows = problem.block.rows;
  const auto scalars = static_cast<std::size_t>(rows) * problem.block.cols;
  std::vector<Scalar> finite(block, block + scalars);
  for (std::size_t k = 0; k < scalars; ++k) {
    if (const Number s = number(block[k]); s.is_nan()) return "has " + text(s) + " at " + at(k, rows);
    replace_infinity(finite[k]);
  }
  const std::vector<Scalar> kept = as_entry(finite.data(), entry, problem);
  if (kept.empty()) return "differs from the block that its scalars stand for";
  std::size_t worst = 0;  // of an approximate kind the others may differ too, by less than it allows
  double most = -1;
  for (std::size_t k = 0; k < scalars; ++k) {
    const Number a = number(finite[k]), b = number(kept[k]);
    const double difference = std::hypot(a.re - b.re, a.im - b.im);
    if (!(difference <= most)) worst = k, most = difference;
  }
  const Number kept_there = number(kept[worst]);
  const auto [has, keeps] = texts(number(block[worst]), {with_infinity(kept_there.re), with_infinity(kept_there.im)});
  return "has " + has + " at " + at(worst, rows) + ", where that format has " + keeps;
}

}  // namespace compound::plugin
