// Processes whose devices exchange without the host: within one host by memory that all of them reach, or by NCCL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "device/target.hpp"

namespace compound {

/// Collective among processes: what each gives, `bytes` of it, to all in the order of ranks.
using GatherFromAll = std::function<void(const void* mine, void* all, std::size_t bytes)>;

/// By memory of the devices that all processes of a host reach, or by NCCL, which goes from host to host, too.
enum class ExchangeBy { memory, nccl };

struct JoinTask {
  ExchangeBy by = ExchangeBy::memory;
  int rank = 0, processes = 1;
  GatherFromAll gather;
  /// Seconds that a device waits for another process before that one is lost; may be infinite. NCCL waits for ever.
  double patience = 30;
};

/// What a process and one of its neighbours have of each other's vectors. Both name each other, also where nothing goes
/// in one direction.
struct Neighbour {
  int process = 0;
  std::vector<count32> blocks;    ///< of this process's vector that the neighbour reads, in the order of its ghosts
  slot_t first = 0, scalars = 0;  ///< of this process's ghosts that are the neighbour's
};

struct ExchangeTask {
  ScalarType scalar;
  int width = 1;  ///< scalars of a block
  std::span<const Neighbour> neighbours;
};

/// The exchange of one matrix's ghosts: of x for y = A x, or for products with the transpose back to their owners. All
/// processes do the same in the same order, by steps that are queued in pairs; what is queued between the two runs
/// meanwhile. Nothing is done where `stop`, an integer of the device that is the same on all processes, is not 0 when
/// its turn comes; null: always.
class PeerExchange {
 public:
  explicit PeerExchange(const ExchangeTask& task)
      : neighbours_(task.neighbours.begin(), task.neighbours.end()), width_(task.width), stamp_(next_stamp()) {}
  PeerExchange(const PeerExchange&) = delete;
  virtual ~PeerExchange() = default;
  /// No two exchanges of a process have the same: what was queued with one and kept must be queued anew with another.
  std::uint64_t stamp() const { return stamp_; }
  std::span<const Neighbour> neighbours() const { return neighbours_; }
  /// Scalars of a block.
  int width() const { return width_; }
  /// The neighbours get what they read of x; take() waits for what is theirs.
  virtual void put(const void* x, const int* stop = nullptr) = 0;
  virtual void take(void* ghosts, const int* stop = nullptr) = 0;
  /// The neighbours get the ghosts that are theirs; add() adds what they give to y, in the order of their ranks.
  virtual void put_back(const void* ghosts) = 0;
  virtual void add(void* y) = 0;

 private:
  static std::uint64_t next_stamp() {
    static std::uint64_t last = 0;
    return ++last;
  }
  std::vector<Neighbour> neighbours_;
  int width_;
  std::uint64_t stamp_;
};

class Peers {
 public:
  virtual ~Peers() = default;
  virtual int rank() const = 0;
  virtual int processes() const = 0;
  /// Collective. Throws std::bad_alloc on all processes.
  virtual std::unique_ptr<PeerExchange> exchange(const ExchangeTask& task) = 0;
  /// The first process that did not answer in time, after which nothing more can be exchanged.
  virtual std::optional<int> lost() const = 0;
  /// Which processes share a device, in words: their kernels wait for each other while the device gives each process
  /// some milliseconds in turn. Empty: each has its own.
  virtual const std::string& shared_device() const = 0;
  /// "NCCL 2.26.6"; empty where devices write into each other's memory.
  virtual std::string library() const { return {}; }
};

class PeerWork {
 public:
  /// Collective. Throws `unsupported` with the reason, the same on all processes.
  virtual std::shared_ptr<Peers> join(const JoinTask& task) = 0;

 protected:
  ~PeerWork() = default;
};

}  // namespace compound
