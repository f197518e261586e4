// Operations that change a matrix, each done in the same way to both twins: the vocabulary of the value-change tests
// and of the random sequences.
#pragma once

#include "compare.hpp"

namespace petsc_test {

/// Plain BAIJ is not up to everything in the middle of a sequence.
enum class Sequences {
  all,
  /// MatZeroRows that puts a diagonal entry into a row of an mpibaij leaves MatGetRow its buffer, as long as the
  /// longest row was before: MatAXPY then writes past its end (seen in 3.26.1, with plain baij). An assembly makes it
  /// anew.
  assembled_after,
  /// MatTranspose with reuse leaves an mpibaij whose off-diagonal part has columns of the diagonal one, so that a later
  /// MatAXPY fails on one process; MatConvert from mpiaij (3.18) preallocates too little after MatZeroRows.
  sequential,
  /// A duplicate that shares its pattern and then gets another frees the arrays of the original (3.26).
  none
};

struct Operation {
  std::string name;
  /// May change the matrix, its shape and variant; all choices come from `random`, which both sides get in equal state.
  void (*run)(Side&, Random& random);
  bool square = false;  ///< needs equal row and column layout
  Sequences sequences = Sequences::all;
};
inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

/// Everything PETSc lets one do to the values of a BAIJ matrix, each with its own name.
const std::vector<Operation>& value_changes();
/// Assembly again, in every way.
const std::vector<Operation>& assemblies();
/// What replaces the matrix: duplicates, conversions, other layouts.
const std::vector<Operation>& replacements();

void apply(const Operation& operation, Twins& twins, std::uint64_t seed);

/// The full blocks of this process's rows.
std::vector<Block> own_blocks(Mat A);
/// New entries are inserted, not refused, from now on.
void allow_new_nonzeros(Mat A);
/// MPIAIJ frees the arrays of one of its parts, when they have grown, as those of the other were allocated (PETSc 3.18,
/// MatSeqXAIJReallocateAIJ): the parts of a copy are allocated alike.
void allow_new_nonzeros(Side& side);

}  // namespace petsc_test
