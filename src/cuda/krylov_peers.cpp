#include "cuda/krylov_peers.hpp"

#include <algorithm>
#include <vector>

#include "cuda/plan_code.hpp"

namespace compound::cuda {

namespace {

/// What a process tells the others.
struct Offer {
  Window::Place place;
  slot_t blocks = 0, ghosts = 0;
  slot_t first[most_peers] = {};  ///< of each process's ghosts here, in scalars
};

/// Scalars, so that those of each vector begin at a whole line.
slot_t apart_of(slot_t ghosts, ScalarType scalar) {
  return static_cast<slot_t>(whole_lines(static_cast<std::size_t>(ghosts) * bytes_of(scalar))) /
         static_cast<slot_t>(bytes_of(scalar));
}

/// Vectors of which others read: CG's direction; BiCGSTAB's, and s.
int given_vectors(KrylovMethod method) { return method == KrylovMethod::cg ? 1 : 2; }

/// For each block row where its targets begin, after 1, or 0; and the targets.
struct Given {
  std::vector<count32> first;
  std::vector<ghost_target> targets;

  Given(slot_t rows, const PeerExchange& exchange, int rank, const std::vector<Offer>& offers)
      : first(static_cast<std::size_t>(rows)) {
    std::vector<std::vector<ghost_target>> of_row(first.size());
    for (const Neighbour& n : exchange.neighbours()) {
      slot_t block = offers[n.process].first[rank] / exchange.width();
      for (const count32 row : n.blocks)
        of_row[row].push_back({static_cast<short>(n.process), 0, static_cast<count32>(block++)});
    }
    for (std::size_t row = 0; row < of_row.size(); ++row) {
      if (of_row[row].empty()) continue;
      first[row] = static_cast<count32>(targets.size() + 1);
      of_row[row].back().last = 1;
      targets.insert(targets.end(), of_row[row].begin(), of_row[row].end());
    }
  }
};

}  // namespace

WholePeers::WholePeers(Backend& backend, const KrylovProblem& problem, const PeerExchange& exchange,
                       const std::optional<ProductTask>& by_ghosts, slot_t blocks, bool two_grid_syncs)
    : peers_(cuda_peers(*problem.peers)) {
  const JoinTask& all = peers_.among();
  Window& window = *peers_.window();
  const std::size_t scalar = bytes_of(problem.scalar);
  Offer mine;
  mine.blocks = blocks;
  for (const Neighbour& n : exchange.neighbours()) {
    mine.first[n.process] = n.first;
    mine.ghosts = std::max(mine.ghosts, n.first + n.scalars);
  }
  std::vector<Offer> offers = gathered(all, mine);
  args_.rank = all.rank;
  args_.processes = all.processes;
  args_.waits = peers_.waits();
  args_.width = exchange.width();
  args_.ghosts = mine.ghosts;
  for (int p = 0; p < all.processes; ++p) {
    args_.first[p + 1] = args_.first[p] + offers[p].blocks;
    args_.apart[p] = apart_of(offers[p].ghosts, problem.scalar);
  }
  all_or_none(all, [&] {
    const Given given(problem.scalars / args_.width, exchange, all.rank, offers);
    given_ = Buffer<count32>(backend, given.first);
    targets_ = Buffer<ghost_target>(backend, given.targets);
    if (!by_ghosts) return;
    beside_ = Buffer<std::byte>(backend, static_cast<std::size_t>(problem.scalars) * scalar);
    backend.clear(beside_.data(), beside_.bytes());
    if (two_grid_syncs) old_ = Buffer<std::byte>(backend, 2 * static_cast<std::size_t>(args_.apart[all.rank]) * scalar);
    args_.product = args_of(*by_ghosts);
  });
  args_.given = given_.data();
  args_.targets = targets_.data();
  args_.beside = beside_.data();
  for (int k = 0; k < 2 && old_.bytes() > 0; ++k)
    args_.old[k] = old_.data() + static_cast<std::size_t>(k * args_.apart[all.rank]) * scalar;

  const auto of_places = static_cast<std::size_t>(signals_of_places(args_.first[all.processes])) * sizeof(signal);
  const std::size_t of_ghosts =
      static_cast<std::size_t>(given_vectors(problem.method) * args_.apart[all.rank]) * scalar;
  backend.synchronize();  // what went before may still be read where this one's values will arrive
  mine.place = place_ = window.take(of_places + of_ghosts);
  backend.clear(window.at(all.rank, place_), of_places + of_ghosts);
  backend.synchronize();  // before others write
  offers = gathered(all, mine);
  for (int p = 0; p < all.processes; ++p) {
    args_.places[p] = reinterpret_cast<signal*>(window.at(p, offers[p].place));
    args_.ghosts_of[p] = window.at(p, offers[p].place) + of_places;
  }
}

}  // namespace compound::cuda
