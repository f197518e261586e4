#include "cuda/peers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/nccl.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

namespace {

class WindowPeers;

class Exchange final : public PeerExchange {
 public:
  Exchange(std::shared_ptr<WindowPeers> peers, const ExchangeTask& task);
  Exchange(const Exchange&) = delete;
  ~Exchange() override;
  void put(const void* x, const int* stop) override { give(forth_, x, stop); }
  void take(void* ghosts, const int* stop) override;
  void put_back(const void* ghosts) override { give(back_, ghosts, nullptr); }
  void add(void* y) override;

 private:
  void set_directions(const ExchangeTask& task);
  void give(exchange_args& way, const void* from, const int* stop);
  void run(ExchangeStep step, const exchange_args& way, int neighbours);

  std::shared_ptr<WindowPeers> peers_;
  WorkBeside beside_;
  Window::Place place_;
  Buffer<std::byte> numbers_;  ///< how many exchanges there were, and tickets, for each way
  std::vector<Buffer<count32>> blocks_;
  exchange_args forth_, back_;
  std::array<const void*, 3> kernels_ = {};
};

class WindowPeers final : public CudaPeers, public std::enable_shared_from_this<WindowPeers> {
 public:
  WindowPeers(Backend& backend, cudaStream_t& queue, const JoinTask& task)
      : CudaPeers(task), backend_(backend), queue_(queue), window_(backend, among()) {
    all_or_none(among(), [&] { report_ = Pinned(sizeof(peers_report)); });
    *report() = {};
    const Window::Place place = window_.take(signals_of_meetings() * sizeof(signal));
    meeting_args meeting;
    meeting.rank = task.rank;
    meeting.processes = task.processes;
    meeting.waits = waits();
    const std::vector<Reason> devices = gathered(task, Reason(device_slot()));
    for (int p = 0; p < task.processes; ++p)
      for (int q = 0; q < p && shared_.empty(); ++q)
        if (std::string_view(devices[p].text) == devices[q].text)
          shared_ =
              "processes " + std::to_string(q) + " and " + std::to_string(p) + " use one device, " + devices[p].text;
    for (int p = 0; p < task.processes; ++p) meeting.places[p] = reinterpret_cast<signal*>(window_.at(p, place));
    all_or_none(among(), [&] {
      meetings_ = Buffer<signal>(backend, 1);
      backend.clear(meetings_.data(), meetings_.bytes());
      meeting.meetings = meetings_.data();
      meeting_ = Buffer<meeting_args>(backend, std::span<const meeting_args>(&meeting, 1));
    });
  }
  WindowPeers(const WindowPeers&) = delete;
  /// No memory goes that others may still write to, or have open.
  ~WindowPeers() override {
    if (lost()) return;
    try {
      backend_.synchronize();
      gathered(among(), 0);
      window_.close();
      gathered(among(), 0);
    } catch (...) {  // the processes end
    }
  }

  std::unique_ptr<PeerExchange> exchange(const ExchangeTask& task) override {
    return std::make_unique<Exchange>(shared_from_this(), task);
  }
  std::optional<int> lost() const override {
    const int found = std::atomic_ref(report()->lost).load(std::memory_order_acquire);
    return found ? std::optional(found - 1) : std::nullopt;
  }

  Backend& backend() const { return backend_; }
  cudaStream_t queue() const { return queue_; }
  Window* window() override { return &window_; }
  const meeting_args* meeting() const override { return meeting_.data(); }
  patience waits() const override {
    constexpr double most = 1e9;  // seconds: 30 years
    return {static_cast<unsigned long long>(std::min(among().patience, most) * 1e9), report()};
  }
  void check_all_answer() const override;

 private:
  peers_report* report() const { return static_cast<peers_report*>(report_.data()); }

  Backend& backend_;
  cudaStream_t& queue_;
  Pinned report_;
  Window window_;
  Buffer<signal> meetings_;
  Buffer<meeting_args> meeting_;
};

/// Where a process's neighbour finds what it is to write to, one way.
struct Arrivals {
  Window::Place number, values[2];
  slot_t scalars = -1;  ///< none are expected of that process, nor a number
};
using BothWays = std::array<Arrivals, 2>;

constexpr std::size_t bytes_of_numbers = sizeof(signal) + most_peers * sizeof(unsigned);

Exchange::Exchange(std::shared_ptr<WindowPeers> peers, const ExchangeTask& task)
    : PeerExchange(task), peers_(std::move(peers)) {
  Backend& backend = peers_->backend();
  all_or_none(peers_->among(), [&] {
    std::vector<WantedKernel> wanted;
    for (const ExchangeStep step : exchange_steps)
      wanted.push_back({exchange_source(task.scalar, step), &kernels_[static_cast<int>(step)]});
    find_kernels(wanted);
    numbers_ = Buffer<std::byte>(backend, 2 * bytes_of_numbers);
    backend.clear(numbers_.data(), numbers_.bytes());
    for (const Neighbour& n : task.neighbours) blocks_.emplace_back(backend, std::span<const count32>(n.blocks));
  });
  for (exchange_args* const way : {&forth_, &back_}) {
    way->exchanges = reinterpret_cast<signal*>(numbers_.data() + (way == &back_ ? bytes_of_numbers : 0));
    way->tickets = reinterpret_cast<unsigned*>(way->exchanges + 1);
    way->width = task.width;
    way->waits = peers_->waits();
  }
  set_directions(task);
}

void Exchange::set_directions(const ExchangeTask& task) {
  Backend& backend = peers_->backend();
  Window& window = *peers_->window();
  const JoinTask& among = peers_->among();
  std::size_t bytes = 0;
  const auto further = [&](std::size_t more) {
    return Window::Place{0, std::exchange(bytes, bytes + whole_lines(more))};
  };
  std::array<BothWays, most_peers> mine;
  const auto scalars = [&](const Neighbour& n, int way) {
    return way == 0 ? n.scalars : static_cast<slot_t>(n.blocks.size()) * task.width;
  };
  for (const Neighbour& n : task.neighbours)
    for (Arrivals& a : mine[n.process]) a.number = further(sizeof(signal));
  const std::size_t of_signals = bytes;
  for (const Neighbour& n : task.neighbours)
    for (int way = 0; way < 2; ++way) {
      Arrivals& a = mine[n.process][way];
      a.scalars = scalars(n, way);
      for (Window::Place& values : a.values)
        values = further(static_cast<std::size_t>(a.scalars) * bytes_of(task.scalar));
    }
  backend.synchronize();  // what went before may still be read where this one's values will arrive
  place_ = window.take(bytes);
  backend.clear(window.at(among.rank, place_), of_signals);
  backend.synchronize();  // before others write
  for (BothWays& ways : mine)
    for (Arrivals& a : ways)
      for (Window::Place* const at : {&a.number, &a.values[0], &a.values[1]})
        *at = {place_.chunk, place_.first + at->first};
  const auto all = gathered(among, mine);
  std::string why;
  slot_t most = 1;
  for (std::size_t i = 0; i < task.neighbours.size(); ++i) {
    const Neighbour& n = task.neighbours[i];
    const some_scalars of_owner{blocks_[i].data(), 0, scalars(n, 1)}, ghosts{nullptr, n.first, n.scalars};
    for (int way = 0; way < 2; ++way) {
      exchange_args& args = way == 0 ? forth_ : back_;
      neighbour_args& to = args.of[args.neighbours++];
      const Arrivals &there = all[n.process][among.rank][way], &here = mine[n.process][way];
      to.process = n.process;
      to.given = way == 0 ? of_owner : ghosts;
      to.taken = way == 0 ? ghosts : of_owner;
      if (there.scalars != to.given.count)
        why = "process " + std::to_string(n.process) + " expects " + std::to_string(there.scalars) + " scalars, not " +
              std::to_string(to.given.count);
      to.arrived = reinterpret_cast<signal*>(window.at(n.process, there.number));
      to.here = reinterpret_cast<signal*>(window.at(among.rank, here.number));
      for (int turn = 0; turn < 2; ++turn) {
        to.to[turn] = window.at(n.process, there.values[turn]);
        to.from[turn] = window.at(among.rank, here.values[turn]);
      }
      most = std::max(most, to.given.count);
    }
  }
  agree(among, Reason(why));
  forth_.blocks_each = back_.blocks_each = blocks_of_exchange(most);
}

Exchange::~Exchange() { peers_->window()->give_back(place_); }

void Exchange::run(ExchangeStep step, const exchange_args& way, int neighbours) {
  launch(kernels_[static_cast<int>(step)], slot_t{1} * neighbours * way.blocks_each, threads_of_krylov, way,
         beside_.stream());
}
void Exchange::give(exchange_args& way, const void* from, const int* stop) {
  way.from = from;
  way.stop = stop;
  beside_.follow(peers_->queue());
  run(ExchangeStep::put, way, way.neighbours);
}
void Exchange::take(void* ghosts, const int* stop) {
  forth_.to = ghosts;
  forth_.stop = stop;
  run(ExchangeStep::take, forth_, forth_.neighbours);
  beside_.end_before(peers_->queue());
}
void Exchange::add(void* y) {
  back_.to = y;
  // What is queued meanwhile has made y.
  beside_.follow(peers_->queue());
  for (back_.first = 0; back_.first < back_.neighbours; ++back_.first) run(ExchangeStep::add, back_, 1);
  back_.first = 0;
  beside_.end_before(peers_->queue());
}

void WindowPeers::check_all_answer() const {
  const std::optional<int> gone = lost();
  if (!gone) return;
  const auto seconds = static_cast<int>(among().patience);
  throw error(ErrorKind::device, "process " + std::to_string(*gone) + " did not answer process " +
                                     std::to_string(rank()) + " within " + std::to_string(seconds) +
                                     " s on the device; it has ended, failed, waits for something else, or needs "
                                     "longer (-mat_compound_exchange_patience)");
}

}  // namespace

std::shared_ptr<Peers> join(Backend& backend, cudaStream_t& queue, const JoinTask& task) {
  if (task.by == ExchangeBy::nccl) return join_by_nccl(backend, queue, task);
  if (task.processes > most_peers)
    throw error(ErrorKind::unsupported, std::to_string(task.processes) + " processes; " + std::to_string(most_peers) +
                                            " can reach each other's devices");
  return std::make_shared<WindowPeers>(backend, queue, task);
}

}  // namespace compound::cuda
