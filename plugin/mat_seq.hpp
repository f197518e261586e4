// seqbaijcompound: a seqbaij whose products run on a packed copy, kept as a cache of the parent's arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "packed.hpp"
#include "parent.hpp"
#include "petsccompound.h"
#include "reblock.hpp"
#include "settings.hpp"

namespace compound::plugin {

struct Counts {
  PetscInt64 products = 0, pattern_packs = 0, value_packs = 0;
};

/// Hangs on Mat::spptr. Everything but `settings` can be made again from the parent.
struct SeqState {
  Settings settings;
  bool off_diagonal = false;  ///< of an mpibaijcompound

  std::optional<PackedMatrix> packed;
  std::string left_to_parent;  ///< why there is none although the matrix was looked at
  PatternStatistics statistics;  ///< of the parent's pattern

  /// Where the packed blocks are not of the parent's size.
  struct OtherBlocks {
    Reblocked shape;
    std::vector<Scalar> values;        ///< if `packed` lies on them
    mutable std::vector<Scalar> x, y;  ///< vectors in groups, where those are not full
    std::size_t bytes() const;
  };
  std::optional<OtherBlocks> other_blocks;
  Counts counts;

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
  struct ValuesKey {
    PetscObjectState state = -1;
    const PetscScalar* values = nullptr;
    bool operator==(const ValuesKey&) const = default;
  } values_key;

  /// The parent's products for this block size, which it picks at preallocation.
  PetscErrorCode (*parent_mult)(Mat, Vec, Vec) = nullptr;
  PetscErrorCode (*parent_multadd)(Mat, Vec, Vec, Vec) = nullptr;
};

/// The matrix's state; made anew (with `settings` where they were kept) when PETSc moved the header away from it.
PetscErrorCode seq_state(Mat A, SeqState** state);

bool is_seq_compound(Mat A);

/// The functions PETSc looks up by name on a matrix: ours before the parent's, and the parent's again.
PetscErrorCode compose_seq_functions(Mat A);
PetscErrorCode remove_seq_functions(Mat A);

/// Turns a seqbaij into a seqbaijcompound in place; does nothing but set `settings` if it is one.
PetscErrorCode adopt_seq(Mat A, const Settings& settings, bool off_diagonal = false);

/// The way back: all operations and functions are the parent's again.
PetscErrorCode release_seq(Mat A);

/// y = op(A) x or z + op(A) x by the packed copy, which is brought up to date first; z may be y, or null for assign.
PetscErrorCode seq_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y);

/// Its two halves. The first packs if need be, and is all that can fail for the matrix's sake; nothing where products
/// are left to the parent. The second multiplies with what is there.
PetscErrorCode seq_prepare(Mat A);
PetscErrorCode seq_run(Mat A, Op op, Update update, Vec x, Vec z, Vec y);

PetscInt64 parent_bytes(const BlockArrays& arrays);
/// Of everything held beside the parent.
PetscInt64 packed_bytes(const SeqState& state);

}  // namespace compound::plugin
