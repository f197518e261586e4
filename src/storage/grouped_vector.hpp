// A vector in groups of uneven size, each padded to a block, in a backend's memory.
#pragma once

#include "backend/backend.hpp"
#include "pattern/reblock.hpp"

namespace compound {

/// Room for a vector in groups; where groups are full, vectors are used as they are and there is none. The grouping
/// must live as long.
template <class S>
class GroupedVector {
 public:
  GroupedVector(const Grouping& grouping, Backend& on);

  /// The vector in groups, zeros between them: here, or x itself where groups are full.
  const S* take(const S* x) const;
  /// Where a product is to write what give() then brings to y.
  S* room(S* y) const { return grouping_->is_full() ? y : blocks_.data(); }
  void give(S* y) const;

  std::size_t bytes() const { return blocks_.bytes() + first_.bytes() + number_.bytes() + place_.bytes(); }

 private:
  SumTask task(slot_t sums, const slot_t* first, const slot_t* index, const S* from, S* to) const {
    return {scalar_type_of<S>(), sums, first, index, nullptr, from, to, Update::assign};
  }

  const Grouping* grouping_;
  Backend* on_;
  Buffer<S> blocks_;
  // Of a device, which copies by lists: each place in the groups has one scalar or none, each scalar one place.
  Buffer<slot_t> first_;   ///< [places + 1] scalars before each place
  Buffer<slot_t> number_;  ///< [scalars + 1] 0, 1, 2, ...
  Buffer<slot_t> place_;   ///< [scalars]
};

}  // namespace compound
