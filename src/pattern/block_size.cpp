#include "pattern/block_size.hpp"

#include <algorithm>

namespace compound {

namespace {

constexpr idx window = 840, least_windows = 4;  // 840: a multiple of 1 to 8
constexpr double sampled_share = 0.01;

// The first eleven but 1x1 are the paper's.
constexpr BlockShape sizes[] = {{1, 2}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {3, 4}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8},
                                {1, 1}, {2, 1}, {1, 3}, {3, 1}, {1, 4}, {4, 1}, {2, 4}, {4, 2}, {4, 3}, {3, 6}, {6, 3}};

/// The first rows of the windows, spread over all rows.
std::vector<idx> windows_of(idx rows) {
  const idx count = std::max(least_windows, static_cast<idx>(rows * sampled_share) / window);
  std::vector<idx> first;
  for (idx w = 0; w < count; ++w) first.push_back(rows / count * w / window * window);
  return first;
}

/// Gives windows of columns that are touched new numbers without gaps, so that a sample is small in both directions.
void number_anew(Pattern& sample) {
  std::vector<idx> number(static_cast<std::size_t>(sample.cols / window) + 1, -1);
  for (const idx c : sample.column) number[c / window] = 0;
  idx touched = 0;
  for (idx& n : number)
    if (n == 0) n = touched++;
  for (idx& c : sample.column) c = number[c / window] * window + c % window;
  sample.cols = touched * window;
}

Pattern sample_of(const PatternView& p) {
  Pattern sample{0, p.cols, {0}, {}};
  for (const idx first : windows_of(p.rows))
    for (idx row = first; row < std::min(first + window, p.rows); ++row, ++sample.rows) {
      sample.column.insert(sample.column.end(), p.column.begin() + p.start[row], p.column.begin() + p.start[row + 1]);
      sample.start.push_back(static_cast<count32>(sample.column.size()));
    }
  number_anew(sample);
  return sample;
}

/// The rows that are looked at: all of a small matrix, else a `sample`.
PatternView sampled(const PatternView& pattern, Pattern& sample) {
  if (pattern.rows <= least_windows * window) return pattern;
  sample = sample_of(pattern);
  return sample.view();
}

}  // namespace

std::span<const BlockShape> block_sizes_to_try() { return sizes; }

std::vector<DetectedBlock> block_sizes_by_bytes(const PatternView& pattern, int from,
                                                const std::function<double(const Reblocked&)>& bytes) {
  Pattern sample;
  const PatternView rows = sampled(pattern, sample);
  const BlockShape given{from, from};
  const double as_given = bytes(reblocked(rows, from, given));
  std::vector<DetectedBlock> all = {{given, as_given, as_given}};
  for (const BlockShape block : sizes)
    if (can_be_reblocked(from, block) && block != given)
      all.push_back({block, bytes(reblocked(rows, from, block)), as_given});
  std::ranges::stable_sort(all, {}, &DetectedBlock::bytes);
  return all;
}

DetectedBlock detect_block_size(const PatternView& pattern, int from,
                                const std::function<double(const Reblocked&)>& bytes) {
  return block_sizes_by_bytes(pattern, from, bytes).front();
}

}  // namespace compound
