// A step of a polynomial smoother, made where a product's sums are in registers: the vector A x is never stored.
#pragma once

#include "scalar.hpp"

namespace compound {

/// y = along x + keep before + scale D (b - A x), with D a diagonal. Chebyshev iterations of the first and the fourth
/// kind and Richardson's are of this form (storage/cycle.hpp). With along = keep = 0 and no D: the residual.
struct smoothing_args {
  double along = 0, keep = 0, scale = 1;
  const void* before = nullptr;   ///< null: none, and `keep` means nothing
  const void* inverse = nullptr;  ///< D, in the order of y; null: the identity
};

/// The same for scalars of a type.
template <class S>
struct smoothing {
  S along, keep, scale;
  const S *before, *inverse;

  COMPOUND_FN explicit smoothing(const smoothing_args& a)
      : along(real_of<S>(a.along)),
        keep(real_of<S>(a.keep)),
        scale(real_of<S>(a.scale)),
        before(static_cast<const S*>(a.before)),
        inverse(static_cast<const S*>(a.inverse)) {}

  /// A scalar of y, from those of x, D, what was before, b, and A x.
  COMPOUND_FN S next(S of_x, S of_inverse, S of_before, S residual, S sum) const {
    residual -= sum;
    S y = scale * (of_inverse * residual);
    y += along * of_x;
    y += keep * of_before;
    return y;
  }
};

/// The same without x, b and what was before: what A x changes in a step that others have made.
template <class S>
struct correction : smoothing<S> {
  using smoothing<S>::smoothing;
  COMPOUND_FN S next(S of_step, S of_inverse, S sum) const {
    of_step -= this->scale * (of_inverse * sum);
    return of_step;
  }
};

struct no_smoothing {};

}  // namespace compound
