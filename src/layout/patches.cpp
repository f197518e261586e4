#include "patches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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
  std::vector<count32> places;  ///< of each patch, so many
  std::vector<idx> column;      ///< of each place
};

/// Encodes patches of one matrix: a thread each.
class Encoder {
 public:
  Encoder(const Layout& layout, std::span<const count32> start, std::span<const idx> columns, idx padding,
          std::span<idx> words, std::span<count32> row_words, idx rows)
      : layout_(layout),
        row_of_(layout.arrays[common_arrays::row_of].as<idx>()),
        start_(start),
        columns_(columns),
        padding_(padding),
        words_(words),
        row_words_(row_words),
        place_(static_cast<std::size_t>(rows), none),
        adds_(static_cast<std::size_t>(rows), 0) {}

  void patch(std::size_t number, Found& found) {
    const auto first = static_cast<idx>(number) * layout_.patch;
    const idx segments = std::min(layout_.patch, layout_.positions - first);
    clear_words(first, segments);
    const std::size_t before = found.column.size();
    const auto find = [&](idx column) {
      if (place_[column] != none) return;
      place_[column] = 0;
      found.column.push_back(column);
    };
    for (idx n = 0; n < segments; ++n) find(row(first + n));
    for_each_slot(first, segments, [&](idx /*step*/, idx /*position*/, std::size_t slot) { find(columns_[slot]); });
    const std::span<idx> column = std::span(found.column).subspan(before);
    if (column.size() > most_places) throw_too_wide(column.size());
    std::ranges::sort(column);
    for (std::size_t n = 0; n < column.size(); ++n) place_[column[n]] = static_cast<idx>(n);
    number_turns(first, segments);
    for (const idx c : column) place_[c] = none;
    found.places.push_back(static_cast<count32>(column.size()));
  }

 private:
  static constexpr idx none = -1;

  idx row(idx position) const { return row_of_.empty() ? position : row_of_[position]; }
  /// The slices of a patch have slots of so many steps, at most.
  idx width(idx slice) const { return static_cast<idx>(start_[slice + 1] - start_[slice]); }

  /// Those of padding stay so.
  void clear_words(idx first, idx segments) const {
    const std::size_t height = layout_.height, from = height * start_[first / height],
                      to = height * start_[(first + segments + height - 1) / height];
    std::ranges::fill(words_.subspan(from, to - from), 0);
  }

  /// f(step, position, slot) of all entries, in the order in which workers come to them: step after step.
  template <class F>
  void for_each_slot(idx first, idx segments, const F& f) const {
    const idx height = layout_.height, from = first / height, to = (first + segments + height - 1) / height;
    idx steps = 0;
    for (idx slice = from; slice < to; ++slice) steps = std::max(steps, width(slice));
    for (idx k = 0; k < steps; ++k)
      for (idx position = first; position < first + segments; ++position) {
        const idx slice = position / height;
        if (k >= width(slice)) continue;
        const std::size_t slot = (std::size_t{start_[slice]} + k) * height + position % height;
        if (columns_[slot] != padding_) f(k, position, slot);
      }
  }

  /// What is added to one place in one step has turns: mirrored products of entries, and in the end the rows' sums.
  void number_turns(idx first, idx segments) {
    idx step_before = none;
    for_each_slot(first, segments, [&](idx step, idx position, std::size_t slot) {
      if (step != step_before) begin_step();
      step_before = step;
      const idx column = columns_[slot];
      words_[slot] = static_cast<idx>(word(column, column == row(position) ? no_turn : next_turn(column)));
    });
    begin_step();
    for (idx n = first; n < first + segments; ++n) row_words_[n] = word(row(n), next_turn(row(n)));
    begin_step();
  }
  void begin_step() {
    for (const idx column : counted_) adds_[column] = 0;
    counted_.clear();
  }
  int next_turn(idx column) {
    counted_.push_back(column);
    return adds_[column]++;
  }
  count32 word(idx column, int turn) const {
    return static_cast<count32>(place_[column]) | static_cast<count32>(turn) << bits_of_place;
  }

  [[noreturn]] void throw_too_wide(std::size_t places) const {
    throw error(ErrorKind::argument, "a patch of " + std::to_string(layout_.patch) + " segments has " +
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
  std::span<count32> row_words_;
  std::vector<idx> place_, adds_;  ///< of a column of the patch; what this step adds to it
  std::vector<idx> counted_;
};

/// Of each row, where patches have partial sums for it.
void list_partials(Layout& l, int first, std::span<const idx> column, idx rows) {
  std::vector<count32> start(static_cast<std::size_t>(rows) + 1, 0), partial(column.size());
  for (const idx row : column) ++start[row + 1];
  for (idx row = 0; row < rows; ++row) start[row + 1] += start[row];
  std::vector<count32> next(start.begin(), start.end() - 1);
  for (std::size_t place = 0; place < column.size(); ++place)
    partial[next[column[place]]++] = static_cast<count32>(place);
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

  /// `segments(row)`: so many segments has a row.
  template <class F>
  std::vector<idx> order(idx segments_of_patch, const F& segments) {
    std::vector<idx> order;
    order.reserve(static_cast<std::size_t>(rows_));
    idx in_patch = 0;
    for (idx row; (row = next_row()) != none;) {
      take(row, order);
      in_patch += segments(row);
      if (in_patch >= segments_of_patch) end_patch();
      in_patch %= segments_of_patch;
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

/// Of a segment, so many entries at most: those of a mean row. A patch takes the steps of its longest segment, which
/// would be those of its longest row.
idx longest_segment(const PatternView& upper) {
  const double mean = double(upper.entries()) / std::max(1, upper.rows);
  return std::max(1, static_cast<idx>(std::ceil(mean)));
}

}  // namespace

Segments segments_of_patches(const PatternView& upper, idx segments_of_patch) {
  if (upper.rows != upper.cols || segments_of_patch < 1)
    throw error(ErrorKind::argument,
                "columns=patch are those of a half of a square matrix, in patches of at least one "
                "segment of rows (sell:32:256 half=symmetric); use columns=32");
  // Regular grids in the order of their axes have up to 3.2, and lose 1 to 7 % by grown patches.
  constexpr double few_columns = 3.3;
  const idx longest = longest_segment(upper);
  const auto segments = [&](idx row) { return 1 + std::max(0, upper.length(row) - 1) / longest; };
  std::size_t all = 0;
  for (idx row = 0; row < upper.rows; ++row) all += segments(row);
  if (all > static_cast<std::size_t>(std::numeric_limits<idx>::max())) throw_beyond_32_bits(all, "segments of rows");
  const auto rows_of_patch =
      static_cast<idx>(std::max<double>(1, double(segments_of_patch) * upper.rows / std::max<std::size_t>(all, 1)));
  std::vector<idx> order(static_cast<std::size_t>(upper.rows));
  if (columns_a_row(upper, rows_of_patch) <= few_columns)
    std::iota(order.begin(), order.end(), 0);
  else
    order = Growth(upper).order(segments_of_patch, segments);

  struct Segment {
    idx row, number, length;
    count32 first;
  };
  std::vector<Segment> stored;
  stored.reserve(all);
  for (const idx row : order) {
    const idx number = segments(row), length = upper.length(row);
    for (idx n = 0; n < number; ++n) {
      const auto from = static_cast<idx>(std::int64_t{length} * n / number),
                 to = static_cast<idx>(std::int64_t{length} * (n + 1) / number);
      stored.push_back({row, n, to - from, upper.start[row] + from});
    }
  }
  // First segments of neighbouring rows stay side by side, and so do their columns.
  const auto comes_before = [](const Segment& a, const Segment& b) {
    return a.length != b.length ? a.length > b.length : a.number < b.number;
  };
  for (std::size_t from = 0; from < all; from += segments_of_patch)
    std::ranges::stable_sort(std::span(stored).subspan(from, std::min<std::size_t>(segments_of_patch, all - from)),
                             comes_before);
  Segments s;
  s.row.reserve(all), s.length.reserve(all), s.first.reserve(all);
  for (const Segment& of : stored) {
    s.row.push_back(of.row);
    s.length.push_back(of.length);
    s.first.push_back(of.first);
  }
  return s;
}

void encode_patches(Layout& l, int first, const LayoutSpec& spec, std::span<const count32> start,
                    std::span<const idx> columns, idx padding) {
  constexpr std::size_t slots_of_thread = std::size_t{1} << 20;
  l.patch = spec.sigma;
  const auto patches = static_cast<std::size_t>((l.positions + l.patch - 1) / l.patch);
  const std::size_t threads = std::min(std::max<std::size_t>(patches, 1), threads_for(columns.size(), slots_of_thread));
  const auto row_of = l.arrays[common_arrays::row_of].as<idx>();  // each row has a position
  const idx rows = row_of.empty() ? l.positions : *std::ranges::max_element(row_of) + 1;
  LargeVector<idx> words(columns.size());
  std::vector<count32> row_words(static_cast<std::size_t>(l.positions));
  std::vector<Found> found(threads);
  for_ranges(patches, threads, [&](std::size_t from, std::size_t to, std::size_t thread) {
    Encoder encoder(l, start, columns, padding, {words.data(), words.size()}, row_words, rows);
    for (std::size_t patch = from; patch < to; ++patch) encoder.patch(patch, found[thread]);
  });
  std::vector<count32> column_start{0};
  std::vector<idx> column;
  std::size_t partials = 0;
  for (const Found& f : found) partials += f.column.size();
  if (partials > ~count32{0}) throw_beyond_32_bits(partials, "partial sums");
  for (const Found& f : found) {
    for (const count32 places : f.places) {
      l.widest = std::max(l.widest, static_cast<idx>(places));
      column_start.push_back(column_start.back() + places);
    }
    column.insert(column.end(), f.column.begin(), f.column.end());
  }
  l.partials = static_cast<slot_t>(partials);
  list_partials(l, first, column, rows);
  l.arrays[first + patch_arrays::word] = {"column_place", std::move(words)};
  l.arrays[first + patch_arrays::row_word] = {"row_place", std::move(row_words)};
  l.arrays[first + patch_arrays::column_start] = {"patch_start", std::move(column_start)};
  l.arrays[first + patch_arrays::column] = {"patch_column", std::move(column)};
}

}  // namespace compound
