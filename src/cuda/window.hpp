// Memory of several processes' devices that all of them write to, and how the processes agree (backend/peers.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/peers.hpp"
#include "base/error.hpp"
#include "device/peers.hpp"

namespace compound::cuda {

/// Collective: what each process gives, in the order of ranks. T holds no memory of its own.
template <class T>
std::vector<T> gathered(const JoinTask& among, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(among.processes));
  among.gather(&mine, all.data(), sizeof(T));
  return all;
}

/// Collective: whether it is so on all of them.
inline bool on_all(const JoinTask& among, bool here) {
  return std::ranges::min(gathered(among, static_cast<int>(here))) != 0;
}

/// A text that processes tell each other: why one cannot do its part, or another.
struct Reason {
  bool lacks_memory = false;
  char text[256] = {};

  Reason() = default;
  explicit Reason(const std::string& why) { std::copy_n(why.begin(), std::min(why.size(), sizeof(text) - 1), text); }
};

/// Collective: where one of them has a reason, all throw: std::bad_alloc, or `unsupported` with the first one's.
void agree(const JoinTask& among, const Reason& mine);

/// Collective: `work`(), which on some of them may lack memory or throw an error; then agree().
template <class Work>
void all_or_none(const JoinTask& among, const Work& work) {
  Reason mine;
  try {
    work();
  } catch (const std::bad_alloc&) {
    mine.lacks_memory = true;
  } catch (const error& e) {
    mine = Reason(e.what());
  }
  agree(among, mine);
}

inline constexpr std::size_t line_bytes = 128;
inline std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

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

    void close();
  };

  Place find(std::size_t bytes) {
    for (std::size_t c = 0; c < chunks_.size(); ++c)
      if (const std::size_t first = chunks_[c].places.take(bytes); first != Places::none)
        return {static_cast<int>(c), first};
    return {0, Places::none};
  }

  void add_chunk(std::size_t bytes);

  Backend& backend_;
  const JoinTask& among_;
  std::vector<Chunk> chunks_;
};

}  // namespace compound::cuda
