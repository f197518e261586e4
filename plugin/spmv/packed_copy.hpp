// A matrix packed for one memory space. refresh.cpp alone makes it and keeps it up to date; all others read it.
#pragma once

#include "pattern/mirrored.hpp"
#include "petsc/base_type.hpp"
#include "spmv/misfit.hpp"
#include "spmv/other_blocks.hpp"

namespace compound::plugin {

class PackedCopy {
 public:
  /// Null where there is none.
  const PackedMatrix* packed() const { return packed_ ? &*packed_ : nullptr; }
  /// Null where the packed blocks are of the size that the matrix is given in.
  const OtherBlocks* other_blocks() const { return other_blocks_ ? &*other_blocks_ : nullptr; }
  /// Null where the matrix keeps both triangles, or its packed copy only one.
  const Mirrored* both_triangles() const { return both_triangles_ ? &*both_triangles_ : nullptr; }
  /// Of the plan, in the user's terms.
  const std::string& origin() const { return origin_; }
  /// What is known of the speed of a layout that was asked for; empty: nothing to tell.
  const std::string& hint() const { return hint_; }
  /// Whether the kind of entry was found, not asked for.
  bool finds_entry() const { return finds_entry_; }

  /// Why there is none although the matrix was looked at: the next memory space multiplies.
  const std::string& left_out() const { return left_out_; }
  /// Why there is none, or none of these values, although it was asked for: an error.
  const std::string& refused() const { return refused_; }
  /// Where values are not of the kind of entry that was asked for: an error, too.
  const std::optional<Misfit>& misfit() const { return misfit_; }
  /// Whether a product by the copy is an error, of which check_copies() tells.
  bool must_not_be_used() const { return misfit_ || !refused_.empty(); }

  /// Whether the packed matrix is all of the matrix, and its diagonal blocks lie on the matrix's diagonal.
  bool has_diagonal() const {
    const BlockShape block = packed_->problem().block;
    return !other_blocks_ || (other_blocks_->are_all() && block.rows == block.cols);
  }
  std::size_t bytes() const {
    return (packed_ ? packed_->bytes().total() : 0) + (other_blocks_ ? other_blocks_->bytes() : 0) +
           (both_triangles_ ? both_triangles_->bytes() : 0) + values_of_both_.size() * sizeof(Scalar);
  }

  /// Nothing has happened to the matrix since the copy was made: whatever puts other arrays into a matrix raises its
  /// state, or calls forget_arrays().
  bool is_current(Mat A, PetscInt64 values_version, int settings_version, Op op) const {
    return packed_ && values_version == values_version_ && A->nonzerostate == key_.nonzero_state &&
           settings_version == key_.settings_version && (op == Op::none || packed_->has_transposed());
  }

  Backend& backend() const { return packed_->backend(); }
  /// y = op(A) x or z + op(A) x by the copy as it is, on vectors in its backend's memory; z may be y.
  void multiply(Op op, Update update, const void* x, const void* z, void* y) const {
    if (!other_blocks_)
      packed_->multiply(op, update, x, z, y);
    else
      other_blocks_->multiply(*packed_, op, update, static_cast<const Scalar*>(x), static_cast<const Scalar*>(z),
                              static_cast<Scalar*>(y));
  }

  /// Whether the copy as it is multiplies several vectors at once.
  bool takes_vectors() const { return packed_ && !other_blocks_ && !must_not_be_used(); }

  /// The base type has other arrays, which may lie where the old ones were.
  void forget_arrays() {
    key_ = {};
    values_version_ = -1;
  }

 private:
  friend class CopyRefresh;

  /// What `packed_` was made from; anything different means packing again.
  ///
  /// The nonzero state alone is not enough: PETSc's blocked insertion adds blocks without raising it.
  struct PatternKey {
    PetscObjectState nonzero_state = -1;
    PetscInt entries = -1;
    const PetscInt *start = nullptr, *column = nullptr;
    BlockShape block{0, 0};
    int settings_version = -1;
    bool operator==(const PatternKey&) const = default;
  } key_;
  PetscInt64 values_version_ = -1;  ///< that were taken (MatrixValues)
  std::optional<Mirrored> both_triangles_;
  std::vector<Scalar> values_of_both_;  ///< if `packed_` lies on them
  std::optional<OtherBlocks> other_blocks_;
  std::optional<PackedMatrix> packed_;
  std::string origin_, hint_, left_out_, refused_;
  bool finds_entry_ = false;
  std::optional<Misfit> misfit_;
};

}  // namespace compound::plugin
