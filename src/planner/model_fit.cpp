#include "planner/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace compound {

namespace {

using Sums = decltype(Work::sums);
constexpr std::size_t terms = std::tuple_size_v<Sums>;

/// Normal equations of least squares.
struct Equations {
  std::array<Sums, terms> a = {};
  Sums b = {};

  void add(const Timed& t) {
    const double weight = t.share / (std::pow(t.of_best, 4) * t.seconds * t.seconds);
    for (std::size_t i = 0; i < terms; ++i) {
      b[i] += weight * t.work.sums[i] * t.seconds;
      for (std::size_t j = 0; j < terms; ++j) a[i][j] += weight * t.work.sums[i] * t.work.sums[j];
    }
  }
};

/// Of these terms alone: by elimination with pivots, rows and columns scaled to a diagonal of 1.
std::vector<double> solved(const Equations& e, const std::vector<std::size_t>& used) {
  const std::size_t n = used.size();
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1));
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i) scale[i] = std::sqrt(e.a[used[i]][used[i]]);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) m[i][j] = e.a[used[i]][used[j]] / scale[i] / scale[j] + (i == j ? 1e-9 : 0);
    m[i][n] = e.b[used[i]] / scale[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto from = m.begin() + static_cast<std::ptrdiff_t>(i);
    std::iter_swap(from, std::max_element(from, m.end(), [&](const auto& a, const auto& b) {
                     return std::abs(a[i]) < std::abs(b[i]);
                   }));
    for (std::size_t row = 0; row < n; ++row) {
      if (row == i) continue;
      const double factor = m[row][i] / m[i][i];
      for (std::size_t k = 0; k <= n; ++k) m[row][k] -= factor * m[i][k];
    }
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = m[i][n] / m[i][i] / scale[i];
  return values;
}

}  // namespace

DeviceTable fitted(const DeviceTable& table, const std::vector<Timed>& timed) {
  constexpr double too_slow = 2;
  Equations e;
  for (const Timed& t : timed)
    if (t.of_best <= too_slow) e.add(t);
  std::vector<std::size_t> used;
  DeviceTable made = table;
  for (std::size_t i = 0; i < terms; ++i) {
    if (!(e.a[i][i] > 0)) continue;
    used.push_back(i);
    made.*seconds_fields[i].value = 0;
  }
  while (!used.empty()) {
    const std::vector<double> values = solved(e, used);
    const auto least = std::ranges::min_element(values);
    if (*least < 0) {
      used.erase(used.begin() + (least - values.begin()));
      continue;
    }
    for (std::size_t i = 0; i < used.size(); ++i) made.*seconds_fields[used[i]].value = values[i];
    break;
  }
  return made;
}

}  // namespace compound
