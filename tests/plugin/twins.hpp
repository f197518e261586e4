// Twins: a matrix of the tested type and one of its base type made by the same calls.
#pragma once

#include "petsc_test.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace petsc_test {

/// splitmix64: the same numbers on every process, compiler and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return real() < p; }
  double real() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// A number in [-1,1] (both parts, in complex builds) that only depends on its arguments.
PetscScalar value(std::uint64_t seed, PetscInt i, PetscInt j = 0);

struct Block {
  int row, col;
};

/// Block rows and columns of each process.
struct Shape {
  int bs = 1;
  std::vector<int> rows, cols;

  int block_rows() const;
  int block_cols() const;
  int first_row() const;  // of this process
  bool owns_row(int block_row) const;
  bool is_square() const { return rows == cols; }
  Shape transposed() const { return {bs, cols, rows}; }
};

/// Block rows spread evenly (the first processes have one more), or at random so that some processes may have none.
Shape spread(int bs, int block_rows, int block_cols);
Shape scatter(Random& random, int bs, int block_rows, int block_cols);

/// What a matrix is filled with; blocks are sorted by row, each once, the same list on all processes.
struct Problem {
  Shape shape;
  std::vector<Block> blocks;
  std::uint64_t seed = 1;
  std::string kind = {};  ///< of entry, that all blocks are of (kinds.hpp); empty: none
};
std::vector<Block> random_blocks(Random& random, const Shape& shape, double density, bool with_diagonal);
Problem random_problem(std::uint64_t seed, const Shape& shape, double density = 0.3);

/// A way to make the tested type: type name, options, and what the plan then must name.
struct Variant {
  std::string name, type, options, plan, plain = parent_type();
};
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
/// All pinned constructors and layout options; of a type that is not compound only itself.
std::vector<Variant> all_variants();
/// The default and the variant farthest from it, for tests that are about something else than layouts.
std::vector<Variant> some_variants();
Variant default_variant();

/// Sizes, block size, type, and by a prefix of its own options with a value each ("-mat_compound_layout csr") or
/// none; not set up.
Matrix empty_matrix(const std::string& type, const std::string& options, const Shape& shape);
void preallocate(Mat A, const Problem& problem);
/// Each process inserts or adds its own rows' blocks by MatSetValuesBlocked with values made from `seed`.
void insert_blocks(Mat A, const Problem& problem, std::uint64_t seed, InsertMode mode);
void assemble(Mat A, MatAssemblyType type = MAT_FINAL_ASSEMBLY);
Matrix filled_matrix(const std::string& type, const std::string& options, const Problem& problem);

/// One of the twins, with all that is needed to make companions of the same kind.
struct Side {
  Matrix matrix;
  Variant variant;
  Shape shape;
  bool tested;
  std::string kind = {};  ///< of entry, that it was filled with

  operator Mat() const { return matrix; }
  const std::string& type() const { return tested ? variant.type : variant.plain; }
  Matrix make(const Problem& problem) const;
  /// Reads the variant's options again: duplicates and conversions have no prefix.
  void read_options() const;
};

struct Twins {
  Side tested, plain;
};
Twins empty_twins(const Variant& variant, const Shape& shape);
Twins filled_twins(const Variant& variant, const Problem& problem);

/// The same call on both.
template <class Call>
void on_both(Twins& twins, Call&& call) {
  call(twins.tested);
  call(twins.plain);
}

}  // namespace petsc_test
