// A matrix packed for one place, and what it was made from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/tuner.hpp"
#include "spmv/misfit.hpp"
#include "storage/grouped_vector.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

struct PackedCopy {
  std::optional<PackedMatrix> packed;
  Problem problem{};     ///< that `packed` serves
  std::string refused;   ///< why there is none, or none of these values, although it was asked for: an error
  std::string left_out;  ///< why there is none although the matrix was looked at: the next place multiplies

  bool finds_entry = false;       ///< the kind of entry was found, not asked for
  double seconds_of_finding = 0;  ///< that took
  std::optional<Misfit> misfit;   ///< the values are not of the kind that was asked for: `packed` must not be used

  std::string origin;    ///< of `packed`'s plan, in the user's terms
  Measurement measured;  ///< what it was chosen from, if by measuring

  /// One of shape's edges.
  struct PackedEdge {
    PackedMatrix packed;
    std::vector<Scalar> values;  ///< if `packed` lies on them
  };
  /// Where the packed blocks are not of the parent's size.
  struct OtherBlocks {
    Reblocked shape;
    std::vector<Scalar> values = {};  ///< if `packed` lies on them
    std::optional<PackedEdge> beside = {}, below = {};
    std::optional<GroupedVector<Scalar>> rows = {}, cols = {};  ///< vectors in groups, where those are not full

    bool is_full() const { return shape.rows.is_full() && shape.cols.is_full(); }
    std::size_t bytes() const;
  };
  std::optional<OtherBlocks> other_blocks;

  Backend& backend() const { return packed->backend(); }

  /// Whether `packed` is all of the matrix, and its diagonal blocks lie on the matrix's diagonal.
  bool has_diagonal() const {
    return !other_blocks || (other_blocks->is_full() && !other_blocks->beside && !other_blocks->below &&
                             problem.block.rows == problem.block.cols);
  }

  /// What `packed` was made from; anything different means packing again.
  ///
  /// The nonzero state alone is not enough: PETSc's blocked insertion adds blocks without raising it.
  struct PatternKey {
    PetscObjectState nonzero_state = -1;
    PetscInt entries = -1;
    const PetscInt *start = nullptr, *column = nullptr;
    BlockShape block{0, 0};
    int settings_version = -1;
    bool operator==(const PatternKey&) const = default;
  } pattern_key;
  PetscInt64 values_version = -1;  ///< that were taken (MatrixValues)

  /// y = op(A) x or z + op(A) x by the copy as it is, on vectors in its backend's memory; z may be y.
  void multiply(Op op, Update update, const void* x, const void* z, void* y) const {
    const auto *of_x = static_cast<const Scalar*>(x), *of_z = static_cast<const Scalar*>(z);
    if (!other_blocks)
      packed->multiply(op, update, x, z, y);
    else if (other_blocks->is_full())
      multiply_with_edges(op, update, of_x, of_z, static_cast<Scalar*>(y));
    else
      multiply_in_groups(op, update, of_x, of_z, static_cast<Scalar*>(y));
  }

  /// Whether a product by the copy is an error, of which check_copies() tells.
  bool must_not_be_used() const { return misfit || !refused.empty(); }

  std::size_t bytes() const;

 private:
  /// On vectors as they are: blocks first, then what is left over at the edges.
  void multiply_with_edges(Op op, Update update, const Scalar* x, const Scalar* z, Scalar* y) const;
  /// With vectors brought to groups and back.
  void multiply_in_groups(Op op, Update update, const Scalar* x, const Scalar* z, Scalar* y) const;
};

}  // namespace compound::plugin
