// What a kind of entry says of itself beside its algebra. Tables, help, documents, tests and compound-bench are made
// from that, for every kind that entries.hpp lists:
//   name, template_name   in plans, and of its template in the device text
//   used_in               where such blocks come from, for docs/entries.md
//   exists                whether matrices of its scalars have it (else true)
//   multiples, host_form  below (else none, and plain)
//   known_sizes           squares of up to so many rows get host kernels of their own (else 0)
//   tolerance             where there is one the kind is approximate: it is never chosen unasked
//   word_of(number)       a word that may be, from any number in [-1, 1), where not all numbers are words
#pragma once

namespace compound {

/// The scalars whose products with the identity are all of a kind.
enum class Multiples { none, real, all };

/// What multiplies by a kind with vector instructions on the host (src/host/simd/table.hpp).
enum class HostForm {
  plain,       ///< nothing does: the plain kernel
  columns,     ///< dense blocks: words are products, and blocks of any size go column by column
  products,    ///< products of words and x by a structure table
  diagonals,   ///< zero off the diagonal, of any size
  unit_words,  ///< as products, in slices alone: words of eight entries are decoded at a time
};

}  // namespace compound
