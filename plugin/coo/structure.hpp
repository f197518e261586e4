// What MatSetPreallocationCOO() leaves for MatSetValuesCOO(): where each value given is added, and what others are
// sent.
#pragma once

#include <memory>

#include <petscsf.h>

#include "coo/lists.hpp"
#include "petsc/parts.hpp"

namespace compound::plugin {

struct CooStructure;

/// The lists of a structure and room for values in one backend's memory.
struct CooMemory {
  struct Part {
    ListsIn own, others;
    Buffer<int> other;  ///< on a device
  };
  Backend& on;
  ListsIn sent;
  Buffer<Scalar> to_send, received;
  std::vector<Part> parts;

  CooMemory(Backend& on, const CooStructure& structure);
  /// Of one part, whose lists were made there.
  CooMemory(Backend& on, const CooStructure& structure, ListsIn lists);
};

struct CooStructure {
  struct Part {
    PartLists lists;            ///< empty where `in_device` made them, until the host needs them
    std::uint64_t pattern = 0;  ///< of the blocks that the lists are for
    /// Of matrices that were found to have it: duplicates share a structure, and a hash takes as long as many sums.
    std::vector<PartArrays::Key> seen = {};

    bool fits(const PartArrays& part);
  };
  bool are_blocks = false;                 ///< the coordinates were those of blocks
  PetscCount given = 0;                    ///< scalars on this process
  SumLists sent;                           ///< one contribution each: what is sent, by process
  slot_t received = 0;                     ///< contributions that come from others, by process
  PetscSF sf = nullptr;                    ///< from sent to received; null for one process
  MPI_Datatype block = MPI_DATATYPE_NULL;  ///< that it sends
  std::vector<Part> parts;
  std::unique_ptr<CooMemory> in_host, in_device;  ///< made at first use
  bool is_prepared = false;                       ///< all processes had memory for values
  bool device_is_full = false;                    ///< it had no memory for `in_device`
  bool lists_are_on_device = false;               ///< alone

  CooStructure() = default;
  CooStructure(const CooStructure&) = delete;
  ~CooStructure() {
    if (sf) (void)PetscSFDestroy(&sf);
    if (block != MPI_DATATYPE_NULL) (void)MPI_Type_free(&block);
  }
};

/// What the caller gives, in host or device memory.
struct CooInput {
  const char* function;  ///< for messages
  bool are_blocks;       ///< rows and columns count blocks
  PetscCount count;
  const PetscInt *rows, *columns;
};

/// Preallocates A for the blocks of the coordinates and fills the structure. Collective.
PetscErrorCode build(Mat A, const CooInput& input, CooStructure* structure);

/// Where an array of the caller's lies, as a backend.
PetscErrorCode backend_of(Mat A, const void* array, PetscMemType* type, Backend** on);

}  // namespace compound::plugin
