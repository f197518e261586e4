// From full blocks in pattern order to the words of a layout's slots.
#pragma once

#include "entry_runs.hpp"
#include "layout/listed_rows.hpp"
#include "layout/words.hpp"
#include "order_blocks.hpp"

namespace compound {

/// One full block, read by row and column: column-major unless it says otherwise.
template <class S>
struct full_block {
  const S* first;
  int rows;
  slot_t down = 1, across = rows;  ///< from a scalar to the next in its column, and in its row
  COMPOUND_FN S operator()(int i, int j) const { return first[i * down + j * across]; }
};

/// What packing reads and writes. `blocks`: [entries][cols][rows], each block column-major, as in PETSc's BAIJ; or,
/// where `start` is given, all values in the order of rows, as in AIJ (order_blocks.hpp).
template <class Entry, class Stored, class MatrixWords>
struct packing {
  using entry_type = Entry;
  using scalar = typename Entry::scalar;

  Entry entry;
  MatrixWords matrix_words;
  const scalar* blocks = nullptr;  ///< of the entries from `from` on
  Stored* values = nullptr;
  slot_t from = 0;
  const count32* start = nullptr;  ///< [rows + 1] entries before each block row
  idx rows = 0;

  /// That has entry `e`, where that matters.
  COMPOUND_FN idx row_of(slot_t e) const {
    idx row = 0;
    for (idx beyond = start ? rows : 0; beyond - row > 1;) {
      const idx middle = row + (beyond - row) / 2;
      if (slot_t(start[middle]) <= e)
        row = middle;
      else
        beyond = middle;
    }
    return row;
  }
  COMPOUND_FN full_block<scalar> block(slot_t e, idx row) const {
    const slot_t words = slot_t(entry.rows()) * entry.cols();
    if (!start) return {blocks + (e - from) * words, entry.rows()};
    const slot_t first = start[row], length = slot_t(start[row + 1]) - first;
    return {blocks + first * words + place_in_rows(length, e - first, 0, 0, entry.cols()), entry.rows(),
            length * entry.cols(), 1};
  }
};

/// Words of the largest block of a kind.
template <class Entry>
COMPOUND_FN constexpr int most_words_of() {
  if constexpr (requires { Entry::word_count; })
    return Entry::word_count;
  else if constexpr (requires { Entry::block_rows; })
    return Entry::block_rows * Entry::block_cols;
  else
    return 1;
}

/// What a worker reads before it writes: a compiler does not know that one is not on the other, and on a device each
/// read would wait for the write before it.
inline constexpr int most_words_held = 64;

template <class S, int most>
struct held_block {
  S scalar[most];
  int rows;
  COMPOUND_FN S operator()(int i, int j) const { return scalar[i + j * rows]; }
};

/// The full block of an entry of a block row: kinds of fewer words read of it what they need.
template <class Packing>
COMPOUND_FN auto block_at(const Packing& p, slot_t entry, idx row) {
  const full_block<typename Packing::scalar> block = p.block(entry, row);
  using Entry = typename Packing::entry_type;
  if constexpr (!requires { Entry::word_count; } && most_words_of<Entry>() <= most_words_held) {
    held_block<typename Packing::scalar, most_words_of<Entry>()> held;
    held.rows = p.entry.rows();
    for (int j = 0; j < p.entry.cols(); ++j)
      for (int i = 0; i < p.entry.rows(); ++i) held.scalar[i + j * p.entry.rows()] = block(i, j);
    return held;
  } else {
    return block;
  }
}

/// Fills one slot from pattern entry `entry`, of block row `row`.
template <class Packing>
COMPOUND_FN void pack_slot(const Packing& p, slot_t slot, slot_t entry, idx row) {
  using word = typename Packing::entry_type::word;
  const auto words = p.matrix_words.at(p.entry, p.values, slot);
  p.entry.from_block(block_at(p, entry, row), [&](int i, int j, word w) { words.put(i, j, w); });
}
template <class Packing>
COMPOUND_FN void pack_slot(const Packing& p, slot_t slot, slot_t entry) {
  pack_slot(p, slot, entry, p.row_of(entry));
}

/// A padding slot gets words 0: vector code multiplies them by 0 (by nothing else, and plain code not at all).
template <class Packing>
COMPOUND_FN void pack_padding(const Packing& p, slot_t slot) {
  const auto words = p.matrix_words.at(p.entry, p.values, slot);
  for (int i = 0; i < p.entry.word_rows(); ++i)
    for (int j = 0; j < p.entry.word_cols(); ++j) words.put(i, j, typename Packing::entry_type::word{});
}

/// Fills listed slots, padding too.
template <class Packing>
COMPOUND_FN void pack_slots(const Packing& p, const slot_lists& l) {
  for (slot_t n = 0; n < l.slots; ++n)
    if (l.entry[n] >= 0)
      pack_slot(p, l.slot[n], l.entry[n]);
    else
      pack_padding(p, l.slot[n]);
}

/// f(slot, entry) for one of `shares` shares of a position's entries, which several workers go through. `shift`: from
/// the layout's entries to those of the matrix (entry_runs).
template <class Layout, class F>
COMPOUND_FN void for_each_entry(const Layout& layout, idx position, int share, int shares, slot_t shift, const F& f) {
  const idx count = layout.count(position);
  slot_t slot = layout.first(position);
  idx nth = 0;
  COMPOUND_ROLLED
  for (idx k = 0; k < count; ++k, slot += layout.apart()) {
    if (!layout.present(slot)) continue;
    if (nth % shares == share) f(slot, layout.entry(slot, position, nth) + shift);
    ++nth;
  }
}

/// Fills those slots of one position whose entries are in [from, to); padding stays as it is. `shift`: from the
/// layout's entries to those of the blocks (entry_runs).
template <class Packing, class Layout>
COMPOUND_FN void pack_row_part(const Packing& p, const Layout& layout, idx position, slot_t from, slot_t to,
                               slot_t shift = 0) {
  const idx count = layout.count(position);
  const slot_t first_entry = layout.first_entry[position] + shift;
  if (first_entry >= to || first_entry + count <= from) return;  // a row's entries lie together
  const idx row = p.row_of(first_entry);
  for_each_entry(layout, position, 0, 1, shift, [&](slot_t slot, slot_t entry) {
    if (entry >= from && entry < to) pack_slot(p, slot, entry, row);
  });
}

/// A code, packed as a block of one number that is kept as it is.
template <class Code>
struct coded_block {
  using scalar = Code;
  using word = Code;
  COMPOUND_FN static constexpr int rows() { return 1; }
  COMPOUND_FN static constexpr int cols() { return 1; }
  COMPOUND_FN static constexpr int words() { return 1; }
  COMPOUND_FN static constexpr int word_rows() { return 1; }
  COMPOUND_FN static constexpr int word_cols() { return 1; }
  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    put(0, 0, b(0, 0));
  }
};

/// Copies the words, as they are stored, of slot `from_slot` of one array of words to `to_slot` of another, which may
/// have its own order.
template <class Entry, class FromWords, class ToWords, class Stored>
COMPOUND_FN void copy_words(const Entry& entry, const FromWords& from_words, const Stored* from, slot_t from_slot,
                            const ToWords& to_words, Stored* to, slot_t to_slot) {
  const auto source = from_words.at(entry, from, from_slot);
  const auto target = to_words.at(entry, to, to_slot);
  constexpr int most = most_words_of<Entry>();
  const auto for_each = [&](const auto& f) {
    for (int j = 0; j < entry.word_cols(); ++j)
      for (int i = 0; i < entry.word_rows(); ++i) f(i, j);
  };
  if constexpr (most <= most_words_held) {
    Stored held[most];
    for_each([&](int i, int j) { held[i + j * entry.word_rows()] = *source.stored(i, j); });
    for_each([&](int i, int j) { *target.stored(i, j) = held[i + j * entry.word_rows()]; });
  } else {
    for_each([&](int i, int j) { *target.stored(i, j) = *source.stored(i, j); });
  }
}

/// The words of one entry in a small array of their own.
template <class Word, int max_words>
struct local_words {
  Word word[max_words];
  COMPOUND_FN Word operator()(int k, int) const { return word[k]; }
};

/// a equals b, by == (0.0 equals -0.0, NaN nothing); of an approximate kind of entry, up to its tolerance.
template <class Entry, class S>
COMPOUND_FN bool agrees(S a, S b) {
  if constexpr (requires { Entry::tolerance; }) {
    const auto near = [](real_of<S> d) { return d <= Entry::tolerance && -d <= Entry::tolerance; };
    if constexpr (is_complex<S>)
      return near(a.re - b.re) && near(a.im - b.im);
    else
      return near(a - b);
  } else {
    return a == b;
  }
}

/// Does block(from_block(b)) agree with b? Kinds that keep the whole block have no `word_count`: they always do.
template <class Entry, class S>
COMPOUND_FN bool fits(const Entry& entry, full_block<S> b) {
  bool all = true;
  if constexpr (requires { Entry::word_count; }) {
    local_words<typename Entry::word, Entry::word_count> w{};
    entry.from_block(b, [&](int k, int, typename Entry::word v) { w.word[k] = v; });
    // Without branches, which would cost more than the scalars after the first that differs.
    if constexpr (Entry::any_size) {
      for (int j = 0; j < entry.cols(); ++j)
        for (int i = 0; i < entry.rows(); ++i) all &= agrees<Entry>(entry.block(w, i, j), b(i, j));
    } else {  // block() is cheap where i and j are known
      unroll<Entry::block_cols>([&]<int j>() {
        unroll<Entry::block_rows>([&]<int i>() { all &= agrees<Entry>(entry.block(w, i, j), b(i, j)); });
      });
    }
  }
  return all;
}

}  // namespace compound
