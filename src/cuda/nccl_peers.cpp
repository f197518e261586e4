// Processes of any hosts whose devices exchange by NCCL: values of a vector by sends and receives, sums by a gathering
// from all. Each process adds up the sums itself in the order of ranks, so that all have the same bits.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/nccl.hpp"
#include "cuda/peers.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

namespace {

void check(const NcclLibrary& nccl, NcclResult code, const std::string& tried) {
  if (code == NcclResult::success || code == NcclResult::in_progress) return;
  throw error(ErrorKind::device, "NCCL " + nccl_version() + " fails at " + tried + ": " + nccl.error_string(code));
}

class NcclPeers final : public CudaPeers, public std::enable_shared_from_this<NcclPeers> {
 public:
  NcclPeers(Backend& backend, cudaStream_t& queue, const JoinTask& task)
      : CudaPeers(task), backend_(backend), queue_(queue), nccl_(nccl_if_any()) {
    agree(task, Reason(nccl_ ? "" : why_no_nccl_opens()));
    NcclId mine;
    all_or_none(task, [&] {
      if (task.rank == 0) check(*nccl_, nccl_->make_id(&mine), "its first call");
    });
    const NcclId id = gathered(task, mine).front();
    all_or_none(task, [&] { check(*nccl_, nccl_->join(&comm_, task.processes, id, task.rank), "joining processes"); });
  }
  NcclPeers(const NcclPeers&) = delete;
  ~NcclPeers() override {
    try {
      backend_.synchronize();
    } catch (...) {  // the processes end
    }
    if (comm_) nccl_->leave(comm_);
  }

  std::unique_ptr<PeerExchange> exchange(const ExchangeTask& task) override;
  std::string library() const override { return "NCCL " + nccl_version(); }
  void gather(const void* own, void* all, std::size_t bytes, cudaStream_t queue) override {
    check(*nccl_, nccl_->gather(own, all, bytes, NcclType::bytes, comm_, queue), "gathering sums");
  }
  void check_all_answer() const override {
    NcclResult code = NcclResult::success;
    check(*nccl_, nccl_->error_of(comm_, &code), "asking for errors");
    check(*nccl_, code, "an exchange");
  }

  Backend& backend() const { return backend_; }
  cudaStream_t queue() const { return queue_; }
  const NcclLibrary& nccl() const { return *nccl_; }
  NcclComm* comm() const { return comm_; }

 private:
  Backend& backend_;
  cudaStream_t& queue_;
  const NcclLibrary* nccl_;
  NcclComm* comm_ = nullptr;
};

/// What one neighbour gets and gives, both ways.
struct Packed {
  Buffer<count32> blocks;    ///< of this process's vector that it reads
  Buffer<std::byte> values;  ///< of them: on the way there, or back
  exchange_args args;        ///< between the vector and `values`
};

class Exchange final : public PeerExchange {
 public:
  Exchange(std::shared_ptr<NcclPeers> peers, const ExchangeTask& task)
      : PeerExchange(task), peers_(std::move(peers)), bytes_(bytes_of(task.scalar)) {
    all_or_none(peers_->among(), [&] { make(task); });
  }
  Exchange(const Exchange&) = delete;

  /// All is packed where it was asked for; take() sends it, because the ghosts are not known before.
  void put(const void* x, const int* stop) override {
    beside_.follow(peers_->queue());
    for (Packed& p : packed_) {
      p.args.from = x;
      p.args.stop = stop;
      run(put_, p.args);
    }
  }
  void take(void* ghosts, const int*) override {
    send_and_receive([&](const Neighbour& n, const Packed& p) {
      send(p.values.data(), p.values.bytes(), n.process);
      receive(of_ghosts(ghosts, n), bytes_of_ghosts(n), n.process);
    });
    beside_.end_before(peers_->queue());
  }
  void put_back(const void* ghosts) override {
    beside_.follow(peers_->queue());
    send_and_receive([&](const Neighbour& n, const Packed& p) {
      send(of_ghosts(const_cast<void*>(ghosts), n), bytes_of_ghosts(n), n.process);
      receive(p.values.data(), p.values.bytes(), n.process);
    });
  }
  void add(void* y) override {
    beside_.follow(peers_->queue());  // what is queued meanwhile has made y
    for (Packed& p : packed_) {
      p.args.to = y;
      p.args.stop = nullptr;
      run(add_, p.args);
    }
    beside_.end_before(peers_->queue());
  }

 private:
  void make(const ExchangeTask& task) {
    find_kernels({{exchange_source(task.scalar, ExchangeStep::put), &put_},
                  {exchange_source(task.scalar, ExchangeStep::add), &add_}});
    // The kernels are those of devices that write into each other's memory. Here the number that they wait for is
    // always there, and the numbers that they write are not read.
    const std::array<signal, numbers> signals = {std::numeric_limits<signal>::max()};
    signals_ = Buffer<signal>(peers_->backend(), signals);
    tickets_ = Buffer<unsigned>(peers_->backend(), most_peers);
    peers_->backend().clear(tickets_.data(), tickets_.bytes());
    for (const Neighbour& n : task.neighbours) {
      Packed& p = packed_.emplace_back();
      p.blocks = Buffer<count32>(peers_->backend(), std::span<const count32>(n.blocks));
      const slot_t scalars = static_cast<slot_t>(n.blocks.size()) * task.width;
      p.values = Buffer<std::byte>(peers_->backend(), static_cast<std::size_t>(scalars) * bytes_);
      peers_->backend().clear(p.values.data(), p.values.bytes());  // it is sent, too, where nothing was put
      p.args.width = task.width;
      p.args.neighbours = 1;
      p.args.blocks_each = blocks_of_exchange(scalars);
      p.args.tickets = tickets_.data();
      p.args.exchanges = signals_.data() + exchanges_made;
      neighbour_args& there = p.args.of[0];
      there.process = n.process;
      there.given = there.taken = {p.blocks.data(), 0, scalars};
      there.here = signals_.data() + always_there;
      there.arrived = signals_.data() + never_read;
      for (void*& to : there.to) to = p.values.data();
      for (void*& from : there.from) from = p.values.data();
    }
  }

  void run(const void* kernel, const exchange_args& args) {
    launch(kernel, slot_t{args.blocks_each}, threads_of_krylov, args, beside_.stream());
  }
  template <class Step>
  void send_and_receive(const Step& step) {
    const NcclLibrary& nccl = peers_->nccl();
    check(nccl, nccl.begin_group(), "beginning an exchange");
    for (std::size_t i = 0; i < packed_.size(); ++i) step(neighbours()[i], packed_[i]);
    check(nccl, nccl.end_group(), "an exchange");
  }
  void send(const void* from, std::size_t bytes, int to) const {
    const NcclLibrary& nccl = peers_->nccl();
    if (bytes > 0)
      check(nccl, nccl.send(from, bytes, NcclType::bytes, to, peers_->comm(), beside_.stream()), "sending");
  }
  void receive(void* to, std::size_t bytes, int from) const {
    const NcclLibrary& nccl = peers_->nccl();
    if (bytes > 0)
      check(nccl, nccl.receive(to, bytes, NcclType::bytes, from, peers_->comm(), beside_.stream()), "receiving");
  }
  void* of_ghosts(void* ghosts, const Neighbour& n) const {
    return static_cast<std::byte*>(ghosts) + static_cast<std::size_t>(n.first) * bytes_;
  }
  std::size_t bytes_of_ghosts(const Neighbour& n) const { return static_cast<std::size_t>(n.scalars) * bytes_; }

  enum : int { always_there, never_read, exchanges_made, numbers };
  std::shared_ptr<NcclPeers> peers_;
  std::size_t bytes_;  ///< of a scalar
  WorkBeside beside_;
  Buffer<signal> signals_;
  Buffer<unsigned> tickets_;
  std::vector<Packed> packed_;  ///< of each neighbour
  const void *put_ = nullptr, *add_ = nullptr;
};

std::unique_ptr<PeerExchange> NcclPeers::exchange(const ExchangeTask& task) {
  return std::make_unique<Exchange>(shared_from_this(), task);
}

}  // namespace

std::shared_ptr<Peers> join_by_nccl(Backend& backend, cudaStream_t& queue, const JoinTask& task) {
  return std::make_shared<NcclPeers>(backend, queue, task);
}

}  // namespace compound::cuda
