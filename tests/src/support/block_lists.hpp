// Random lists of contributions to the blocks of a pattern, as assembly by coordinates has them, on one process of
// several.
#pragma once

#include <vector>

#include "backend/diagonal_args.hpp"
#include "backend/value_work.hpp"
#include "device/pack_sums.hpp"
#include "pattern/pattern.hpp"
#include "support/blocks.hpp"
#include "support/random.hpp"

namespace compound::test {

/// Each block has 0 to 4 contributions in one of two shapes, and every third one another list beside that.
struct BlockLists {
  struct Lists {
    std::vector<slot_t> first{0}, index;
    std::vector<unsigned char> shape;
    std::vector<double> values;  ///< that the contributions are among
  };
  Lists own, others;
  std::vector<int> other;
  std::vector<int> offset;                 ///< [2][side][side]
  std::vector<slot_t> place, of_others;    ///< where the blocks begin among all values
  std::vector<int> stride, others_stride;  ///< from a line of them to the next
  int side;
  bool by_rows;

  /// `by_rows`: all values are in the order of rows, as AIJ has them; else each block is column-major.
  BlockLists(const Pattern& pattern, int side_of_block, bool in_rows, std::uint64_t seed)
      : side(side_of_block), by_rows(in_rows) {
    Random random(seed);
    const int words = side * side;
    for (int w = 0; w < words; ++w) offset.push_back(words - 1 - w);
    for (int w = 0; w < words; ++w) offset.push_back(2 * w);
    for (idx row = 0; row < pattern.rows; ++row)
      for (count32 e = pattern.start[row]; e < pattern.start[row + 1]; ++e) {
        const slot_t first = pattern.start[row], length = slot_t(pattern.start[row + 1]) - first;
        place.push_back(by_rows ? first * words + (e - first) * side : slot_t{e} * words);
        stride.push_back(by_rows ? static_cast<int>(length) * side : side);
        add(own, random.below(5), random);
        other.push_back(e % 3 == 0 ? static_cast<int>(of_others.size()) : -1);
        if (e % 3 != 0) continue;
        add(others, 1 + random.below(3), random);
        of_others.push_back(place.back());
        others_stride.push_back(stride.back());
      }
    for (Lists* l : {&own, &others}) l->values = random_vector<double>(l->index.size() + 1000, random);
  }

  /// What the host adds up, where full blocks have it.
  std::vector<double> summed() const {
    std::vector<double> to(place.size() * side * side, 1e9);
    backend("host").sum(task(own, place, stride, Update::assign, to.data()));
    backend("host").sum(task(others, of_others, others_stride, Update::add, to.data()));
    return to;
  }

  SumTask task(const Lists& l, const std::vector<slot_t>& at, const std::vector<int>& apart, Update update,
               double* to) const {
    return {{},
            static_cast<slot_t>(at.size()),
            l.first.data(),
            l.index.data(),
            at.data(),
            l.values.data(),
            to,
            update,
            side,
            offset.data(),
            l.shape.data(),
            apart.data()};
  }

  block_sums sums() const {
    return {sum_args(task(own, place, stride, Update::assign, nullptr)),
            sum_args(task(others, of_others, others_stride, Update::add, nullptr)), other.data(), by_rows};
  }

 private:
  static void add(Lists& l, int contributions, Random& random) {
    for (; contributions > 0; --contributions) {
      l.index.push_back(random.below(900));
      l.shape.push_back(static_cast<unsigned char>(random.below(2)));
    }
    l.first.push_back(static_cast<slot_t>(l.index.size()));
  }
};

}  // namespace compound::test
