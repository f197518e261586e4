// What a packed copy in the making is to be: the size of its blocks, the kind of entry, the plan.
#pragma once

#include "mat_seq.hpp"

namespace compound::plugin {

/// Whether PETSc's integers are the core's own.
inline constexpr bool same_index_width = sizeof(PetscInt) == sizeof(idx);

/// One copy in the making.
struct Packing {
  Mat A;
  SeqState& st;
  Place place;
  const BlockArrays& b;
  PackedCopy& copy = st.copy(place);
  const void* on_backend = nullptr;    ///< the values in the backend's memory too, where they came by there
  std::vector<Scalar> regrouped = {};  ///< the values in packed blocks of another size than the matrix's
  bool fits = false;                   ///< the values have been looked at: all are of the kind of entry in the plan
  bool on_device() const { return place == Place::device; }
};

/// The parent's integers as a pattern: a view where the widths agree, else of `copy`.
PatternView pattern_of(const BlockArrays& b, Pattern& copy);

/// Blocks of the size asked for: `copy.other_blocks` is set where that is not the matrix's.
PatternView packed_pattern(Packing& p, const PatternView& given, int* size);

/// The matrix's values in the packed pattern's blocks, on the host; null where there are none.
const Scalar* packed_blocks(Packing& p);

/// The plan by the effort that was asked for, with the kind of entry that was asked for or found. What was measured
/// stays in the copy, for -info.
Plan chosen_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers);

/// Where a matrix has block size 1 but its rows seem to come in blocks: what to do. Looks at some of its rows.
std::string block_size_hint(const BlockArrays& b);

/// " (-mat_compound_layout)": what brought the plan about, for messages; empty for the rule.
std::string option_of_plan(const Packing& p);

/// Throws `argument` where the kind that was asked for by name does not exist for these blocks.
void check_entry_asked_for(const Packing& p);

/// Why the next place is to multiply; empty if this one can. What nobody asked for in particular and we have no code
/// for is the parent's to multiply, as it was before.
std::string why_left_out(const Packing& p, const Plan& plan);

/// Block `entry` of the packed pattern, which is not of the plan's kind.
Misfit misfit_at(Packing& p, count32 entry);

}  // namespace compound::plugin
