// The coordinates that MatSetPreallocationCOO() and MatCompoundSetPreallocationCOO() are given, as contributions to
// blocks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/huge_pages.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// Contributions to blocks of side x side scalars; of single scalars, side is 1. Rows and columns count blocks.
struct Contributions {
  PetscInt side = 1;
  LargeVector<PetscInt> row, column;  ///< [contributions]; a negative row: ignored
  LargeVector<slot_t> first;          ///< [contributions] its first scalar among the values; empty: n * side * side
  LargeVector<unsigned char> shape;   ///< [contributions] which offsets; empty: 0
  std::vector<int> offset;            ///< [shapes][side][side] from the first scalar to scalar (i, j), by rows

  std::size_t size() const { return row.size(); }
  PetscInt words() const { return side * side; }
  slot_t first_of(std::size_t n) const { return first.empty() ? static_cast<slot_t>(n) * words() : first[n]; }
};

/// The coordinates of one call, in host memory.
struct Coordinates {
  std::span<const PetscInt> row, column;
  bool is_ignored(std::size_t k) const { return row[k] < 0 || column[k] < 0; }
};

/// Each coordinate is a contribution; blocks have their scalars one after the other, by rows.
Contributions contributions_of(const Coordinates& coordinates, PetscInt side);

/// The whole blocks that coordinates of scalars form, if all of them do. The scalars of a block may be anywhere in the
/// list, if they are in the same places for many blocks, as in element matrices: by rows, by components, by blocks.
std::optional<Contributions> find_blocks(const Coordinates& coordinates, PetscInt side);

}  // namespace compound::plugin
