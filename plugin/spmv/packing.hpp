// One packed copy in the making: the matrix's pattern and values in the blocks that are packed.
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
  Place place;
  const BlockArrays& b;
  PackedCopy& copy = st.copy(place);
  std::vector<Scalar> regrouped = {};  ///< the values in packed blocks of another size than the matrix's
  bool fits = false;                   ///< the values have been looked at: all are of the kind of entry in the plan
  bool on_device() const { return place == Place::device; }
};

/// The parent's integers as a pattern: a view where the widths agree, else of `copy`.
PatternView pattern_of(const BlockArrays& b, Pattern& copy);

/// What `-mat_compound_block_size find` stands for, of a part whose blocks are of size `given`.
DetectedBlock found_block(const Settings& settings, bool off_diagonal, const PatternView& pattern, int given);

/// Blocks of the size asked for: `copy.other_blocks` is set where that is not the matrix's.
PatternView packed_pattern(Packing& p, const PatternView& given, BlockShape* block);

/// The matrix's values for the packed pattern, on the host, in the order of the copy's problem; null where there are
/// none. They are copied from a device that alone has them.
const Scalar* packed_values(Packing& p);

/// The same where they lie on the copy's device; null where they do not.
const Scalar* values_on_device(Packing& p);

/// Where groups are not full: room for vectors in groups.
void make_group_vectors(PackedCopy& copy);

/// The same of the edges that other blocks leave over as of the blocks.
void pack_edges(Packing& p);
void update_edges(Packing& p);
void transpose_edges(Packing& p);
void compile_edges(PackedCopy& copy);

/// Block `entry` of the packed pattern, which is not of the plan's kind.
Misfit misfit_at(Packing& p, count32 entry);

}  // namespace compound::plugin
