// Krylov loops in one kernel of several processes, as the device text has them, compiled for the host: each process of
// the system has a part of the rows and a block of threads, beside the loop of one process.
#include <gtest/gtest.h>

#include <sched.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "forked.hpp"
#include "support/tier.hpp"

namespace emulated {

#include "emulated_block.hpp"

#include "device/krylov_whole.hpp"

#include "emulated_text_end.hpp"

#include "emulated_krylov.hpp"

namespace {

constexpr int most_processes = 3, most_ghosts = 2;
/// Rows of each process. The one in the middle has a row that both others read.
constexpr int first_row[][most_processes + 1] = {{}, {}, {0, 23, rows}, {0, 23, 24, rows}};

struct Window {
  signal places[signals_of_places(most_processes)] = {};
  double ghosts[2][most_ghosts * 2 * 2] = {};  ///< of two vectors, real or complex
};

template <class F>
struct OfPeers : F {
  static constexpr bool of_peers = true, has_ghosts = true;
  using of_ghosts = F;
};

/// A part of the rows: by their own columns, or by those of other processes, in the order of these.
template <class S>
System<S> part_of(const System<S>& s, int from, int to, bool own, std::vector<int>& ghosts) {
  System<S> part = s;
  part.start = {0};
  part.column.clear();
  part.values.clear();
  for (int i = from; i < to; ++i) {
    for (count32 e = s.start[i]; e < s.start[i + 1]; ++e) {
      const int j = s.column[e];
      if ((from <= j && j < to) != own) continue;
      if (!own && std::ranges::find(ghosts, j) == ghosts.end()) ghosts.push_back(j);
      part.column.push_back(own ? j - from : int(std::ranges::find(ghosts, j) - ghosts.begin()));
      part.values.insert(part.values.end(), s.values.begin() + 4 * e, s.values.begin() + 4 * (e + 1));
    }
    part.start.push_back(count32(part.column.size()));
  }
  return part;
}
template <class T>
void keep_rows(std::vector<T>& v, int from, int to) {
  std::vector<T> kept;
  for (std::size_t first = 0; first < v.size(); first += scalars)
    kept.insert(kept.end(), v.begin() + first + 2 * from, v.begin() + first + 2 * to);
  v = kept;
}

/// The part of a loop that one process has.
template <class F>
class Part {
 public:
  using S = typename F::scalar;

  Part(const Loop<F>& whole, int rank, int processes, Window* windows)
      : from_(first_row[processes][rank]),
        to_(first_row[processes][rank + 1]),
        own_(part_of(whole.system, from_, to_, true, ghosts_)),
        others_(part_of(whole.system, from_, to_, false, ghosts_)),
        given_(own_.block_rows()),
        beside_(own_.zeros()),
        old_(2 * most_ghosts * 2) {
    keep_rows(own_.factors, from_, to_);
    keep_rows(own_.null_space, from_, to_);
    loop = std::make_unique<Loop<OfPeers<F>>>(own_);
    loop->vectors = whole.vectors;
    for (int v = 0; v < most_krylov_vectors; ++v) {
      keep_rows(loop->vectors[v], from_, to_);
      loop->a.loop.vectors[v] = loop->vectors[v].data();
    }
    loop->state = whole.state;
    loop->made = whole.made;
    whole_peers& p = loop->a.peers;
    p.rank = rank;
    p.processes = processes;
    p.waits = {1000000000, &lost_};
    p.product = loop->product_of(others_, int(ghosts_.size()));
    p.beside = beside_.data();
    p.width = 2;
    p.ghosts = 2 * slot_t(ghosts_.size());
    for (int k = 0; k < 2; ++k) p.old[k] = old_.data() + k * most_ghosts * 2;
    for (int q = 0; q < processes; ++q) {
      p.first[q + 1] = q + 1;
      p.places[q] = windows[q].places;
      p.ghosts_of[q] = windows[q].ghosts;
      p.apart[q] = most_ghosts * 2;
    }
    give(whole.system, processes);
    p.given = given_.data();
    p.targets = targets_.data();
  }
  Part(const Part&) = delete;

  void set_patience(unsigned long long looks) { loop->a.peers.waits.nanoseconds = looks; }
  int lost() const { return lost_.lost - 1; }
  int first() const { return 2 * from_; }

  std::unique_ptr<Loop<OfPeers<F>>> loop;

 private:
  void give(const System<S>& s, int processes) {
    std::vector<std::vector<ghost_target>> of_row(given_.size());
    for (int q = 0; q < processes; ++q) {
      std::vector<int> read;
      if (first_row[processes][q] == from_) continue;
      part_of(s, first_row[processes][q], first_row[processes][q + 1], false, read);
      for (std::size_t k = 0; k < read.size(); ++k)
        if (from_ <= read[k] && read[k] < to_) of_row[read[k] - from_].push_back({short(q), 0, count32(k)});
    }
    for (std::size_t row = 0; row < of_row.size(); ++row) {
      if (of_row[row].empty()) continue;
      of_row[row].back().last = 1;
      given_[row] = count32(targets_.size() + 1);
      targets_.insert(targets_.end(), of_row[row].begin(), of_row[row].end());
    }
  }

  int from_, to_;
  std::vector<int> ghosts_;
  System<S> own_, others_;
  std::vector<count32> given_;
  std::vector<ghost_target> targets_;
  std::vector<S> beside_, old_;
  peers_report lost_;
};

/// Norms, as far as rounding leaves them alone, and the solution.
bool is_near(const Ran& made, const Ran& wanted, int first) {
  bool right = made.stop == wanted.stop && made.norms.size() > 5;
  for (std::size_t i = 0; i < std::min(made.norms.size(), std::size_t{15}); ++i)
    right &= std::abs(made.norms[i] - wanted.norms[i]) <= 1e-9 * wanted.norms[i];
  for (std::size_t i = 0; i < made.x.size(); ++i) right &= std::abs(made.x[i] - wanted.x[first + int(i)]) <= 1e-5;
  return right;
}

template <class F>
void expect_as_one(const System<typename F::scalar>& s, int first_vector,
                   const std::vector<int>& all_at_once = {3, 15}) {
  const Ran wanted = run<F>(s, first_vector, 1e-8, 15, 200);
  Loop<F> whole(s);
  whole.start(first_vector);
  const auto is_right = [&](int rank, int processes, Window* windows, int at_once) {
    Part<F> part(whole, rank, processes, windows);
    std::mt19937 random{unsigned(rank)};
    pause(random);
    part.loop->go_on(1e-8, at_once, 200);
    return part.lost() < 0 && is_near(part.loop->made, wanted, part.first());
  };
  for (const int processes : ::compound::test::tier_is_all() ? std::vector{2, 3} : std::vector{3})
    for (const int at_once : all_at_once)
      EXPECT_TRUE(in_processes<Window>(
          processes, [&](int rank, Window* windows) { return is_right(rank, processes, windows, at_once); }))
          << processes << " processes, " << at_once << " at once";
}

template <class S, int columns, bool two, Traversal by, Nulls nulls = {}>
using Cg = Form<S, KrylovNorm::preconditioned, columns, two, true, true, by, nulls>;
template <class S, int columns, Nulls nulls = {}>
using Bcgs = Form<S, KrylovNorm::preconditioned, columns, false, false, true, Traversal::rows, nulls>;

TEST(KernelsOfProcesses, AreTheLoopOfOneByCg) {
  const System<double> real(true);
  const System<complex_number<double>> complex(true);
  expect_as_one<Cg<double, 0, false, Traversal::rows>>(real, most_krylov_vectors);
  expect_as_one<Cg<double, 1, false, Traversal::components>>(real, most_krylov_vectors);
  expect_as_one<Cg<complex_number<double>, 1, false, Traversal::rows>>(complex, most_krylov_vectors);
}

TEST(KernelsOfProcesses, AreTheLoopOfOneWithTwoMeetings) {
  const System<double> real(true);
  const System<complex_number<double>> complex(true);
  expect_as_one<Cg<double, 0, true, Traversal::components>>(real, most_krylov_vectors);
  expect_as_one<Cg<double, 1, true, Traversal::rows>>(real, most_krylov_vectors);
  expect_as_one<Cg<complex_number<double>, 1, true, Traversal::rows>>(complex, most_krylov_vectors);
}

TEST(KernelsOfProcesses, AreTheLoopOfOneByBicgstab) {
  const System<double> real(true);
  expect_as_one<Bcgs<double, 1>>(real, bcgs_vectors::r0);
  expect_as_one<Bcgs<double, 0>>(real, bcgs_vectors::r0);
}

TEST(KernelsOfProcesses, RemoveNullSpaces) {
  const System<double> s(Nulls{true, 1});
  expect_as_one<Cg<double, 1, false, Traversal::rows, Nulls{true, 1}>>(s, most_krylov_vectors, {15});
  expect_as_one<Cg<double, 1, true, Traversal::rows, Nulls{true, 1}>>(s, most_krylov_vectors, {15});
  expect_as_one<Bcgs<double, 1, Nulls{true, 1}>>(s, bcgs_vectors::r0, {15});
}

/// The last process leaves after some iterations: the others end, and say which it was.
TEST(KernelsOfProcesses, EndWithoutOneThatIsLost) {
  using F = Cg<double, 1, false, Traversal::rows>;
  constexpr int processes = 3, leaver = 1;
  EXPECT_TRUE(in_processes<Window>(processes, [&](int rank, Window* windows) {
    const System<double> s(true);
    Loop<F> whole(s);
    whole.start(most_krylov_vectors);
    Part<F> part(whole, rank, processes, windows);
    part.set_patience(20);
    part.loop->go_on(-1, 4, 4);
    if (part.loop->made.norms.size() != 5 || part.lost() >= 0) return false;
    if (rank == leaver) return true;
    part.loop->go_on(-1, 4, 8);
    return part.loop->state.stop == int(KrylovStop::lost_peer) && part.lost() == leaver;
  }));
}

/// Parts of one loop whose sums a library gathers between two kernels, all in this process; products by hand.
template <class F>
class GatheredLoop {
 public:
  using S = typename F::scalar;

  GatheredLoop(const System<S>& s, int processes, int first_vector) : whole_(s) {
    std::vector<int> ghosts;
    for (int p = 0; p < processes; ++p) {
      const int from = first_row[processes][p], to = first_row[processes][p + 1];
      System<S>& part = *systems_.emplace_back(std::make_unique<System<S>>(part_of(s, from, to, true, ghosts)));
      keep_rows(part.b, from, to);
      keep_rows(part.factors, from, to);
      keep_rows(part.null_space, from, to);
      loops_.push_back(std::make_unique<Loop<F>>(part));
      vector(p, cg_vectors::r) = part.b;
      for (int v = first_vector; v < most_krylov_vectors; ++v) vector(p, v) = part.b;
      first_.push_back(2 * from);
    }
    own_.resize(static_cast<std::size_t>(processes));
    all_.resize(own_.size());
    for (int p = 0; p < processes; ++p) loops_[p]->a.loop.gathered = {&own_[p], all_.data(), processes};
    set_limits(-1, 1 << 30);
  }

  std::vector<Ran> run(double below, int most) {
    if constexpr (is_cg) {
      stage(true, [](auto& l, auto& a, auto& g) { cg_step<F>(a, l.state, g); });
      end_cg();
    } else {
      stage(true, [](auto& l, auto& a, auto& g) { bcgs_step<F>(a, l.state, g); });
      stage(false, [](auto& l, auto& a, auto& g) { bcgs_turn<F>(a, l.state, g); });
    }
    for (set_limits(below, most + 1); loops_[0]->state.stop == 0;) iterate();
    std::vector<std::vector<S>> at_end;
    for (const auto& loop : loops_) at_end.push_back(loop->vectors[cg_vectors::x]);
    iterate();  // a device has queued more of them
    std::vector<Ran> all;
    for (const auto& loop : loops_) {
      const auto& kept = at_end[all.size()];
      EXPECT_EQ(std::memcmp(kept.data(), loop->vectors[cg_vectors::x].data(), kept.size() * sizeof(S)), 0)
          << "changed after the end";
      EXPECT_EQ(loop->made.norms, loops_[0]->made.norms) << "all have the same bits";
      loop->made.stop = loop->state.stop;
      for (const S& x : loop->vectors[cg_vectors::x]) loop->made.x.push_back(value(x));
      all.push_back(loop->made);
    }
    return all;
  }
  int first(int p) const { return first_[p]; }

 private:
  static constexpr bool is_cg = requires(typename F::state s) { s.curvature; };

  std::vector<S>& vector(int p, int v) { return loops_[p]->vectors[v]; }
  void set_limits(double below, int most) {
    for (const auto& loop : loops_) {
      loop->state.below = below;
      loop->state.above = INFINITY;
      loop->state.most = most;
      loop->state.stop = 0;
    }
  }
  template <class Work>
  void stage(bool sums, const Work& work) {
    for (const auto& loop : loops_)
      launch(1, threads, [&] {
        kernels_before_gathering grid;
        work(*loop, loop->a.loop, grid);
      });
    all_ = own_;
    for (const auto& loop : loops_) {
      if (!sums) continue;
      krylov_args after = loop->a.loop;
      after.scalars = 0;
      launch(1, threads, [&] {
        kernels_after_gathering grid;
        work(*loop, after, grid);
      });
      loop->hear();
    }
  }
  /// With each part's share of a dot product.
  void multiply(int from, int to, int dot_with) {
    typename System<S>::Values x;
    for (std::size_t p = 0; p < loops_.size(); ++p)
      for (const S& v : vector(int(p), from)) x.push_back(value(v));
    const auto y = whole_.times(x);
    for (std::size_t p = 0; p < loops_.size(); ++p) {
      std::complex<double> dot = 0;
      for (std::size_t i = 0; i < vector(int(p), to).size(); ++i) {
        const auto v = y[first_[p] + i];
        vector(int(p), to)[i] = number<S>(v.real(), v.imag());
        dot += std::conj(value(vector(int(p), dot_with)[i])) * v;
      }
      loops_[p]->state.dot = number<S>(dot.real(), dot.imag());
    }
  }
  void meet() {
    stage(true, [](auto& l, auto& a, auto& g) { meet_dot<F>(a, l.state, g); });
  }
  void end_cg() {
    if constexpr (F::null_vectors > 0) stage(true, [](auto& l, auto& a, auto& g) { cg_project<F>(a, l.state, g); });
    stage(false, [](auto& l, auto& a, auto& g) { cg_turn<F>(a, l.state, g); });
  }
  void iterate() {
    if constexpr (is_cg) {
      using V = cg_vectors;
      multiply(V::p, V::w, V::p);
      meet();
      stage(true, [](auto& l, auto& a, auto& g) { cg_step<F>(a, l.state, g); });
      end_cg();
    } else {
      using V = bcgs_vectors;
      multiply(V::p, V::w, bcgs_shadow(F::columns));
      if constexpr (F::null_vectors == 0) meet();
      stage(true, [](auto& l, auto& a, auto& g) { bcgs_first<F>(a, l.state, g); });
      if constexpr (F::null_vectors > 0) {
        stage(true, [](auto& l, auto& a, auto& g) { bcgs_project_first<F>(a, l.state, g); });
        stage(false, [](auto& l, auto& a, auto& g) { bcgs_half<F>(a, l.state, g); });
      }
      multiply(V::s, V::w, V::s);
      stage(true, [](auto& l, auto& a, auto& g) { bcgs_second<F>(a, l.state, g); });
      if constexpr (F::null_vectors > 0)
        stage(true, [](auto& l, auto& a, auto& g) { bcgs_project_second<F>(a, l.state, g); });
      stage(true, [](auto& l, auto& a, auto& g) { bcgs_step<F>(a, l.state, g); });
      stage(false, [](auto& l, auto& a, auto& g) { bcgs_turn<F>(a, l.state, g); });
    }
  }

  struct Sums {
    alignas(16) std::byte of[gathered_args::bytes_each] = {};
  };
  static_assert(sizeof(Sums) == gathered_args::bytes_each);

  const System<S>& whole_;
  std::vector<std::unique_ptr<System<S>>> systems_;
  std::vector<std::unique_ptr<Loop<F>>> loops_;
  std::vector<int> first_;
  std::vector<Sums> own_, all_;
};

template <class F>
void expect_as_one_by_gathering(const System<typename F::scalar>& s, int first_vector) {
  const Ran wanted = run<F>(s, first_vector, 1e-8, 15, 200);
  constexpr int processes = 3;
  GatheredLoop<F> loop(s, processes, first_vector);
  const std::vector<Ran> made = loop.run(1e-8, 200);
  for (int p = 0; p < processes; ++p) EXPECT_TRUE(is_near(made[p], wanted, loop.first(p))) << p;
}

TEST(KernelsBetweenGatherings, AreTheLoopOfOne) {
  const System<double> real(true), singular(Nulls{true, 1});
  const System<complex_number<double>> complex(true);
  expect_as_one_by_gathering<Cg<double, 1, false, Traversal::rows>>(real, most_krylov_vectors);
  expect_as_one_by_gathering<Cg<complex_number<double>, 0, false, Traversal::rows>>(complex, most_krylov_vectors);
  expect_as_one_by_gathering<Bcgs<double, 1>>(real, bcgs_vectors::r0);
  expect_as_one_by_gathering<Cg<double, 1, false, Traversal::rows, Nulls{true, 1}>>(singular, most_krylov_vectors);
  expect_as_one_by_gathering<Bcgs<double, 1, Nulls{true, 1}>>(singular, bcgs_vectors::r0);
}

}  // namespace
}  // namespace emulated
