// Processes whose devices exchange: those of a communicator.
#pragma once

#include <memory>
#include <string>

#include "backend/peers.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// How far the hosts have come, for each other to see, in memory that they share.
class HostCounts;

/// The processes of a communicator, for as long as it lives.
struct PeerGroup {
  ExchangeBy by = ExchangeBy::memory;
  std::shared_ptr<Peers> peers;
  std::string why_not;                ///< there are none; the same on all processes
  std::shared_ptr<HostCounts> hosts;  ///< null with NCCL, which waits for hosts itself

  /// One exchange more: what this process gives is queued.
  void announce() const;
  /// Until all processes have announced as many: from then on a device waits for another device alone.
  void wait_for_hosts() const;
  /// Nothing more can be exchanged then.
  std::string why_not_now() const;
};

/// Collective where it is the communicator's first time with this way, whose `patience` in seconds then holds.
PetscErrorCode peers_of(MPI_Comm comm, ExchangeBy by, double patience, std::shared_ptr<const PeerGroup>* group);

}  // namespace compound::plugin
