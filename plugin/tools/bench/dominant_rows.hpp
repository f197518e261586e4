// The matrix of a case with a diagonal that lets CG converge for any values.
#pragma once

#include "candidate.hpp"

namespace compound::bench {

/// Larger than all other entries of a row and of a column together. Collective.
double dominant_diagonal(Mat A);

/// This rank's blocks by columns, with blocks of zeros where there is none on the diagonal; `shift` is added to the
/// scalars on the diagonal.
BlockRows with_diagonal(const CaseMatrix& c, double shift);

}  // namespace compound::bench
