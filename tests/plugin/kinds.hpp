// Kinds of entry as the plugin's tests know them: full blocks for matrices in which the plugin is to find the kind.
#pragma once

#include <petscmat.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace petsc_test {

struct Kind {
  std::string name;
  int size;  ///< of its blocks in this build; 0: any
  int (*kept)(int bs);
  bool real_words;  ///< in complex builds too
  PetscScalar (*scalar)(const std::vector<PetscScalar>& words, int i, int j);
  bool exists(int bs) const { return size == 0 ? bs > 1 : size == bs; }
};

inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

/// Those that can be found in this build; dense is not among them.
const std::vector<Kind>& kinds();

/// A kind for blocks of this size; empty (dense) where there is none.
std::string some_kind(int bs);
/// A size that the kind has blocks of.
int some_size(const Kind& kind);

/// A block of that kind, row after row, made from `seed`.
std::vector<PetscScalar> block_of(const std::string& kind, int bs, std::uint64_t seed);

/// What the view says of a matrix of that kind: "quaternion (4 of 16 scalars kept; found)".
std::string entry_text(const std::string& kind, int bs, const std::string& how = "found");

}  // namespace petsc_test
