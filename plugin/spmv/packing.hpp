// What a packed copy is made from: the matrix's pattern and values in the blocks that are packed.
#pragma once

#include <vector>

#include "pattern/block_size.hpp"
#include "plan/value_order.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

/// Whether PETSc's integers are the core's own.
inline constexpr bool same_index_width = sizeof(PetscInt) == sizeof(idx);

struct Packing {
  Mat A;
  SeqState& st;
  MemorySpace space;
  const BlockArrays& b;
  const PackedCopy& copy = st.copy(space);
  std::vector<Scalar> mirrored = {};   ///< the values of both triangles
  std::vector<Scalar> regrouped = {};  ///< the values in packed blocks of another size than the matrix's

  bool on_device() const { return space == MemorySpace::device; }
  Backend& backend() const { return compound::backend(row_of(space).backend); }
  Problem problem() const;
  /// In the matrix's blocks, of both triangles unless the packed copy has but one: a view where the integers are of one
  /// width, else of `copied`.
  PatternView given_pattern(Pattern& copied) const;
  /// The same in the packed blocks.
  PatternView pattern(Pattern& copied) const;
  /// For the packed pattern, on the host, in the problem's order; null where there are none. They are copied from a
  /// device that alone has them.
  const Scalar* values();
  /// The same where they lie on the copy's device; null where they do not.
  const Scalar* values_on_device() const;
  /// Of both triangles, unless the packed copy has but one, in the matrix's blocks.
  const Scalar* given_values();
};

/// The base type's integers as a pattern: a view where the widths agree, else of `copy`.
PatternView pattern_of(const BlockArrays& b, Pattern& copy);

/// The size that takes the fewest bytes, of a part whose blocks are of size `given`.
DetectedBlock found_block(const Settings& settings, bool off_diagonal, const PatternView& pattern, int given);

/// What `-mat_compound_block_size find` stands for, with what follows it, for products by a backend. Off-diagonal parts
/// go by bytes: they are small.
BlockShape block_to_find(const Settings& settings, bool off_diagonal, const PatternView& pattern, int given,
                         Backend& on);

/// Whether products of a copy on the host can read the triangle that the matrix keeps: nothing is asked for that needs
/// both.
bool reads_upper(const Packing& p);

/// The matrix in blocks of the size that is to be packed, where that is not the size of those that are given.
std::optional<Reblocked> in_other_blocks(const Packing& p, const PatternView& given);

/// Block `entry` of the packed pattern, which is not of the plan's kind.
Misfit misfit_at(Packing& p, count32 entry);

}  // namespace compound::plugin
