// Values of generated matrices.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "block_rows.hpp"
#include "entry/kinds.hpp"
#include "options/option_values.hpp"

namespace compound::bench {

enum class Values {
  random,     ///< every block of its own
  symmetric,  ///< the same of a symmetric matrix of dense blocks, positive definite where scalars are real
  stencil,    ///< blocks of few numbers, the same for the same step of the stencil, as a uniform mesh has them
  convection  ///< of the papers' experiments: coefficients of convection and diffusion, times the identity
};

inline const OptionWords<Values> values_words = {{"random", Values::random},
                                                 {"symmetric", Values::symmetric},
                                                 {"stencil", Values::stencil},
                                                 {"convection", Values::convection}};

/// Blocks that depend on block row, block column and seed alone.
class ValueRule {
 public:
  /// Blocks of random words with a dominant diagonal where the kind holds multiples of the identity. `entry`: the kind
  /// of entry that blocks are; its name as in plans. Throws std::invalid_argument.
  ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed);

  /// Those of a generated matrix, which must live as long as this; null: of a pattern, with random or symmetric values.
  ///
  /// Convection: central differences of -a div grad u + b (du/dx + du/dy + du/dz), a = 1/80 and b = 1/sqrt(3), on the
  /// inner points of the unit cube, times h^2. Throws std::invalid_argument where steps are not along the axes, where
  /// rows are longer than that, or where the kind of entry holds no multiples of the identity. Symmetric: throws it
  /// where blocks are not square, or entries not dense.
  ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed, Values values, const Generated* matrix);

  /// Every block the identity, which is an entry of all kinds.
  static ValueRule identity(BlockShape block);

  /// Whether matrices of symmetric patterns are symmetric.
  bool is_symmetric() const;

  /// The values of all entries.
  std::vector<PetscScalar> values(const BlockRows& rows) const;

  /// Writes the block, column-major. `row_length`: entries of its block row.
  void write(std::int64_t row, std::int64_t column, std::int64_t row_length, PetscScalar* block) const;

 private:
  /// `parts`: words are odd multiples of 1 / (2 parts); 0: any number.
  using Write = void (*)(std::uint64_t state, int parts, BlockShape shape, PetscScalar* block);
  ValueRule(BlockShape block, Write how) : block_(block), write_(how) {}

  void add_to_diagonal(double value, PetscScalar* block) const;

  BlockShape block_;
  std::uint64_t seed_ = 0;
  Write write_ = nullptr;
  bool dominant_ = false;
  Values values_ = Values::random;
  const Generated* matrix_ = nullptr;
};

/// The coefficient of a step to a neighbour in convection and diffusion on a grid of such sides.
double convection_coefficient(const Step& step, const Grid& grid);

}  // namespace compound::bench
