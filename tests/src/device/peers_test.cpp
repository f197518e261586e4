// What devices of several processes exchange, as the device text has it, compiled for the host: in all orders that two
// processes can come in, and by processes of the system that share memory.
#include <gtest/gtest.h>

#include <sched.h>
#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "forked.hpp"

namespace emulated {

#include "emulated_block.hpp"

#include "device/peers.hpp"

#include "emulated_text_end.hpp"

namespace {

using namespace compound;

constexpr int width = 2, threads = 32;

/// Memory of one process that all of them see, as a device's window: for each other process what arrives, both ways.
struct Window {
  static constexpr int most = 6;  ///< scalars of an exchange
  struct Arrivals {
    signal number = 0;
    double values[2][most] = {};
  };
  Arrivals of[2][most_peers];
  signal places[signals_of_meetings()] = {};
};

/// Which faults are put in; one_direction: process 0 does not wait for the other.
enum class Fault { none, one_place, number_too_high, one_direction };

/// One process, of which each other one reads two blocks.
class Process {
 public:
  Process(int rank, int processes, Window* windows, Fault fault = Fault::none)
      : rank_(rank), processes_(processes), windows_(windows) {
    for (exchange_args* way : {&forth_, &back_}) {
      way->width = width;
      way->exchanges = &exchanges_[way == &back_];
      way->tickets = tickets_[way == &back_].data();
      way->blocks_each = 2;
      way->waits = {10000000000, &report_};
    }
    for (int p = 0; p < processes; ++p) {
      if (p == rank) continue;
      blocks_[p] = {count32(p), count32((p + 1) % processes)};
      const slot_t first = ghosts_of(p);
      add(forth_, 0, p, {blocks_[p].data(), 0, 2 * width}, {nullptr, first, 2 * width}, fault);
      add(back_, 1, p, {nullptr, first, 2 * width}, {blocks_[p].data(), 0, 2 * width}, fault);
    }
    meeting_.rank = rank;
    meeting_.processes = processes;
    meeting_.meetings = &meetings_;
    meeting_.waits = {10000000000, &report_};
    for (int p = 0; p < processes; ++p) meeting_.places[p] = windows[p].places;
  }
  Process(const Process&) = delete;

  void set_patience(unsigned long long looks) {
    for (patience* waits : {&forth_.waits, &back_.waits, &meeting_.waits}) waits->nanoseconds = looks;
  }
  int lost() const { return report_.lost - 1; }

  /// Values that say whose they are, and of which exchange.
  static double value(int rank, int exchange, slot_t scalar) { return 1000 * exchange + 100 * rank + double(scalar); }
  void put(int exchange) {
    for (slot_t i = 0; i < slot_t(x_.size()); ++i) x_[i] = value(rank_, exchange, i);
    forth_.from = x_.data();
    run(forth_, [&] { put_values<double>(forth_); });
  }
  bool can_take() const {
    for (int n = 0; n < forth_.neighbours; ++n)
      if (*forth_.of[n].here < exchanges_[0] + 1) return false;
    return true;
  }
  /// Whether the ghosts are those of the exchange.
  bool take(int exchange) {
    forth_.to = ghosts_.data();
    run(forth_, [&] { take_values<double, false>(forth_); });
    bool right = true;
    for (int n = 0; n < forth_.neighbours && !hears_nothing_; ++n) {
      const neighbour_args& from = forth_.of[n];
      for (slot_t i = 0; i < from.taken.count; ++i) {
        const slot_t block = i < width ? rank_ : (rank_ + 1) % processes_;
        right &= ghosts_[from.taken.first + i] == value(from.process, exchange, block * width + i % width);
      }
    }
    return right;
  }
  /// Numbers of each exchange go back in place of the ghosts; whether y is what all have given, in the order of ranks.
  bool add_back(int exchange) {
    for (slot_t i = 0; i < slot_t(ghosts_.size()); ++i) ghosts_[i] = 0.1 * value(rank_, exchange, i);
    back_.from = ghosts_.data();
    run(back_, [&] { put_values<double>(back_); });
    std::array<double, 2 * most_peers> y, wanted;
    y.fill(0.3);
    wanted.fill(0.3);
    back_.to = y.data();
    for (back_.first = 0; back_.first < back_.neighbours; ++back_.first)
      launch(back_.blocks_each, threads, [&] { take_values<double, true>(back_); });
    back_.first = 0;
    for (int p = 0; p < processes_; ++p)
      for (slot_t i = 0; p != rank_ && i < 2 * width; ++i)
        wanted[blocks_[p][i / width] * width + i % width] += 0.1 * value(p, exchange, ghosts_of(rank_) + i);
    return y == wanted;
  }
  /// The sum over all processes, or nothing.
  bool meet(std::array<double, 3>& numbers) {
    bool met = true;
    launch(1, 32, [&] {
      sums<double, 3> total{{numbers[0], numbers[1], numbers[2]}};
      const bool there = add_up_over_peers(meeting_, &total);
      if (threadIdx.x == 31) {  // all lanes have it
        met = there;
        std::memcpy(numbers.data(), total.of, sizeof(total.of));
      }
    });
    return met;
  }

 private:
  static slot_t ghosts_of(int process) { return slot_t{2} * width * process; }
  void add(exchange_args& args, int way, int p, some_scalars given, some_scalars taken, Fault fault) {
    neighbour_args& n = args.of[args.neighbours++];
    Window::Arrivals &there = windows_[p].of[way][rank_], &here = windows_[rank_].of[way][p];
    n.process = p;
    n.given = given;
    n.taken = taken;
    n.arrived = &there.number;
    n.here = &here.number;
    for (int turn = 0; turn < 2; ++turn) {
      n.to[turn] = there.values[fault == Fault::one_place ? 0 : turn];
      n.from[turn] = here.values[fault == Fault::one_place ? 0 : turn];
    }
    if (fault == Fault::number_too_high) here.number = 1;
    hears_nothing_ = fault == Fault::one_direction && rank_ == 0;
    if (hears_nothing_) here.number = 1000;
    if (fault == Fault::one_direction && rank_ == 1) n.arrived = &unheard_;
  }
  template <class Kernel>
  void run(const exchange_args& args, const Kernel& kernel) {
    launch(unsigned(args.neighbours * args.blocks_each), threads, kernel);
  }

  int rank_, processes_;
  Window* windows_;
  bool hears_nothing_ = false;
  signal unheard_ = 0;
  peers_report report_;
  signal exchanges_[2] = {}, meetings_ = 0;
  std::array<unsigned, most_peers> tickets_[2] = {};
  std::array<count32, 2> blocks_[most_peers] = {};
  std::array<double, 2 * most_peers> x_ = {};
  std::array<double, 2 * width* most_peers> ghosts_ = {};
  exchange_args forth_, back_;
  meeting_args meeting_;
};

/// Two processes that exchange three times: one of the orders in which their kernels can run, bit by bit of `order`.
/// Whether all values were right.
bool exchange_in_order(unsigned order, Fault fault) {
  constexpr int exchanges = 3, steps = 2 * exchanges;
  std::array<Window, 2> windows;
  std::array<std::unique_ptr<Process>, 2> processes;
  for (int p = 0; p < 2; ++p) processes[p] = std::make_unique<Process>(p, 2, windows.data(), fault);
  std::array<int, 2> done = {};
  for (bool right = true; right && (done[0] < steps || done[1] < steps);) {
    bool moved = false;
    const int first = int(order & 1);
    order >>= 1;
    for (const int p : {first, 1 - first}) {
      const int exchange = done[p] / 2 + 1;
      if (moved || done[p] == steps) continue;
      if (done[p] % 2 == 1 && !processes[p]->can_take()) continue;
      if (done[p] % 2 == 0)
        processes[p]->put(exchange);
      else
        right = processes[p]->take(exchange);
      done[p] += 1;
      moved = true;
    }
    if (!right) return false;
    EXPECT_TRUE(moved) << "both wait for ever";
    if (!moved) return false;
  }
  return true;
}

/// The first order in which a value is wrong; -1: none.
int first_wrong_order(Fault fault) {
  constexpr int steps = 12, of_each = steps / 2;
  for (unsigned order = 0; order < 1u << steps; ++order)
    if (std::popcount(order) == of_each && !exchange_in_order(order, fault)) return int(order);
  return -1;
}

TEST(ExchangesInEveryOrder, GiveTheValuesOfTheExchange) { EXPECT_EQ(first_wrong_order(Fault::none), -1); }

/// What goes wrong without one of the rules is seen.
TEST(ExchangesInEveryOrder, WouldShowABrokenRule) {
  for (const Fault fault : {Fault::one_place, Fault::number_too_high, Fault::one_direction})
    EXPECT_NE(first_wrong_order(fault), -1) << int(fault);
}

TEST(ProcessesAtTheirOwnPace, ExchangeBothWays) {
  for (const int processes : {2, 3})
    EXPECT_TRUE(in_processes<Window>(processes, [&](int rank, Window* windows) {
      Process p(rank, processes, windows);
      std::mt19937 random(unsigned(7 * rank + processes));
      bool right = true;
      for (int exchange = 1; right && exchange <= 150; ++exchange) {
        pause(random);
        p.put(exchange);
        pause(random);
        right = p.take(exchange) && p.add_back(exchange);
      }
      return right && p.lost() < 0;
    })) << processes;
}

TEST(ProcessesAtTheirOwnPace, AddUpToTheSameBits) {
  for (const int processes : {2, 4})
    EXPECT_TRUE(in_processes<Window>(processes, [&](int rank, Window* windows) {
      Process p(rank, processes, windows);
      std::mt19937 random(unsigned(11 * rank));
      bool right = true;
      for (int n = 0; right && n < 60; ++n) {
        const auto of = [n](int process, int i) { return std::sin(1.7 * n + 0.3 * process + i) / 3; };
        std::array<double, 3> found, wanted;
        for (int i = 0; i < 3; ++i) {
          found[i] = of(rank, i);
          wanted[i] = of(0, i);
          for (int q = 1; q < processes; ++q) wanted[i] += of(q, i);
        }
        pause(random);
        right = p.meet(found) && found == wanted;
      }
      return right;
    })) << processes;
}

/// The last process leaves after ten sums: the others end, and say which it was.
TEST(ProcessesAtTheirOwnPace, EndWithoutOneThatIsLost) {
  constexpr int processes = 3, leaver = processes - 1;
  EXPECT_TRUE(in_processes<Window>(processes, [&](int rank, Window* windows) {
    Process p(rank, processes, windows);
    for (int n = 0; n < 10; ++n) {
      std::array<double, 3> numbers = {1, 2, 3};
      if (!p.meet(numbers) || numbers[2] != 9) return false;
    }
    if (rank == leaver) return true;
    p.set_patience(50000000);  // the other one that stays may wait for a core
    std::array<double, 3> numbers = {};
    const bool met = p.meet(numbers);
    p.put(1);
    return !met && p.lost() == leaver && !p.take(1) && p.lost() == leaver;
  }));
}

}  // namespace
}  // namespace emulated
