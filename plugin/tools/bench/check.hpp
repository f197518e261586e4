// Results of candidates beside the first one's.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace compound::bench {

/// Compares results with the first candidate's, or with a plain product where PETSc has no such matrix.
class Check {
 public:
  /// `plainly`: there are no candidates that are PETSc's.
  Check(MPI_Comm comm, const CaseMatrix& c, bool plainly) : comm_(comm), case_(c) {
    if (plainly) reference_ = plain_product(c);
  }

  /// Adds the error, and what is allowed.
  void operator()(Candidate& candidate, Record& result) {
    const std::vector<PetscScalar> y = candidate.result();
    const Storage storage = storage_of(candidate, case_);
    if (reference_.empty()) {
      reference_ = y;
      first_ = candidate.name();
      reference_single_ = storage.single;
    }
    double largest[2] = {0, 0};  // difference, component
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double wanted = std::abs(reference_[i]);
      largest[0] = std::max(largest[0], distance(y[i], reference_[i]));
      if (std::isfinite(wanted)) largest[1] = std::max(largest[1], wanted);
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm_);
    const double scale = largest[1] > 0 ? largest[1] : 1;
    const double error = largest[0] / scale, may_be = allowed(storage.single || reference_single_) / scale;
    if (may_be > 0) result.update({{"error", error}, {"allowed_error", may_be}});
    if (error != 0 && !(error <= may_be)) refuse(candidate.name(), error, may_be);
  }

 private:
  /// Of two candidates either may be the wrong one.
  [[noreturn]] void refuse(const std::string& name, double error, double may_be) const {
    const std::string by = text("%g of the largest component, allowed are %g", error, may_be);
    if (!first_.empty())
      throw usage_error("candidate '" + name + "' and the first, '" + first_ + "', differ by " + by +
                        "; all are compared with the first, so either of the two is wrong; -no_check times them "
                        "nevertheless");
    throw usage_error("candidate '" + name + "' is wrong: it differs from a plain product by " + by +
                      "; -no_check times it nevertheless");
  }

  /// Infinite if just one of them is not finite: a matrix with NaNs has NaNs in every candidate's result.
  static double distance(PetscScalar a, PetscScalar b) {
    const bool finite[2] = {std::isfinite(std::abs(a)), std::isfinite(std::abs(b))};
    if (finite[0] != finite[1]) return INFINITY;
    return finite[0] ? std::abs(a - b) : 0;
  }

  /// 8 eps x additions of a component x |A| |x|. A transposed product may add up as many as there are rows.
  double allowed(bool single) const {
    const double eps = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const bool transposed = case_.operation == Operation::transpose;
    const std::int64_t scalars =
        transposed ? case_.block_rows * case_.block.rows : case_.longest_row * case_.block.cols;
    const double added = case_.operation == Operation::multadd ? 1 : 0;
    return 8 * eps * static_cast<double>(scalars + 1) * (case_.norm * case_.x_norm + added);
  }

  MPI_Comm comm_;
  const CaseMatrix& case_;
  std::vector<PetscScalar> reference_;
  std::string first_;  ///< the candidate that gave it; empty for the plain product
  bool reference_single_ = false;
};

}  // namespace compound::bench
