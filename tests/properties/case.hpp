// A case: all that a matrix and its products are made of, as one line of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/products.hpp"

namespace compound::test {

/// Blocks are of the case's kind; `regular` have diagonals that make them well conditioned.
enum class Values { random, regular, ones };

struct Case {
  std::string pattern_text;
  Pattern pattern;
  BlockShape block{1, 1};
  ScalarType scalar;
  std::string kind = "dense";  ///< of the blocks; the plan's may be dense all the same
  Values values = Values::random;
  std::uint64_t seed = 1;    ///< of values and vectors
  unsigned products = 0;     ///< bit of product_bit() each
  std::string plan = "csr";  ///< of PETSc's matrices also "... off: ..."
  std::string backend = "host";
  // Of the core alone.
  ValueOrder order = ValueOrder::blocks;
  std::string simd = "plain";  ///< instruction set
  TransposedValues transposed = TransposedValues::copy;
  bool fenced = false;  ///< vectors lie between memory that may not be touched
  int shift = 0;        ///< scalars by which vectors on a device are off the beginning of an allocation
  // Of PETSc's matrices alone.
  std::string type;                       ///< empty: of the core
  std::vector<int> row_parts, col_parts;  ///< block rows and columns of each rank

  bool of_petsc() const { return !type.empty(); }
  int ranks() const { return static_cast<int>(row_parts.size()); }
  Problem problem() const { return {block, scalar, order}; }
  void set_pattern(Pattern p);
};

constexpr unsigned product_bit(Op op, Form form) { return 1u << (3 * static_cast<int>(op) + static_cast<int>(form)); }
constexpr unsigned all_products = 0x1ff;

/// f(op, form) for each of the case's products.
template <class F>
void for_each_product(const Case& c, const F& f) {
  for (const Op op : ops)
    for (const Form form : forms)
      if (c.products & product_bit(op, form)) f(op, form);
}

std::string text_of(const Case& c);
/// Throws `argument`.
Case case_of_text(std::string_view text);

/// Why the case cannot be, in words: its plan does not go with it, its parts do not add up.
std::optional<std::string> why_not(const Case& c);

}  // namespace compound::test
