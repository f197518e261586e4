#include "row_statistics.hpp"

#include <algorithm>

namespace compound::bench {

namespace {

std::int64_t reduced(MPI_Comm comm, std::int64_t mine, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, op, comm);
  return mine;
}

/// The least number that so many of all ranks' do not exceed; `mine` ascends.
std::int64_t least_above(MPI_Comm comm, const std::vector<std::int64_t>& mine, std::int64_t wanted, std::int64_t least,
                         std::int64_t most) {
  while (least < most) {
    const std::int64_t middle = least + (most - least) / 2;
    const std::int64_t here = std::ranges::upper_bound(mine, middle) - mine.begin();
    if (reduced(comm, here, MPI_SUM) >= wanted)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

}  // namespace

Quartiles quartiles(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  const std::int64_t all = reduced(comm, static_cast<std::int64_t>(numbers.size()), MPI_SUM);
  if (all == 0) return {};
  Quartiles q;
  q.least = reduced(comm, numbers.empty() ? INT64_MAX : numbers.front(), MPI_MIN);
  q.most = reduced(comm, numbers.empty() ? INT64_MIN : numbers.back(), MPI_MAX);
  const auto part = [&](std::int64_t quarters) {
    return least_above(comm, numbers, (quarters * all + 3) / 4, q.least, q.most);
  };
  q.lower = part(1);
  q.median = part(2);
  q.upper = part(3);
  return q;
}

RowQuartiles row_quartiles(MPI_Comm comm, const std::vector<BlockArrays>& parts) {
  const auto rows = static_cast<std::size_t>(parts.front().rows);
  std::vector<std::int64_t> lengths(rows, 0), first(rows, INT64_MAX), last(rows, INT64_MIN);
  for (const BlockArrays& p : parts)
    for (std::size_t r = 0; r < rows; ++r) {
      lengths[r] += p.start[r + 1] - p.start[r];
      for (PetscInt k = p.start[r]; k < p.start[r + 1]; ++k) {
        first[r] = std::min(first[r], p.global(p.column[k]));
        last[r] = std::max(last[r], p.global(p.column[k]));
      }
    }
  for (std::size_t r = 0; r < rows; ++r) last[r] = lengths[r] > 0 ? last[r] - first[r] : 0;
  return {quartiles(comm, std::move(lengths)), quartiles(comm, std::move(last))};
}

}  // namespace compound::bench
