// The values of x that a matrix's off-diagonal part multiplies: their owners, and where they arrive.
#pragma once

#include <cstddef>
#include <vector>

#include <petscsf.h>

#include "backend/backend.hpp"
#include "petsc/guard.hpp"
#include "spmv/peers.hpp"
#include "spmv/placement.hpp"

namespace compound::plugin {

/// The base type's scatter is private and its vector always on the host, so we make our own.
struct Ghosts {
  Ghosts() = default;
  Ghosts(const Ghosts&) = delete;
  ~Ghosts();

  Vec on_host = nullptr;    ///< the off-diagonal part's columns of x, blocks in its column order
  Vec on_device = nullptr;  ///< the same for x on a device
  Buffer<std::byte> device_memory;
  VecScatter scatter = nullptr;  ///< x to ghosts
  /// Of several vectors, one after the other: x on each process without gaps, to `of_several` or, where products are on
  /// a device, to `of_several_there`. One message a process.
  PetscSF scatter_several = nullptr;
  PetscInt several = 0;
  std::vector<PetscScalar> of_several;
  Buffer<PetscScalar> of_several_there;
  bool several_is_there = false;
  /// Between devices: x there, to `device_memory`. Of the communicator's peers.
  std::shared_ptr<const PeerGroup> group;
  std::unique_ptr<PeerExchange> exchange;
  std::string why_no_exchange;    ///< the same on all processes
  std::vector<PetscInt> columns;  ///< the off-diagonal part's global block columns, of which `scatter` was made
};

/// Makes the scatter unless it is there. Collective.
PetscErrorCode make_ghosts(Mat A, Ghosts& ghosts);

/// Makes `scatter_several` for so many vectors, unless it is there, and `of_several_there` where a device is given;
/// after make_ghosts(). Collective.
PetscErrorCode make_ghosts_of_several(Mat A, PetscInt vectors, Backend* device, Ghosts& ghosts);

/// Makes `exchange`, or says why there is none, unless that is known or another way is chosen; after make_ghosts().
/// Collective.
PetscErrorCode make_exchange(Mat A, const Settings& settings, Ghosts& ghosts);

/// Whether devices exchange the ghosts themselves, and in words why they do not (else empty); after make_exchange().
/// Products ask the first.
bool go_by_devices(const Ghosts& ghosts, ExchangeChoice choice);
std::string why_not_by_devices(const Ghosts& ghosts, ExchangeChoice choice);

/// Drops all that was made for them.
PetscErrorCode destroy_ghosts(Ghosts& ghosts);

/// Collective: drops the scatter everywhere if the off-diagonal columns changed anywhere. An error of what came before
/// it is one on all processes then.
PetscErrorCode check_ghosts(Mat A, Ghosts& ghosts, PetscErrorCode before);

/// The ghosts on the side of x; null where the device has no memory for them.
PetscErrorCode ghosts_beside(Vec x, Ghosts& ghosts, Vec* beside);

}  // namespace compound::plugin
