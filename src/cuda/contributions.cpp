#include "cuda/contributions.hpp"

#include <algorithm>
#include <numeric>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "device/contributions.hpp"

namespace compound::cuda {

namespace {

/// [numbers + 1], where the things of each begin that there are so many of.
std::vector<count32> starts_of(const std::vector<count32>& numbers) {
  std::vector<count32> start(numbers.size() + 1, 0);
  std::partial_sum(numbers.begin(), numbers.end(), start.begin() + 1);
  return start;
}

}  // namespace

std::optional<ContributionLists> list_contributions(Backend& on, const ContributionsTask& t, cudaStream_t queue) {
  const auto rows = static_cast<std::size_t>(t.rows);
  if (t.count > most_contributions || rows == 0) return {};
  const auto run = [&](ContributionStep step, const contribution_args& args) {
    const slot_t workers = by_contributions(step) ? t.count : slot_t{t.rows} * 32;
    launch_workers(kernel_of(contribution_source(step, t.index_bytes)), workers, args, queue);
  };
  contribution_args a;
  a.count = t.count;
  a.row = t.row;
  a.column = t.column;
  a.rows = t.rows;
  a.cols = t.cols;
  a.side = t.side;
  a.scalar = t.scalar;
  a.shape_of = t.shape;

  const Buffer<count32> taken(on, rows), wrong(on, 1);
  check(cudaMemsetAsync(wrong.data(), 0xff, sizeof(count32), queue), "preparing to count");
  on.clear(taken.data(), taken.bytes());
  a.taken = taken.data();
  a.wrong = wrong.data();
  run(ContributionStep::count, a);
  count32 found;
  std::vector<count32> of_rows(rows);
  on.download(&found, wrong.data(), sizeof found);
  on.download(of_rows.data(), taken.data(), taken.bytes());
  if (found != ~count32{0} || *std::ranges::max_element(of_rows) > count32{most_contributions_of_row}) return {};

  const std::vector<count32> starts = starts_of(of_rows);
  const Buffer<count32> start(on, std::span<const count32>(starts));
  const Buffer<unsigned long long> key(on, starts.back());
  a.start = start.data();
  a.key = key.data();
  a.blocks = taken.data();
  run(ContributionStep::put, a);
  run(ContributionStep::sort, a);
  on.download(of_rows.data(), taken.data(), taken.bytes());

  ContributionLists lists;
  lists.start = starts_of(of_rows);
  const slot_t blocks = lists.start.back();
  const Buffer<count32> block_start(on, std::span<const count32>(lists.start));
  const Buffer<idx> column(on, blocks);
  lists.index = Buffer<slot_t>(on, starts.back());
  if (blocks != starts.back()) lists.first = Buffer<slot_t>(on, blocks + 1);
  if (t.shape) lists.shape = Buffer<unsigned char>(on, starts.back());
  if (t.by_rows) {
    lists.place = Buffer<slot_t>(on, blocks);
    lists.stride = Buffer<int>(on, blocks);
  }
  a.block_start = block_start.data();
  a.block_column = column.data();
  a.first = lists.first.data();
  a.index = lists.index.data();
  a.shape = lists.shape.data();
  a.place = lists.place.data();
  a.stride = lists.stride.data();
  run(ContributionStep::list, a);
  lists.column.resize(blocks);
  if (blocks > 0) on.download(lists.column.data(), column.data(), column.bytes());
  on.synchronize();  // before what it reads is released
  return lists;
}

}  // namespace compound::cuda
