// From contributions to lists of sums: which of the values given are added up for each block of a matrix's parts.
#pragma once

#include <array>
#include <vector>

#include "backend/contributions.hpp"
#include "coo/coordinates.hpp"

namespace compound::plugin {

/// The lists of a SumTask, for blocks of side x side scalars.
struct SumLists {
  PetscInt side = 1;
  LargeVector<slot_t> first{0}, index;
  LargeVector<slot_t> place;  ///< empty: s * side * side
  LargeVector<int> stride;    ///< empty: side
  LargeVector<unsigned char> shape;
  std::vector<int> offset;
  slot_t sums() const { return static_cast<slot_t>(first.size()) - 1; }
  PetscInt words() const { return side * side; }
};

/// Whether lists and values are in memory of `on` that only it uses. Tests on machines without a device set the
/// variable COMPOUND_VALUES_APART.
bool works_as_device(const Backend& on);

/// The same in a backend's memory; the host lends the vectors, which must stay.
class ListsIn {
 public:
  ListsIn(Backend& on, const SumLists& lists);
  /// Those that a device made; `offset` as in SumLists.
  ListsIn(Backend& on, ContributionLists lists, PetscInt side, const std::vector<int>& offset);
  /// On the host.
  SumLists lists(Backend& on) const;
  void run(Backend& on, const Scalar* from, Scalar* to, Update update) const;
  bool empty() const { return task_.sums == 0; }
  /// Without the array that sums go to.
  SumTask task(const Scalar* from) const {
    SumTask task = task_;
    task.from = from;
    return task;
  }

 private:
  std::array<Buffer<slot_t>, 3> copies_;
  std::array<Buffer<int>, 2> integers_;
  Buffer<unsigned char> shapes_;
  SumTask task_;  ///< behind the copies that it refers to
};

/// Block compressed rows, columns sorted and each once.
struct BlockRows {
  LargeVector<PetscInt> start{0}, column;
};

/// Where the parts of a matrix have their blocks and scalars.
struct PartsShape {
  PetscInt block_size = 1;  ///< of the blocks that the base type keeps
  /// Scalars: the first row of this process, its rows; the columns of the diagonal part, in a matrix with two parts.
  PetscInt first_row = 0, rows = 0;
  bool has_off_diagonal_part = false;
  PetscInt first_column = 0, last_column = 0;
};

struct PartLists {
  SumLists own, others;    ///< of the values given here (all blocks), of those received (some)
  std::vector<int> other;  ///< [own] which of `others` is added to it, or -1; empty: none
};

/// What assembly by coordinates needs: the base type's blocks, and the sums of each part.
struct Assembly {
  BlockRows blocks;  ///< of the base type, with global columns
  std::vector<PartLists> parts;
};

/// Contributions with rows of this process, in blocks of one size. Sums are in the order of `own`, then of `others`.
Assembly assembly_of(const Contributions& own, const Contributions& others, const PartsShape& shape);

/// Where the scalars of a block lie, from its first on: `by_rows` as the contributions have them, else by columns.
std::vector<int> offsets_of(const Contributions& c, bool by_rows);

/// The same rows in scalars, which blocks of side x side are made of.
BlockRows in_scalars(const BlockRows& blocks, PetscInt side);

/// Lists of one contribution each, which copy contributions to neighbouring blocks whose scalars lie by rows.
SumLists copies_of(const Contributions& c, const std::vector<std::size_t>& which);

}  // namespace compound::plugin
