// A product of two sparse matrices block by block, as PETSc's MatProduct goes through it: looked at, symbolic, numeric.
// How the patterns are found and the numbers made is its executor's: seq_block_product.cpp (on the host or a device)
// and mpi_block_product.cpp.
#pragma once

#include <memory>
#include <optional>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Which product, and the option by which users of MatMatMult() and the like name an algorithm.
struct BlockProductKind {
  MatProductType type;
  const char* option;
  bool is_galerkin;
};

/// Which pattern an operand had.
struct PatternKey {
  PetscObjectId id = 0;
  PetscObjectState nonzeros = -1;
  bool operator==(const PatternKey&) const = default;
};

/// Which pattern the result was given: one that has replaced it may count its changes alike, but has data of its own.
struct ResultKey {
  explicit ResultKey(Mat C) : nonzeros(C->nonzerostate), data(C->data) {}
  PetscObjectState nonzeros;
  const void* data;
  bool operator==(const ResultKey&) const = default;
};

/// Hangs on the product matrix C. All calls are collective.
class BlockProduct {
 public:
  explicit BlockProduct(const BlockProductKind& of) : kind(of) {}
  BlockProduct(const BlockProduct&) = delete;
  virtual ~BlockProduct() = default;

  const BlockProductKind& kind;

 protected:
  /// Looks at the operands; `fit`: whether they are in full blocks that fit each other.
  virtual PetscErrorCode take_operands(Mat C, bool* fit) = 0;
  /// The pattern of the result, and what else depends on the patterns. `same`: whether the result has the pattern that
  /// was found at first, which stays.
  virtual PetscErrorCode find_pattern(Mat C, bool at_first, bool* same) = 0;
  /// C with that pattern.
  virtual PetscErrorCode make_result(Mat C) = 0;
  /// Its values; assembly is to follow.
  virtual PetscErrorCode multiply(Mat C) = 0;
  /// For -info: "on the host".
  virtual const char* where() const = 0;

 private:
  friend PetscErrorCode take_block_product(Mat, std::unique_ptr<BlockProduct>, bool*);
  static PetscErrorCode symbolic(Mat C);
  static PetscErrorCode numeric(Mat C);
  static PetscErrorCode find_again(Mat C, BlockProduct** p);
  PetscErrorCode take(Mat C, bool* fit);
  PetscErrorCode are_as_taken(Mat C, bool* same) const;
  PetscErrorCode check_operands(Mat C);

  PatternKey of_A_, of_B_;
  std::optional<ResultKey> of_C_;  ///< since it was made
};

/// Calls the base type's MatProductSetFromOptions(). `kind` is null where the product is of another kind than A B and
/// P^T A P, or an algorithm was asked for (-mat_product_algorithm, -matmatmult_via, -matptap_via).
PetscErrorCode ask_base_type(Mat C, const BlockProductKind** kind);

/// Gives C its phases by `product`, if its operands fit.
PetscErrorCode take_block_product(Mat C, std::unique_ptr<BlockProduct> product, bool* taken);

}  // namespace compound::plugin
