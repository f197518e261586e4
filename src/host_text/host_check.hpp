// Are blocks all of a kind of entry? On the host, as fast as they come from memory.
#pragma once

#include "../device/pack_values.hpp"

namespace compound {

namespace host_forms {

/// A kind of square blocks with its size known.
template <class Entry, int size>
struct of_size {};
template <template <class, slot_t> class Kind, class S, int size>
struct of_size<Kind<S, dynamic>, size> {
  using type = Kind<S, size>;
};

/// All bits set where two numbers differ by ==: in a width of which compilers make vector instructions.
inline long long difference(double a, double b) { return a == b ? 0 : -1; }
inline int difference(float a, float b) { return a == b ? 0 : -1; }

/// fits() for a kind of known size, made for vector instructions: column by column, each anew from the words.
template <class Entry>
bool fits_by_columns(const Entry& entry, const typename Entry::scalar* block) {
  using S = typename Entry::scalar;
  using Real = real_of<S>;
  constexpr int rows = Entry::block_rows, numbers = rows * int(sizeof(S) / sizeof(Real));
  local_words<typename Entry::word, Entry::word_count> w{};
  entry.from_block(full_block<S>{block, rows}, [&](int k, int, typename Entry::word v) { w.word[k] = v; });
  decltype(difference(Real{}, Real{})) differs = 0;
  unroll<Entry::block_cols>([&]<int j>() {
    S column[rows];
    unroll<rows>([&]<int i>() { column[i] = entry.block(w, i, j); });
    const auto* const anew = reinterpret_cast<const Real*>(column);
    const auto* const given = reinterpret_cast<const Real*>(block + j * rows);
    for (int k = 0; k < numbers; ++k) differs |= difference(anew[k], given[k]);
  });
  return differs == 0;
}

template <class Entry>
slot_t first_misfit_of(const Entry& entry, const typename Entry::scalar* block, slot_t entries) {
  using S = typename Entry::scalar;
  constexpr bool by_columns = !Entry::any_size && !requires { Entry::tolerance; };
  const slot_t size = slot_t{entry.rows()} * entry.cols();
  for (slot_t e = 0; e < entries; ++e, block += size) {
    const char* const ahead = reinterpret_cast<const char*>(block) + 2048;
    for (slot_t at = 0; at < size * slot_t(sizeof(S)); at += 64) __builtin_prefetch(ahead + at);
    bool good;
    if constexpr (by_columns)
      good = fits_by_columns(entry, block);
    else
      good = fits(entry, full_block<S>{block, entry.rows()});
    if (!good) return e;
  }
  return -1;
}

}  // namespace host_forms

/// Index of the first of `entries` blocks that is not of the kind; -1 if all are. Of blocks whose size comes with the
/// matrix the common sizes are known to the compiler all the same.
template <class Entry, int size = 2>
slot_t first_misfit_on_host(const void* blocks, slot_t entries, int rows, int cols) {
  constexpr int largest_known = 8;
  const auto* const first = static_cast<const typename Entry::scalar*>(blocks);
  if constexpr (!requires { Entry::word_count; })
    return -1;
  else if constexpr (Entry::any_size && size <= largest_known)
    return rows == size ? host_forms::first_misfit_of(typename host_forms::of_size<Entry, size>::type{}, first, entries)
                        : first_misfit_on_host<Entry, size + 1>(blocks, entries, rows, cols);
  else
    return host_forms::first_misfit_of(Entry::of(rows, cols), first, entries);
}

}  // namespace compound
