// Loops over ranges of numbers by several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace compound {

/// That this process may use: where it is bound to fewer cores it takes no others'.
inline std::size_t usable_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Threads for `count` things of which one thread is to have at least `least`: at most eight, which use up the
/// bandwidth of most memories.
inline std::size_t threads_for(std::size_t count, std::size_t least) {
  return std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, std::min<std::size_t>(8, usable_cores()));
}

/// f(begin, end, number) for `ranges` ranges of [0, count), each by a thread of its own, the first by the calling one.
/// What the lowest range throws is thrown.
template <class F>
void for_ranges(std::size_t count, std::size_t ranges, const F& f) {
  std::vector<std::exception_ptr> thrown(ranges);
  const auto run = [&](std::size_t number) {
    try {
      f(count * number / ranges, count * (number + 1) / ranges, number);
    } catch (...) {
      thrown[number] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    std::size_t started = 1;
    try {
      for (; started < ranges; ++started) helpers.emplace_back(run, started);
    } catch (const std::system_error&) {  // there are no more threads
    }
    run(0);
    for (; started < ranges; ++started) run(started);
  }
  for (const std::exception_ptr& e : thrown)
    if (e) std::rethrow_exception(e);
}

}  // namespace compound
