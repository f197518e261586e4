#include "patches.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "../device/layout/columns.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

constexpr std::size_t most_places = no_turn;

/// What a thread has found of its patches, one after the other.
struct Found {
  std::vector<count32> others;  ///< of each patch, so many
  std::vector<idx> other;
};

/// Encodes patches of one matrix: a thread each.
class Encoder {
 public:
  Encoder(const Layout& layout, std::span<const count32> start, std::span<const idx> columns, idx padding,
          std::span<idx> words)
      : layout_(layout),
        row_of_(layout.arrays[common_arrays::row_of].as<idx>()),
        start_(start),
        columns_(columns),
        padding_(padding),
        words_(words),
        place_(static_cast<std::size_t>(layout.positions), none),
        adds_(static_cast<std::size_t>(layout.positions), 0) {}

  void patch(std::size_t number, Found& found) {
    const auto first = static_cast<idx>(number) * layout_.patch;
    const idx own = std::min(layout_.patch, layout_.positions - first);
    clear_words(first, own);
    for (idx n = 0; n < own; ++n) place_[row(first + n)] = n;
    const std::size_t before = found.other.size();
    for_each_slot(first, own, [&](idx /*step*/, idx /*position*/, std::size_t slot) {
      idx& place = place_[columns_[slot]];
      if (place != none) return;
      place = 0;
      found.other.push_back(columns_[slot]);
    });
    const std::span<idx> other = std::span(found.other).subspan(before);
    std::ranges::sort(other);
    if (other.size() + own > most_places) throw_too_wide(other.size() + own);
    for (std::size_t n = 0; n < other.size(); ++n) place_[other[n]] = own + static_cast<idx>(n);
    number_turns(first, own);
    for (const idx column : other) place_[column] = none;
    for (idx n = 0; n < own; ++n) place_[row(first + n)] = none;
    found.others.push_back(static_cast<count32>(other.size()));
  }

 private:
  static constexpr idx none = -1;

  idx row(idx position) const { return row_of_.empty() ? position : row_of_[position]; }
  /// The slices of a patch have slots of so many steps, at most.
  idx width(idx slice) const { return static_cast<idx>(start_[slice + 1] - start_[slice]); }

  /// Those of padding stay so.
  void clear_words(idx first, idx own) const {
    const std::size_t height = layout_.height, from = height * start_[first / height],
                      to = height * start_[(first + own + height - 1) / height];
    std::ranges::fill(words_.subspan(from, to - from), 0);
  }

  /// f(step, position, slot) of all entries, in the order in which workers come to them: step after step.
  template <class F>
  void for_each_slot(idx first, idx own, const F& f) const {
    const idx height = layout_.height, from = first / height, to = (first + own + height - 1) / height;
    idx steps = 0;
    for (idx slice = from; slice < to; ++slice) steps = std::max(steps, width(slice));
    for (idx k = 0; k < steps; ++k)
      for (idx position = first; position < first + own; ++position) {
        const idx slice = position / height;
        if (k >= width(slice)) continue;
        const std::size_t slot = (std::size_t{start_[slice]} + k) * height + position % height;
        if (columns_[slot] != padding_) f(k / entries_of_step, position, slot);
      }
  }

  /// Mirrored products that are for one place in one step come one after the other.
  void number_turns(idx first, idx own) {
    idx step_before = none;
    const auto begin_step = [&] {
      for (const idx column : counted_) adds_[column] = 0;
      counted_.clear();
    };
    for_each_slot(first, own, [&](idx step, idx position, std::size_t slot) {
      if (step != step_before) begin_step();
      step_before = step;
      const idx column = columns_[slot];
      int turn = no_turn;
      if (column != row(position)) {
        turn = adds_[column]++;
        counted_.push_back(column);
      }
      words_[slot] =
          static_cast<idx>(static_cast<count32>(place_[column]) | static_cast<count32>(turn) << bits_of_place);
    });
    begin_step();
  }

  [[noreturn]] void throw_too_wide(std::size_t places) const {
    throw error(ErrorKind::argument, "a patch of " + std::to_string(layout_.patch) + " block rows has " +
                                         std::to_string(places) + " block columns, and " + std::to_string(most_places) +
                                         " at most can be numbered; use smaller " +
                                         "patches (sell:32:64), or leave half= out");
  }

  const Layout& layout_;
  std::span<const idx> row_of_;
  std::span<const count32> start_;
  std::span<const idx> columns_;
  idx padding_;
  std::span<idx> words_;
  std::vector<idx> place_, adds_;  ///< of a column of the patch; mirrored products for it in this step
  std::vector<idx> counted_;
};

/// Of each row, where patches have partial sums for it.
void list_partials(Layout& l, int first, std::span<const count32> other_start, std::span<const idx> other) {
  const auto rows = static_cast<std::size_t>(l.positions);
  const auto row_of = l.arrays[common_arrays::row_of].as<idx>();
  std::vector<count32> start(rows + 1, 0), partial(static_cast<std::size_t>(l.partials));
  for (std::size_t row = 0; row < rows; ++row) start[row + 1] = 1;  // its own patch's
  for (const idx row : other) ++start[row + 1];
  for (std::size_t row = 0; row < rows; ++row) start[row + 1] += start[row];
  std::vector<count32> next(start.begin(), start.end() - 1);
  count32 place = 0;
  for (std::size_t patch = 0; patch + 1 < other_start.size(); ++patch) {
    const std::size_t begin = patch * l.patch, end = std::min(begin + l.patch, rows);
    for (std::size_t position = begin; position < end; ++position)
      partial[next[row_of.empty() ? position : row_of[position]]++] = place++;
    for (count32 at = other_start[patch]; at < other_start[patch + 1]; ++at) partial[next[other[at]]++] = place++;
  }
  l.arrays[first + patch_arrays::partial_start] = {"partial_start", std::move(start)};
  l.arrays[first + patch_arrays::partial] = {"partial", std::move(partial)};
}

/// Rows patch after patch: the next row of a patch is the one with the most neighbours in it; a patch begins beside
/// those before it. Neighbours of a row: the rows that have it as a column, and its columns.
class Growth {
 public:
  explicit Growth(const PatternView& upper)
      : upper_(upper),
        lower_(transposed(upper).pattern),
        links_(static_cast<std::size_t>(upper.rows), 0),
        rows_(upper.rows) {}

  std::vector<idx> order(idx rows_of_patch) {
    std::vector<idx> order;
    order.reserve(static_cast<std::size_t>(rows_));
    for (idx row; (row = next_row()) != none;) {
      take(row, order);
      if (order.size() % rows_of_patch == 0) end_patch();
    }
    return order;
  }

 private:
  static constexpr idx none = -1, taken = -1;
  static constexpr std::size_t most_links = 64;

  /// Of the patch that grows; where it has no neighbours any more, one beside the patches before, or the first.
  idx next_row() {
    for (std::size_t links = most_links; links > 0; --links)
      while (!by_links_[links].empty()) {
        const idx row = by_links_[links].back();
        by_links_[links].pop_back();
        if (links_[row] != taken && std::min<std::size_t>(links_[row], most_links) == links) return row;
      }
    for (; next_beside_ < beside_.size(); ++next_beside_)
      if (links_[beside_[next_beside_]] != taken) return beside_[next_beside_];
    for (; first_ < rows_; ++first_)
      if (links_[first_] != taken) return first_;
    return none;
  }
  void take(idx row, std::vector<idx>& order) {
    links_[row] = taken;
    order.push_back(row);
    for (const PatternView& of : {lower_.view(), upper_})
      for (const idx other : of.column.subspan(of.start[row], of.length(row))) {
        if (links_[other] == taken) continue;
        if (links_[other]++ == 0) touched_.push_back(other);
        by_links_[std::min<std::size_t>(links_[other], most_links)].push_back(other);
      }
  }
  void end_patch() {
    for (const idx row : touched_)
      if (links_[row] != taken) {
        links_[row] = 0;
        beside_.push_back(row);
      }
    touched_.clear();
    for (auto& rows : by_links_) rows.clear();
  }

  PatternView upper_;
  Pattern lower_;
  std::vector<idx> links_;  ///< of a row with the patch that grows, or `taken`
  std::array<std::vector<idx>, most_links + 1> by_links_;
  std::vector<idx> touched_, beside_;
  std::size_t next_beside_ = 0;
  idx first_ = 0, rows_;
};

/// Columns of patches of rows in their order, of so many patches spread over the matrix, for each of their rows.
double columns_a_row(const PatternView& upper, idx rows_of_patch) {
  constexpr idx samples = 64;
  const idx patches = (upper.rows + rows_of_patch - 1) / rows_of_patch, step = std::max(1, patches / samples);
  std::vector<idx> columns;
  double all = 0, rows = 0;
  for (idx patch = 0; patch < patches; patch += step) {
    const idx first = patch * rows_of_patch, own = std::min(rows_of_patch, upper.rows - first);
    columns.clear();
    for (idx row = first; row < first + own; ++row)
      for (const idx column : upper.column.subspan(upper.start[row], upper.length(row)))
        if (column < first || column >= first + own) columns.push_back(column);
    std::ranges::sort(columns);
    all += own + double(std::ranges::unique(columns).begin() - columns.begin());
    rows += own;
  }
  return rows == 0 ? 1 : all / rows;
}

}  // namespace

std::vector<idx> patch_order(const PatternView& upper, idx rows_of_patch) {
  // Regular grids in the order of their axes have up to 3.2, and lose 1 to 7 % by grown patches.
  constexpr double few_columns = 3.3;
  std::vector<idx> order(static_cast<std::size_t>(upper.rows));
  if (columns_a_row(upper, rows_of_patch) <= few_columns)
    std::iota(order.begin(), order.end(), 0);
  else
    order = Growth(upper).order(rows_of_patch);
  const auto is_longer = [&](idx a, idx b) { return upper.length(a) > upper.length(b); };
  for (std::size_t from = 0; from < order.size(); from += rows_of_patch)
    std::ranges::stable_sort(std::span(order).subspan(from, std::min<std::size_t>(rows_of_patch, order.size() - from)),
                             is_longer);
  return order;
}

void encode_patches(Layout& l, int first, const LayoutSpec& spec, std::span<const count32> start,
                    std::span<const idx> columns, idx padding) {
  constexpr std::size_t slots_of_thread = std::size_t{1} << 20;
  l.patch = spec.sigma;
  const auto patches = static_cast<std::size_t>((l.positions + l.patch - 1) / l.patch);
  const std::size_t threads = std::min(std::max<std::size_t>(patches, 1), threads_for(columns.size(), slots_of_thread));
  LargeVector<idx> words(columns.size());
  std::vector<Found> found(threads);
  for_ranges(patches, threads, [&](std::size_t from, std::size_t to, std::size_t thread) {
    Encoder encoder(l, start, columns, padding, {words.data(), words.size()});
    for (std::size_t patch = from; patch < to; ++patch) encoder.patch(patch, found[thread]);
  });
  std::vector<count32> other_start{0};
  std::vector<idx> other;
  for (const Found& f : found) {
    for (const count32 others : f.others) {
      const idx own = std::min<idx>(l.patch, l.positions - static_cast<idx>(other_start.size() - 1) * l.patch);
      l.widest = std::max(l.widest, own + static_cast<idx>(others));
      other_start.push_back(other_start.back() + others);
    }
    other.insert(other.end(), f.other.begin(), f.other.end());
  }
  l.partials = slot_t{l.positions} + static_cast<slot_t>(other.size());
  if (l.partials > ~count32{0}) throw_beyond_32_bits(static_cast<std::uint64_t>(l.partials), "partial sums");
  list_partials(l, first, other_start, other);
  l.arrays[first + patch_arrays::word] = {"column_place", std::move(words)};
  l.arrays[first + patch_arrays::other_start] = {"patch_start", std::move(other_start)};
  l.arrays[first + patch_arrays::other] = {"patch_column", std::move(other)};
}

}  // namespace compound
