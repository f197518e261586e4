#include "ksp/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace compound::plugin {

namespace {

/// A QR step on rows [first, last] of the matrix, shifted by the eigenvalue of its last two rows that is nearer to the
/// last: rotations chase what the first of them leaves off the three diagonals down to the end.
void rotate(std::vector<PetscReal>& d, std::vector<PetscReal>& e, std::size_t first, std::size_t last) {
  const PetscReal half = (d[last - 1] - d[last]) / 2, corner = e[last - 1];
  const PetscReal root = std::hypot(half, corner);
  const PetscReal shift = d[last] - corner * (corner / (half + std::copysign(root, half)));
  PetscReal along = d[first] - shift, off = e[first];
  for (std::size_t k = first; k < last; ++k) {
    const PetscReal size = std::hypot(along, off);
    const PetscReal c = size == 0 ? 1 : along / size, s = size == 0 ? 0 : off / size;
    if (k > first) e[k - 1] = size;
    const PetscReal upper = d[k], lower = d[k + 1], between = e[k];
    d[k] = c * c * upper + 2 * c * s * between + s * s * lower;
    d[k + 1] = s * s * upper - 2 * c * s * between + c * c * lower;
    e[k] = c * s * (lower - upper) + (c * c - s * s) * between;
    if (k + 1 < last) {
      along = e[k];
      off = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

}  // namespace

std::vector<PetscReal> tridiagonal_eigenvalues(std::vector<PetscReal> d, std::vector<PetscReal> e) {
  constexpr PetscReal small = std::numeric_limits<PetscReal>::epsilon();
  constexpr int most_turns = 60;  // of one eigenvalue, which takes two or three
  const auto is_split = [&](std::size_t i) {
    return !(std::abs(e[i]) > small * (std::abs(d[i]) + std::abs(d[i + 1])));
  };
  int turns = 0;
  for (std::size_t last = d.empty() ? 0 : d.size() - 1; last > 0;) {
    if (is_split(last - 1) || turns == most_turns) {
      --last;
      turns = 0;
      continue;
    }
    std::size_t first = last - 1;
    while (first > 0 && !is_split(first - 1)) --first;
    rotate(d, e, first, last);
    ++turns;
  }
  std::ranges::sort(d);
  return d;
}

std::vector<PetscReal> Lanczos::eigenvalues() const {
  std::vector<PetscReal> diagonal, below;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& [inverse_step, growth] = steps_[i];
    const PetscReal before = i == 0 ? 0 : steps_[i - 1].inverse_step;
    diagonal.push_back(inverse_step + growth * before);
    if (i > 0) below.push_back(std::sqrt(growth) * before);
  }
  return tridiagonal_eigenvalues(std::move(diagonal), std::move(below));
}

}  // namespace compound::plugin
