#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace compound::bench {

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) throw std::invalid_argument("statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Statistics statistics_of(std::span<const double> samples) {
  Statistics s;
  s.median = quantile(samples, 0.5);
  s.least = quantile(samples, 0);
  s.most = quantile(samples, 1);
  s.spread = s.median == 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / s.median;
  return s;
}

double paired_ratio(std::span<const double> base, std::span<const double> samples) {
  if (base.size() != samples.size()) throw std::invalid_argument("ratios of different numbers of rounds");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples.size(); ++i) ratios.push_back(samples[i] > 0 ? base[i] / samples[i] : 0);
  return quantile(ratios, 0.5);
}

}  // namespace compound::bench
