// Whether a matrix of which a half is stored (`half=`) is symmetric or Hermitian: its pattern, and its values.
#pragma once

#include <vector>

#include "device/symmetry.hpp"
#include "layout/family.hpp"
#include "plan/partition.hpp"

namespace compound {

/// For each stored entry (i, j), j >= i, the entry (j, i) of the whole pattern. Throws `argument` naming the first that
/// has none, rows whose columns do not ascend, or a matrix that is not square.
std::vector<count32> mirrored_entries(const PatternView& pattern);

/// Of each row the entry on the diagonal of the whole pattern, or no_diagonal. `stored`: compressed rows of the stored
/// entries, of that family.
std::vector<count32> diagonal_entries(const LayoutFamily& family, const layout_args& stored,
                                      const std::vector<count32>& mirrored, idx rows);

/// Throws `argument` naming the first stored block that is not the (Hermitian) transpose of its mirrored one.
///
/// What may differ is what adding up in another order makes: 2^-43 of the larger scalar or, where that is more, of the
/// geometric mean of the largest scalars in both diagonal blocks. For a sum of positive definite element matrices that
/// is a bound on every scalar of the sum, so that each may be as wrong as a diagonal one. NaN equals NaN.
///
/// `blocks`: [entries][cols][rows] of the whole pattern, on the host; `layout`: compressed rows of the stored entries,
/// which lie in it as `runs` tell.
void check_symmetry(const Plan& plan, const Problem& problem, const layout_args& layout, const EntryRuns& runs,
                    const std::vector<count32>& mirrored, idx rows, const void* blocks);

}  // namespace compound
