// Statistics of timing samples.
#pragma once

#include <span>

namespace compound::bench {

struct Statistics {
  double median = 0, least = 0, most = 0;
  double spread = 0;  ///< interquartile range over the median: how much of a difference is noise
};

/// Quantile q in [0, 1] of at least one sample, linear between neighbours.
double quantile(std::span<const double> samples, double q);

/// Of at least one sample.
Statistics statistics_of(std::span<const double> samples);

/// Median over the rounds of base[round] / samples[round]: what two neighbours in time saw of the machine's other work
/// cancels. Both of one length, at least 1.
double paired_ratio(std::span<const double> base, std::span<const double> samples);

}  // namespace compound::bench
