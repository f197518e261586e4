// A matrix packed for one place, and what it was made from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "copies/misfit.hpp"
#include "packed.hpp"
#include "reblock.hpp"
#include "tuner.hpp"

namespace compound::plugin {

struct PackedCopy {
  std::optional<PackedMatrix> packed;
  Problem problem{};     ///< that `packed` serves
  std::string refused;   ///< why there is none although it was asked for: an error
  std::string left_out;  ///< why there is none although the matrix was looked at: the next place multiplies

  bool finds_entry = false;       ///< the kind of entry was found, not asked for
  double seconds_of_finding = 0;  ///< that took
  std::optional<Misfit> misfit;   ///< the values are not of the kind that was asked for: `packed` must not be used

  std::string origin;              ///< of `packed`'s plan, in the user's terms
  std::vector<Measured> measured;  ///< what it was chosen from, if by measuring

  /// Where the packed blocks are not of the parent's size.
  struct OtherBlocks {
    Reblocked shape;
    std::vector<Scalar> values;        ///< if `packed` lies on them
    mutable std::vector<Scalar> x, y;  ///< vectors in groups, where those are not full
    bool is_full() const { return shape.rows.is_full() && shape.cols.is_full(); }
    std::size_t bytes() const;
  };
  std::optional<OtherBlocks> other_blocks;

  /// What `packed` was made from; anything different means packing again.
  ///
  /// The nonzero state alone is not enough: PETSc's blocked insertion adds blocks without raising it.
  struct PatternKey {
    PetscObjectState nonzero_state = -1;
    PetscInt entries = -1;
    const PetscInt *start = nullptr, *column = nullptr;
    PetscInt block_size = 0;
    int settings_version = -1;
    bool operator==(const PatternKey&) const = default;
  } pattern_key;
  PetscObjectState values_state = -1;  ///< of the parent, when the values were taken
  bool is_filled = false;  ///< values came another way than by packing the parent's; until the next assembly ends

  /// y = op(A) x or z + op(A) x on the host, by the copy as it is.
  void multiply(Op op, Update update, const PetscScalar* x, const PetscScalar* z, PetscScalar* y) const {
    if (!other_blocks || other_blocks->is_full())
      packed->multiply(op, update, x, z, y);
    else
      multiply_in_groups(op, update, x, z, y);
  }
  /// The same with vectors brought to groups and back.
  void multiply_in_groups(Op op, Update update, const PetscScalar* x, const PetscScalar* z, PetscScalar* y) const;

  /// Whether a product by the copy is an error, of which check_copies() tells.
  bool must_not_be_used() const { return misfit || !refused.empty(); }

  std::size_t bytes() const;
};

}  // namespace compound::plugin
