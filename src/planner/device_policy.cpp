// What the limits rest on is in docs/performance.md.
#include "planner/device_policy.hpp"

#include <algorithm>
#include <array>

namespace compound {

namespace {

template <std::size_t n, std::size_t m>
constexpr std::array<FormRow, n + m> joined(const std::array<FormRow, n>& first, const FormRow (&later)[m]) {
  std::array<FormRow, n + m> all = {};
  std::ranges::copy(first, all.begin());
  std::ranges::copy(later, all.begin() + n);
  return all;
}

namespace h200 {

/// Few rows, uneven ones, or blocks too large for one worker's registers: many workers a block row.
constexpr FormRow shared_rows[] = {
    {.form = {"csr", Traversal::rows, 16, 1, 128, 8}, .size = 3, .mean_row = 16},
    {.form = {"csr", Traversal::rows, 32, 1, 128, 8}, .size = 3},
    {.form = {"csr", Traversal::components, 32, 1, 128, 12}, .size = 4},
    {.form = {"csr", Traversal::rows, 32, 1, 128, 8}, .size = 7},
    {.form = {"csr", Traversal::components, 32, 2, 128, 8}},
};
/// Compressed rows where an option asks for them, however many and short the rows are.
constexpr auto compressed_rows =
    joined(std::array<FormRow, 2>{{
               {.form = {"csr", Traversal::rows, 4, 2, 128, 12}, .most_lanes = 32, .size = 1},
               {.form = {"csr", Traversal::rows, 8, 1, 128, 8}, .most_lanes = 16, .size = 3, .mean_row = 10},
           }},
           shared_rows);
/// So few that each is a warp's whole work, an entry of its own for each lane: coarse levels of multigrid. Very long
/// ones are shared by more workers than a warp has.
constexpr FormRow few_rows[] = {
    {.form = {"csr", Traversal::rows, 32, 1, 128, 8}, .size = 4},
    {.form = {"csr", Traversal::rows, 32, 1, 128, 8}, .mean_row = 250},
    {.form = {"ccoo:128:1", Traversal::slots, 1, 1, 128, 4}},
};
/// Blocks of up to 2x2 in no order: x comes from all over, and compressed rows with half a warp each wait least for it,
/// where there are entries for all of it.
constexpr FormRow half_warps_by_rows[] = {
    {.form = {"sell:32", Traversal::rows, 1, 2, 128, 8}, .size = 1, .mean_row = 12},
    {.form = {"csr", Traversal::rows, 16, 2, 128, 8}}};
constexpr FormRow half_warps[] = {{.form = {"csr", Traversal::components, 16, 1, 128, 12}}};
/// Rows that are no measure of work: pieces of the same number of entries.
constexpr FormRow chunks[] = {
    {.form = {"ccoo:128:4", Traversal::slots, 1, 1, 128, 12}, .size = 1},
    {.form = {"ccoo:128:1", Traversal::slots, 1, 1, 128, 8}},
};
/// The same for the few rows that are much longer than the others: more workers with less each.
constexpr FormRow chunks_of_part[] = {
    {.form = {"ccoo:128", Traversal::slots, 1, 1, 128, 8}, .size = 1},
    {.form = {"ccoo:128:1", Traversal::slots, 1, 1, 128, 8}},
};
/// What may be faster than either.
constexpr FormRow warps_by_rows[] = {{.form = {"csr", Traversal::rows, 32, 1, 128, 8}}};
/// Scalars: one worker a row, two for long rows while there are few.
constexpr FormRow few_scalars[] = {
    {.form = {"sell:32", Traversal::rows, 1, 2, 128, 8}, .mean_row = 12},
    {.form = {"sell:32", Traversal::rows, 2, 1, 128, 8}},
};
/// One worker a scalar row, or some.
constexpr FormRow scalar_rows[] = {
    {.form = {"sell:32", Traversal::components, 1, 2, 128, 8}, .most_lanes = 4, .size = 2},
    {.form = {"sell:32", Traversal::components, 1, 1, 128, 8}, .most_lanes = 4, .size = 5},
    {.form = {"bellpack:32", Traversal::components, 2, 4, 128, 8}, .size = 6},
    {.form = {"sell:32", Traversal::components, 1, 1, 128, 8}, .most_lanes = 4},
};
/// One worker a block row, for matrices with rows enough for all of a device; 3x3 two, which have more loads under way,
/// in slices of rows sorted by length, which pad least.
constexpr FormRow block_rows[] = {
    {.form = {"sell:32", Traversal::rows, 1, 2, 128, 8}, .size = 2},
    {.form = {"bellpack:32", Traversal::rows, 2, 2, 128, 4}, .most_lanes = 4, .size = 3},
    {.form = {"sell:32", Traversal::rows, 1, 1, 128, 4}},
};

// 4200 rows: a warp each is less than half of the device's 132 multiprocessors of 2048 threads. 40000 rows: one worker
// each is enough for blocks that keep it busy, 100000 for smaller ones. 8400 rows of 3x3, some of them long, are too
// few slices for all multiprocessors to have some of each length. Beyond 8x8 a block row's x and sums are too many for
// one worker. Uneven rows: padded slices would waste memory on a few long ones, and one worker each time.
constexpr Case dense[] = {
    {.forms = few_rows, .least_size = 4, .most_size = 4, .most_rows = 3000},
    {.forms = few_rows, .least_size = 5, .most_size = 7, .most_rows = 4200},
    {.forms = few_rows, .least_size = 8, .most_size = 8, .most_rows = 800},
    {.forms = shared_rows, .most_rows = 4200},
    {.forms = shared_rows, .least_size = 3, .most_size = 3, .most_rows = 8400, .rows = RowShape::varied},
    {.forms = shared_rows, .least_size = 9},
    {.forms = chunks, .most_size = 3, .rows = RowShape::long_ones},
    {.forms = shared_rows, .rows = RowShape::uneven},
    {.forms = block_rows, .least_size = 3, .most_size = 3},
    {.forms = block_rows, .most_size = 2, .least_rows = 1e5},
    {.forms = block_rows, .least_size = 4, .least_rows = 40000},
    {.forms = half_warps_by_rows, .most_size = 2, .rows = RowShape::scattered},
    {.forms = half_warps, .least_size = 4, .most_size = 4, .most_rows = 8400},
    {.forms = shared_rows, .least_size = 8},
    {.forms = few_scalars, .most_size = 1},
    {.forms = scalar_rows},
};
constexpr Variation near_dense[] = {
    {.forms = shared_rows, .least_lanes = 16, .most_lanes = 32, .most_unroll = 2},
    {.forms = warps_by_rows, .least_lanes = 8, .most_lanes = 32, .most_unroll = 1, .most_size = 8},
    {.forms = scalar_rows, .least_lanes = 1, .most_lanes = 4, .most_unroll = 2},
    {.forms = block_rows, .least_lanes = 1, .most_lanes = 2, .most_unroll = 3, .most_size = 8},
};

/// Few words, which every worker of a row needs whole: kinds go by block rows. Few rows, uneven ones, and those of
/// which the longest would keep a single worker busy for longer than all the others take, have a quarter of a warp
/// each.
constexpr FormRow quarter_warps[] = {{.form = {"csr", Traversal::rows, 8, 1, 128, 8}}};
constexpr FormRow compressed_kinds[] = {
    {.form = {"csr", Traversal::rows, 4, 1, 128, 8}, .most_lanes = 8, .size = 4, .mean_row = 10},
    quarter_warps[0],
};
/// One worker each where there are rows enough, but several where blocks are large: each has sums and x of as many
/// registers.
constexpr FormRow kind_slices[] = {
    {.form = {"sell:32", Traversal::rows, 1, 4, 128, 8}, .most_lanes = 8, .size = 4},
    {.form = {"sell:32", Traversal::rows, 2, 1, 128, 8}, .most_lanes = 4, .size = 8},
    {.form = {"sell:32", Traversal::rows, 4, 1, 128, 4}, .most_lanes = 8},
};
/// Slices of rows sorted by length, which pad least.
constexpr FormRow sorted_kind_slices[] = {{.form = {"bellpack:32", Traversal::rows, 1, 4, 128, 8}, .most_lanes = 2}};
constexpr Case kinds[] = {
    {.forms = quarter_warps, .most_size = 4, .most_rows = 10000},
    {.forms = quarter_warps, .least_size = 5, .most_size = 8, .most_rows = 1000},
    {.forms = quarter_warps, .least_size = 9, .most_rows = 1e9},
    {.forms = quarter_warps, .rows = RowShape::uneven},
    {.forms = quarter_warps, .most_size = 4, .rows = RowShape::lagging},
    {.forms = sorted_kind_slices, .most_size = 4, .rows = RowShape::varied},
    {.forms = kind_slices},
};
constexpr Variation near_kinds[] = {
    {.forms = quarter_warps, .least_lanes = 4, .most_lanes = 16, .most_unroll = 2},
    {.forms = kind_slices, .least_lanes = 1, .most_lanes = 8, .most_unroll = 2},
};

// Of dense blocks: other kinds have parts by tuning, since all that this gives is built in. A part takes about 4
// microseconds more, whatever is in it, and gains a seventh of a product and more: from 27 us on. Entries in chunks of
// coordinates take 2.2 times as long as in slices: with a quarter of them there, all are slower than even rows in
// slices by a third, which is what separates these from cuSPARSE's compressed rows.
constexpr PartsRule long_rows_apart = {
    .forms = chunks_of_part, .least_entries = 1e6, .much_longer = 4, .most_share = 0.25};

}  // namespace h200

constexpr DevicePolicy policies[] = {
    {.device = "NVIDIA H200",
     .cached_bytes = 50e6,
     .bytes_of_step = 1.2e6,
     .dense = {h200::dense, h200::compressed_rows, h200::scalar_rows, 65536, 4, h200::near_dense,
               h200::long_rows_apart},
     .kinds = {h200::kinds, h200::compressed_kinds, h200::kind_slices, 80000, 3, h200::near_kinds}},
};

}  // namespace

std::span<const DevicePolicy> device_policies() { return policies; }

}  // namespace compound
