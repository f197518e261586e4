// Random numbers that are the same on every machine, and numberings of rows by them.
#pragma once

#include <cstdint>
#include <vector>

namespace compound::bench {

/// splitmix64: a good 64-bit hash of its argument, and a random stream when the argument counts.
constexpr std::uint64_t mixed(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// A symmetric permutation that is random within windows of rows; the same on every machine and number of ranks.
class Shuffle {
 public:
  /// window <= 1: nothing moves. window >= rows: anything may go anywhere.
  Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed);
  /// The row that node `row` is numbered as, and back.
  std::int64_t number_of(std::int64_t row) const { return identity() ? row : number_[static_cast<std::size_t>(row)]; }
  std::int64_t node_of(std::int64_t row) const { return identity() ? row : node_[static_cast<std::size_t>(row)]; }
  bool identity() const { return number_.empty(); }

 private:
  std::vector<std::uint32_t> number_, node_;
};

}  // namespace compound::bench
