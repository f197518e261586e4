// The model of Choi, Singh and Vuduc 2010 (section 6) for BELLPACK, calibrated on dense matrices.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record.hpp"
#include "storage/packed.hpp"

namespace compound::bench::tune {

/// Of one kernel on one device; seconds. N is the number of blocks that a thread goes through.
struct ChoiKernel {
  int multiprocessors = 0;   ///< M
  int at_once = 0;           ///< T, blocks of threads that a multiprocessor holds at once (equation 12)
  double first_s = 0;        ///< sigma_1,0
  double first_block_s = 0;  ///< gamma, times N (equation 15)
  double next_block_s = 0;   ///< gamma', times N (equation 16)
  double held_s = 0;         ///< alpha / N, times N for each block of threads beyond the first (equation 17)

  /// Equations 1 and 18 to 21, of L blocks of threads; where one iteration does it (I = 1), equation 3.
  double seconds(double thread_blocks, double n) const;
};

/// Times of dense BELLPACK matrices that the parameters follow from: `phi(k, c)` of k blocks of threads a
/// multiprocessor and c blocks a row.
ChoiKernel calibrated(int multiprocessors, int at_once, int columns, const std::function<double(int, int)>& phi);

/// Kernels that are calibrated when they are first asked for, and kept in a JSON file.
class ChoiModel {
 public:
  /// `file`: may not exist yet. Throws usage_error where it holds no such parameters, or those of another device.
  ChoiModel(std::string file, Backend& on);
  /// Of a product by one of the paper's kernels: BELLPACK, a thread a block row and as many threads in a block as rows
  /// in a slice. None of other plans. Calibrates its kernel, in about a second, and writes the file.
  std::optional<double> seconds(const Plan& plan, const PatternView& pattern, const Problem& problem);

 private:
  std::string file_;
  Backend& on_;
  Record all_;
};

}  // namespace compound::bench::tune
