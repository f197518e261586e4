// seqbaijcompound: a seqbaij whose products run on a packed copy, kept as a cache of the parent's arrays.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "device_vectors.hpp"
#include "misfit.hpp"
#include "packed.hpp"
#include "parent.hpp"
#include "petsccompound.h"
#include "placement.hpp"
#include "reblock.hpp"
#include "settings.hpp"
#include "tuner.hpp"

namespace compound::plugin {

struct Counts {
  PetscInt64 products = 0, pattern_packs = 0, value_packs = 0;
};

/// The matrix packed for one place, and what it was made from.
struct PackedCopy {
  std::optional<PackedMatrix> packed;
  Problem problem{};     ///< that `packed` serves
  std::string left_out;  ///< why there is none although the matrix was looked at: the next place multiplies

  bool finds_entry = false;       ///< the kind of entry was found, not asked for
  double seconds_of_finding = 0;  ///< that took
  std::optional<Misfit> misfit;   ///< the values are not of the kind that was asked for: `packed` must not be used

  std::string origin;              ///< of `packed`'s plan, in the user's terms
  std::vector<Measured> measured;  ///< what it was chosen from, if by measuring

  /// Where the packed blocks are not of the parent's size.
  struct OtherBlocks {
    Reblocked shape;
    std::vector<Scalar> values;        ///< if `packed` lies on them
    mutable std::vector<Scalar> x, y;  ///< vectors in groups, where those are not full
    bool is_full() const { return shape.rows.is_full() && shape.cols.is_full(); }
    std::size_t bytes() const;
  };
  std::optional<OtherBlocks> other_blocks;

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
  PetscObjectState values_state = -1;  ///< of the parent, when the values were taken
  bool is_filled = false;  ///< values came another way than by packing the parent's; until the next assembly ends

  std::size_t bytes() const;
};

/// Hangs on Mat::spptr. Everything but `settings` can be made again from the parent.
struct SeqState {
  Settings settings;
  bool off_diagonal = false;  ///< of an mpibaijcompound

  std::array<PackedCopy, places.size()> copies;
  PackedCopy& copy(Place place) { return copies[static_cast<int>(place)]; }
  const PackedCopy& copy(Place place) const { return copies[static_cast<int>(place)]; }
  PatternStatistics statistics;  ///< of the parent's pattern

  DeviceBuffers buffers;
  bool told_of_host_vectors = false, told_of_host_work = false;
  Counts counts;

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

/// Its two halves. The first packs if need be, for `place` or the next that can multiply, and is all that can fail for
/// the matrix's sake; nothing where products are left to the parent. The second multiplies with what is there; a device
/// whose memory is full then leaves the product to the host.
PetscErrorCode seq_prepare(Mat A, Op op, Place* place);
PetscErrorCode seq_run(Mat A, Place place, Op op, Update update, Vec x, Vec z, Vec y);

PetscInt64 parent_bytes(const BlockArrays& arrays);

/// The device had no memory for what else a product needs: the host is made ready instead.
PetscErrorCode seq_leave_device(Mat A, const char* wanted, Place* place);

/// The product by PETSc's own operations for this block size.
PetscErrorCode parent_multiply(Mat A, SeqState* state, Op op, Update update, Vec x, Vec z, Vec y);

}  // namespace compound::plugin
