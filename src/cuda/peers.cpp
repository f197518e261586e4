#include "cuda/peers.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

namespace {

/// Of what processes tell each other, none with memory of its own.
template <class T>
std::vector<T> gathered(const JoinTask& among, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(among.processes));
  among.gather(&mine, all.data(), sizeof(T));
  return all;
}

/// Why a process cannot do its part, or another text.
struct Reason {
  char text[256] = {};

  Reason() = default;
  explicit Reason(const std::string& why) { std::copy_n(why.begin(), std::min(why.size(), sizeof(text) - 1), text); }
};

/// Collective: the first reason of all, thrown by all.
void agree(const JoinTask& among, const std::string& why) {
  const std::vector<Reason> all = gathered(among, Reason(why));
  for (int p = 0; p < among.processes; ++p)
    if (all[p].text[0])
      throw error(ErrorKind::unsupported, "process " + std::to_string(p) + ": " + std::string(all[p].text));
}

/// Collective: `work`(), which may lack memory on some of them.
template <class Work>
void allocate_all_or_none(const JoinTask& among, const Work& work) {
  int lacks = 0;
  try {
    work();
  } catch (const std::bad_alloc&) {
    lacks = 1;
  }
  if (std::ranges::max(gathered(among, lacks))) throw std::bad_alloc();
}

constexpr std::size_t line_bytes = 128;
std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// Which bytes of a piece of memory are taken: where, and how many, not none.
class Places {
 public:
  explicit Places(std::size_t bytes) : bytes_(bytes) {}
  /// The first that is large enough; `none` where there is none.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t take(std::size_t bytes) {
    std::size_t from = 0;
    for (const auto& [first, count] : taken_) {
      if (first - from >= bytes) break;
      from = first + count;
    }
    if (bytes_ - from < bytes) return none;
    taken_.emplace(from, bytes);
    return from;
  }
  void give_back(std::size_t first) { taken_.erase(first); }

 private:
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> taken_;
};

/// Memory of each process that all of them write to, in chunks that are opened once: matrices come and go.
class Window {
 public:
  struct Place {
    int chunk = 0;
    std::size_t first = 0;
  };

  Window(Backend& backend, const JoinTask& among) : backend_(backend), among_(among) {}
  Window(const Window&) = delete;
  ~Window() { close(); }
  /// What is the others'.
  void close() {
    for (Chunk& chunk : chunks_) chunk.close();
  }

  /// Collective: so much of this process's own memory. Throws std::bad_alloc on all, or `unsupported`.
  Place take(std::size_t bytes) {
    bytes = std::max(bytes, line_bytes);
    Place place = find(bytes);
    const std::vector<std::size_t> lacking = gathered(among_, place.first == Places::none ? bytes : std::size_t{0});
    if (const std::size_t most = std::ranges::max(lacking); most > 0) {
      if (place.first != Places::none) give_back(place);
      add_chunk(most);
      place = {static_cast<int>(chunks_.size()) - 1, chunks_.back().places.take(bytes)};
    }
    return place;
  }
  void give_back(const Place& place) { chunks_[static_cast<std::size_t>(place.chunk)].places.give_back(place.first); }
  /// In a process's memory.
  std::byte* at(int process, const Place& place) const {
    return static_cast<std::byte*>(chunks_[static_cast<std::size_t>(place.chunk)].of[process]) + place.first;
  }

 private:
  struct Chunk {
    Buffer<std::byte> own;
    Places places;
    std::array<void*, most_peers> of = {};
    std::array<bool, most_peers> opened = {};

    void close() {
      for (int p = 0; p < most_peers; ++p)
        if (std::exchange(opened[p], false)) cudaIpcCloseMemHandle(of[p]);
    }
  };
  struct Offer {
    cudaIpcMemHandle_t handle;
    void* address;
    pid_t of;  ///< a process in the system's sense: its own memory needs no handle, and has none
  };

  Place find(std::size_t bytes) {
    for (std::size_t c = 0; c < chunks_.size(); ++c)
      if (const std::size_t first = chunks_[c].places.take(bytes); first != Places::none)
        return {static_cast<int>(c), first};
    return {0, Places::none};
  }

  void add_chunk(std::size_t bytes) {
    constexpr std::size_t least = std::size_t{16} << 20, page = std::size_t{2} << 20;  // handles are of whole pages
    bytes = (std::max(bytes, least) + page - 1) / page * page;
    Chunk chunk{{}, Places(bytes)};
    allocate_all_or_none(among_, [&] { chunk.own = Buffer<std::byte>(backend_, bytes); });
    backend_.clear(chunk.own.data(), bytes);
    backend_.synchronize();
    std::string why;
    const auto note = [&](cudaError_t code, const std::string& tried) {
      if (code == cudaSuccess) return;
      cudaGetLastError();  // it is told of here
      if (why.empty()) why = tried + ": " + cudaGetErrorString(code);
    };
    Offer mine{{}, chunk.own.data(), getpid()};
    note(cudaIpcGetMemHandle(&mine.handle, mine.address), "sharing device memory with other processes");
    const std::vector<Offer> offers = gathered(among_, mine);
    for (int p = 0; p < among_.processes && why.empty(); ++p) {
      chunk.of[p] = offers[p].address;
      if (offers[p].of == mine.of) continue;
      const cudaError_t code = cudaIpcOpenMemHandle(&chunk.of[p], offers[p].handle, cudaIpcMemLazyEnablePeerAccess);
      chunk.opened[p] = code == cudaSuccess;
      note(code, "opening the device memory of process " + std::to_string(p));
    }
    try {
      agree(among_, why);
    } catch (...) {
      chunk.close();
      gathered(among_, 0);  // no memory goes that others have open
      throw;
    }
    chunks_.push_back(std::move(chunk));
  }

  Backend& backend_;
  const JoinTask& among_;
  std::vector<Chunk> chunks_;
};

class CudaPeers;

class Exchange final : public PeerExchange {
 public:
  Exchange(std::shared_ptr<CudaPeers> peers, const ExchangeTask& task);
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
  void end() const;

  std::shared_ptr<CudaPeers> peers_;
  Stream beside_;  ///< the queue
  Event begin_, end_;
  Window::Place place_;
  Buffer<std::byte> numbers_;  ///< how many exchanges there were, and tickets, for each way
  std::vector<Buffer<count32>> blocks_;
  exchange_args forth_, back_;
  std::array<const void*, 3> kernels_ = {};
};

class CudaPeers final : public Peers, public std::enable_shared_from_this<CudaPeers> {
 public:
  CudaPeers(Backend& backend, cudaStream_t& queue, const JoinTask& task)
      : backend_(backend), queue_(queue), among_(task), window_(backend, among_) {
    allocate_all_or_none(among_, [&] { report_ = Pinned(sizeof(peers_report)); });
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
    allocate_all_or_none(among_, [&] {
      meetings_ = Buffer<signal>(backend, 1);
      backend.clear(meetings_.data(), meetings_.bytes());
      meeting.meetings = meetings_.data();
      meeting_ = Buffer<meeting_args>(backend, std::span<const meeting_args>(&meeting, 1));
    });
  }
  CudaPeers(const CudaPeers&) = delete;
  /// No memory goes that others may still write to, or have open.
  ~CudaPeers() override {
    if (lost()) return;
    try {
      backend_.synchronize();
      gathered(among_, 0);
      window_.close();
      gathered(among_, 0);
    } catch (...) {  // the processes end
    }
  }

  int rank() const override { return among_.rank; }
  int processes() const override { return among_.processes; }
  std::unique_ptr<PeerExchange> exchange(const ExchangeTask& task) override {
    return std::make_unique<Exchange>(shared_from_this(), task);
  }
  std::optional<int> lost() const override {
    const int found = std::atomic_ref(report()->lost).load(std::memory_order_acquire);
    return found ? std::optional(found - 1) : std::nullopt;
  }

  const std::string& shared_device() const override { return shared_; }

  Backend& backend() const { return backend_; }
  cudaStream_t queue() const { return queue_; }
  const JoinTask& among() const { return among_; }
  Window& window() { return window_; }
  const meeting_args* meeting() const { return meeting_.data(); }
  patience waits() const { return {static_cast<unsigned long long>(among_.patience * 1e9), report()}; }

 private:
  peers_report* report() const { return static_cast<peers_report*>(report_.data()); }

  Backend& backend_;
  cudaStream_t& queue_;
  const JoinTask among_;
  std::string shared_;
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

Exchange::Exchange(std::shared_ptr<CudaPeers> peers, const ExchangeTask& task) : peers_(std::move(peers)) {
  std::vector<WantedKernel> wanted;
  for (const ExchangeStep step : exchange_steps)
    wanted.push_back({exchange_source(task.scalar, step), &kernels_[static_cast<int>(step)]});
  find_kernels(wanted);
  Backend& backend = peers_->backend();
  allocate_all_or_none(peers_->among(), [&] {
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
  Window& window = peers_->window();
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
  agree(among, why);
  constexpr slot_t of_block = slot_t{4} * threads_of_krylov, most_blocks = 32;
  forth_.blocks_each = back_.blocks_each =
      static_cast<int>(std::clamp<slot_t>(blocks_for(most, of_block), 1, most_blocks));
}

Exchange::~Exchange() { peers_->window().give_back(place_); }

void Exchange::run(ExchangeStep step, const exchange_args& way, int neighbours) {
  launch(kernels_[static_cast<int>(step)], slot_t{1} * neighbours * way.blocks_each, threads_of_krylov, way,
         beside_.get());
}
void Exchange::give(exchange_args& way, const void* from, const int* stop) {
  way.from = from;
  way.stop = stop;
  begin_.record(peers_->queue());
  begin_.let_wait(beside_.get());
  run(ExchangeStep::put, way, way.neighbours);
}
void Exchange::end() const {
  end_.record(beside_.get());
  end_.let_wait(peers_->queue());
}
void Exchange::take(void* ghosts, const int* stop) {
  forth_.to = ghosts;
  forth_.stop = stop;
  run(ExchangeStep::take, forth_, forth_.neighbours);
  end();
}
void Exchange::add(void* y) {
  back_.to = y;
  // What is queued meanwhile has made y.
  begin_.record(peers_->queue());
  begin_.let_wait(beside_.get());
  for (back_.first = 0; back_.first < back_.neighbours; ++back_.first) run(ExchangeStep::add, back_, 1);
  back_.first = 0;
  end();
}

}  // namespace

std::shared_ptr<Peers> join(Backend& backend, cudaStream_t& queue, const JoinTask& task) {
  if (task.processes > most_peers)
    throw error(ErrorKind::unsupported, std::to_string(task.processes) + " processes; " + std::to_string(most_peers) +
                                            " can reach each other's devices");
  return std::make_shared<CudaPeers>(backend, queue, task);
}

const meeting_args* meeting_of(const Peers& peers) { return static_cast<const CudaPeers&>(peers).meeting(); }

void check_all_answer(const Peers& peers) {
  const std::optional<int> lost = peers.lost();
  if (!lost) return;
  const auto seconds = static_cast<int>(static_cast<const CudaPeers&>(peers).among().patience);
  throw error(ErrorKind::device, "process " + std::to_string(*lost) + " did not answer process " +
                                     std::to_string(peers.rank()) + " within " + std::to_string(seconds) +
                                     " s on the device; it has ended, failed, or waits for something else");
}

}  // namespace compound::cuda
