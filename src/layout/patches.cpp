#include "patches.hpp"

#include <algorithm>
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
  Encoder(const Layout& layout, idx rows_of_patch, std::span<const count32> start, std::span<const idx> columns,
          idx padding, std::span<idx> words)
      : layout_(layout),
        row_of_(layout.arrays[common_arrays::row_of].as<idx>()),
        rows_of_patch_(rows_of_patch),
        start_(start),
        columns_(columns),
        padding_(padding),
        words_(words),
        place_(static_cast<std::size_t>(layout.positions), none),
        adds_(static_cast<std::size_t>(layout.positions), 0) {}

  void patch(std::size_t number, Found& found) {
    const auto first = static_cast<idx>(number) * rows_of_patch_;
    const idx own = std::min(rows_of_patch_, layout_.positions - first);
    clear_words(first, own);
    const std::size_t before = found.other.size();
    for_each_slot(first, own, [&](idx /*position*/, std::size_t slot) {
      const idx column = columns_[slot];
      if (column < first + own || place_[column] != none) return;
      place_[column] = 0;
      found.other.push_back(column);
    });
    const std::span<idx> other = std::span(found.other).subspan(before);
    std::ranges::sort(other);
    if (other.size() + own > most_places) throw_too_wide(first, own, other.size() + own);
    for (std::size_t n = 0; n < other.size(); ++n) place_[other[n]] = own + static_cast<idx>(n);
    number_turns(first, own);
    for (const idx column : other) place_[column] = none;
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

  /// f(position, slot) of all entries, in the order in which workers come to them: step after step.
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
        if (columns_[slot] != padding_) f(position, slot);
      }
  }

  /// Mirrored products that are for one place in one step come one after the other.
  void number_turns(idx first, idx own) {
    idx lane_before = first + own;
    std::vector<idx>& counted = counted_;
    for_each_slot(first, own, [&](idx position, std::size_t slot) {
      if (position <= lane_before) {  // the next step
        for (const idx column : counted) adds_[column] = 0;
        counted.clear();
      }
      lane_before = position;
      const idx column = columns_[slot], place = column < first + own ? column - first : place_[column];
      int turn = no_turn;
      if (column != row(position)) {
        turn = adds_[column]++;
        counted.push_back(column);
      }
      words_[slot] = static_cast<idx>(static_cast<count32>(place) | static_cast<count32>(turn) << bits_of_place);
    });
    for (const idx column : counted) adds_[column] = 0;
    counted.clear();
  }

  [[noreturn]] void throw_too_wide(idx first, idx own, std::size_t places) const {
    throw error(ErrorKind::argument, "block rows " + std::to_string(first) + " to " + std::to_string(first + own - 1) +
                                         " have " + std::to_string(places) + " block columns, and a patch has " +
                                         std::to_string(most_places) + " at most; use smaller patches (sell:32:64), " +
                                         "or leave half= out");
  }

  const Layout& layout_;
  std::span<const idx> row_of_;
  idx rows_of_patch_;
  std::span<const count32> start_;
  std::span<const idx> columns_;
  idx padding_;
  std::span<idx> words_;
  std::vector<idx> place_, adds_;  ///< of a column of the patch; mirrored products for it in this step
  std::vector<idx> counted_;
};

/// Of each row, where other patches have partial sums for it.
void list_partials(Layout& l, int first, std::span<const count32> other_start, std::span<const idx> other) {
  const auto rows = static_cast<std::size_t>(l.positions);
  std::vector<count32> start(rows + 1, 0), partial(other.size());
  for (const idx row : other) ++start[row + 1];
  for (std::size_t row = 0; row < rows; ++row) start[row + 1] += start[row];
  std::vector<count32> next(start.begin(), start.end() - 1);
  for (std::size_t patch = 0; patch + 1 < other_start.size(); ++patch) {
    const auto rows_before = static_cast<count32>(std::min<slot_t>(slot_t(patch + 1) * l.patch, l.positions));
    for (count32 at = other_start[patch]; at < other_start[patch + 1]; ++at)
      partial[next[other[at]]++] = rows_before + at;
  }
  l.arrays[first + patch_arrays::partial_start] = {"partial_start", std::move(start)};
  l.arrays[first + patch_arrays::partial] = {"partial", std::move(partial)};
}

}  // namespace

void encode_patches(Layout& l, int first, const LayoutSpec& spec, std::span<const count32> start,
                    std::span<const idx> columns, idx padding) {
  constexpr std::size_t slots_of_thread = std::size_t{1} << 20;
  l.patch = spec.sigma;
  const auto patches = static_cast<std::size_t>((l.positions + l.patch - 1) / l.patch);
  const std::size_t threads = std::min(std::max<std::size_t>(patches, 1), threads_for(columns.size(), slots_of_thread));
  LargeVector<idx> words(columns.size());
  std::vector<Found> found(threads);
  for_ranges(patches, threads, [&](std::size_t from, std::size_t to, std::size_t thread) {
    Encoder encoder(l, l.patch, start, columns, padding, {words.data(), words.size()});
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
