#include "plan/value_order.hpp"

#include <cstring>

#include "device/order_blocks.hpp"

namespace compound {

namespace {

template <class S>
void take_rows(const PatternView& p, BlockShape block, const S* values, S* blocks, idx first, idx end) {
  const slot_t words = static_cast<slot_t>(scalars_in(block));
  for (idx row = first; row < end; ++row) {
    const slot_t length = p.length(row);
    const S* const rows = values + slot_t{p.start[row]} * words;
    for (slot_t k = 0; k < length; ++k)
      for (int j = 0; j < block.cols; ++j)
        for (int i = 0; i < block.rows; ++i) *blocks++ = rows[place_in_rows(length, k, i, j, block.cols)];
  }
}

}  // namespace

void to_blocks(const PatternView& p, const Problem& problem, const void* values, void* blocks, idx first, idx end) {
  const auto take = [&]<class S>(S) {
    take_rows(p, problem.block, static_cast<const S*>(values), static_cast<S*>(blocks), first, end);
  };
  const std::size_t each = bytes_of(problem.scalar);
  if (!needs_order(problem)) {
    const std::size_t block = bytes_of_block(problem), bytes = (p.start[end] - p.start[first]) * block;
    if (bytes > 0) std::memcpy(blocks, static_cast<const std::byte*>(values) + p.start[first] * block, bytes);
  } else if (each == sizeof(float)) {
    take(float{});
  } else if (each == sizeof(double)) {  // or two floats
    take(double{});
  } else {
    take(complex_number<double>{});
  }
}

}  // namespace compound
