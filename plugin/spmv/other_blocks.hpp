// A matrix packed in blocks that are not of its own size: what products need beside the packed blocks.
#pragma once

#include <optional>
#include <vector>

#include "petsc/guard.hpp"
#include "storage/grouped_vector.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

class OtherBlocks {
 public:
  explicit OtherBlocks(Reblocked shape) : shape_(std::move(shape)) {}
  OtherBlocks(const OtherBlocks&) = delete;  // vectors in groups refer to the shape

  const Reblocked& shape() const { return shape_; }
  /// Else vectors are brought to groups and back.
  bool is_full() const { return shape_.rows.is_full() && shape_.cols.is_full(); }
  /// Whether the blocks are all of the matrix.
  bool are_all() const { return is_full() && !shape_.beside && !shape_.below; }
  /// Owned by this, without the packed blocks.
  std::size_t bytes() const;

  /// Packs the edges, for scalars of a type; room for vectors in groups, where groups are not full.
  void pack(ScalarType scalar, Backend& backend);
  /// The edges' values, from those of the matrix. `regrouped` are the blocks' own, and are kept where these lie on
  /// them.
  void take_values(const Scalar* given);
  void keep(std::vector<Scalar> regrouped) { values_ = std::move(regrouped); }
  void prepare_transposed(TransposedValues held);
  void compile();

  /// The product of the whole matrix, with its packed blocks.
  void multiply(const PackedMatrix& blocks, Op op, Update update, const Scalar* x, const Scalar* z, Scalar* y) const;

 private:
  struct PackedEdge {
    PackedMatrix packed;
    std::vector<Scalar> values = {};  ///< if `packed` lies on them
  };
  template <class F>
  void for_each_edge(const F& f);
  void multiply_with_edges(const PackedMatrix& blocks, Op op, Update update, const Scalar* x, const Scalar* z,
                           Scalar* y) const;
  void multiply_in_groups(const PackedMatrix& blocks, Op op, Update update, const Scalar* x, const Scalar* z,
                          Scalar* y) const;

  Reblocked shape_;
  std::vector<Scalar> values_;  ///< of the blocks, if their packed matrix lies on them
  std::optional<PackedEdge> beside_, below_;
  std::optional<GroupedVector<Scalar>> rows_, cols_;  ///< vectors in groups, where those are not full
};

}  // namespace compound::plugin
