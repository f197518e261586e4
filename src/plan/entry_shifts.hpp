// EntryRuns of entries that mostly come in their order: one search a run, not one an entry.
#pragma once

#include <algorithm>
#include <limits>

#include "plan/partition.hpp"

namespace compound {

/// What is added to an entry of a part to get that of the whole, as entry_runs::shift(). `runs` must live as long.
class EntryShifts {
 public:
  explicit EntryShifts(const EntryRuns& runs) : runs_(runs) {}
  slot_t operator()(slot_t entry) {
    if (entry < first_ || entry >= end_) find(entry);
    return shift_;
  }

 private:
  void find(slot_t entry) {
    const auto run = static_cast<std::size_t>(std::ranges::upper_bound(runs_.first, entry) - runs_.first.begin()) - 1;
    first_ = runs_.first[run];
    end_ = run + 1 < runs_.first.size() ? slot_t{runs_.first[run + 1]} : std::numeric_limits<slot_t>::max();
    shift_ = slot_t{runs_.of_whole[run]} - first_;
  }

  const EntryRuns& runs_;
  slot_t first_ = 0, end_ = 0, shift_ = 0;
};

}  // namespace compound
