#include "spmv/peers.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "device/peers.hpp"
#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

void check_mpi(int code, const char* tried) {
  if (code != MPI_SUCCESS) throw error(ErrorKind::unsupported, std::string("MPI fails at ") + tried);
}

/// The processes of a communicator that run on one host, in its order.
class NodeComm {
 public:
  explicit NodeComm(MPI_Comm of) {
    int rank;
    check_mpi(MPI_Comm_rank(of, &rank), "asking for a rank");
    check_mpi(MPI_Comm_split_type(of, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm_), "finding a host's processes");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  NodeComm(const NodeComm&) = delete;
  ~NodeComm() {
    int over = 0;
    if (!MPI_Finalized(&over) && !over) MPI_Comm_free(&comm_);
  }
  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace

class HostCounts {
 public:
  explicit HostCounts(std::shared_ptr<const NodeComm> node) : node_(std::move(node)) {
    constexpr MPI_Aint line = 128;
    void* mine = nullptr;
    check_mpi(MPI_Win_allocate_shared(line, 1, MPI_INFO_NULL, node_->get(), &mine, &window_), "sharing memory");
    of_[node_->rank()] = static_cast<Count*>(mine);
    *of_[node_->rank()] = 0;
    for (int p = 0; p < node_->size(); ++p) {
      MPI_Aint bytes;
      int unit;
      check_mpi(MPI_Win_shared_query(window_, p, &bytes, &unit, &of_[p]), "sharing memory");
    }
    MPI_Barrier(node_->get());
  }
  HostCounts(const HostCounts&) = delete;
  ~HostCounts() {
    int over = 0;
    if (!MPI_Finalized(&over) && !over) MPI_Win_free(&window_);
  }
  void add() { std::atomic_ref(*of_[node_->rank()]).fetch_add(1, std::memory_order_release); }
  /// Messages go on meanwhile: another process may come here only when one of them has arrived.
  void wait_for_all() const {
    const Count mine = *of_[node_->rank()];
    for (int p = 0; p < node_->size(); ++p)
      while (std::atomic_ref(*of_[p]).load(std::memory_order_acquire) < mine) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node_->get(), &found, MPI_STATUS_IGNORE);
        sched_yield();
      }
  }

 private:
  using Count = std::uint64_t;
  std::shared_ptr<const NodeComm> node_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::array<Count*, most_peers> of_ = {};
};

void PeerGroup::announce() const {
  if (hosts) hosts->add();
}
void PeerGroup::wait_for_hosts() const {
  if (hosts) hosts->wait_for_all();
}
std::string PeerGroup::why_not_now() const {
  if (!peers) return why_not;
  const auto lost = peers->lost();
  return lost ? "process " + std::to_string(*lost) + " did not answer in an earlier solve" : "";
}

namespace {

bool on_all(MPI_Comm comm, bool here) {
  int mine = here, all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm), "asking all processes");
  return all != 0;
}

/// The same on all processes, as `why_not` is.
std::string why_no_peers(MPI_Comm comm, const NodeComm& node, ExchangeBy by, int processes) {
  const bool by_memory = by == ExchangeBy::memory;
  if (processes == 1) return "there is one process";
  if (by_memory && !on_all(comm, node.size() == processes))
    return "the processes run on several hosts (-mat_compound_exchange nccl goes between hosts)";
  if (by_memory && processes > most_peers)
    return "there are " + std::to_string(processes) + " processes, and at most " + std::to_string(most_peers) +
           " reach each other's devices";
  return on_all(comm, device_backend() && device_backend()->extensions().peers) ? "" : "a process has no device";
}

GatherFromAll gather_over(MPI_Comm comm) {
  return [comm](const void* mine, void* all, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    check_mpi(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm), "telling other processes");
  };
}

void make_group(MPI_Comm comm, double patience, PeerGroup& group) {
  JoinTask task;
  check_mpi(MPI_Comm_size(comm, &task.processes), "counting processes");
  const auto node = std::make_shared<const NodeComm>(comm);
  group.why_not = why_no_peers(comm, *node, group.by, task.processes);
  if (!group.why_not.empty()) return;
  task.by = group.by;
  check_mpi(MPI_Comm_rank(comm, &task.rank), "asking for a rank");
  task.patience = patience;
  if (group.by == ExchangeBy::memory) {
    task.gather = [node](const void* mine, void* all, std::size_t bytes) {
      gather_over(node->get())(mine, all, bytes);
    };
    group.hosts = std::make_shared<HostCounts>(node);
  } else {
    task.gather = gather_over(comm);
  }
  try {
    group.peers = device_backend()->extensions().peers->join(task);
  } catch (const error& e) {
    group.why_not = e.what();
  } catch (const std::bad_alloc&) {
    group.why_not = "the device's memory is full";
  }
}

using Kept = std::shared_ptr<const PeerGroup>;

int drop_group(MPI_Comm, int, void* kept, void*) {
  delete static_cast<Kept*>(kept);
  return MPI_SUCCESS;
}

}  // namespace

PetscErrorCode peers_of(MPI_Comm comm, ExchangeBy by, double patience, std::shared_ptr<const PeerGroup>* group) {
  PetscFunctionBegin;
  static int keys[] = {MPI_KEYVAL_INVALID, MPI_KEYVAL_INVALID};
  int& key = keys[static_cast<int>(by)];
  void* kept = nullptr;
  int found = 0;
  if (key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_group, &key, nullptr));
  PetscCallMPI(MPI_Comm_get_attr(comm, key, &kept, &found));
  if (!found) {
    if (device_backend()) PetscCall(begin_device_work(*device_backend()));
    PetscCall(guarded(comm, [&] {
      auto made = std::make_shared<PeerGroup>();
      made->by = by;
      make_group(comm, patience, *made);
      kept = new Kept(std::move(made));
    }));
    PetscCallMPI(MPI_Comm_set_attr(comm, key, kept));
  }
  *group = *static_cast<Kept*>(kept);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
