#include "base/copy_team.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/parallel.hpp"

namespace compound {

namespace {

std::size_t most_of(std::size_t threads) { return std::clamp<std::size_t>(threads, 1, usable_cores()); }

}  // namespace

CopyTeam::CopyTeam(std::size_t threads) : step_(static_cast<std::ptrdiff_t>(most_of(threads))) {
  const std::size_t wanted = most_of(threads);
  try {
    helpers_.reserve(wanted - 1);
    for (std::size_t number = 1; number < wanted; ++number) helpers_.emplace_back([this, number] { help(number); });
  } catch (const std::exception&) {  // fewer threads: no more of them, or no memory for one
  }
  // Those that there are wait for the first copy, which is divided among them.
  for (std::size_t missing = this->threads(); missing < wanted; ++missing) step_.arrive_and_drop();
}

CopyTeam::~CopyTeam() {
  ends_ = true;
  step_.arrive_and_wait();
}

void CopyTeam::help(std::size_t number) {
  for (;;) {
    step_.arrive_and_wait();
    if (ends_) return;
    copy_share(number);
    step_.arrive_and_wait();
  }
}

void CopyTeam::copy_share(std::size_t number) const {
  constexpr std::size_t page = 4096;  // two threads write no page together
  const std::size_t pages = (task_.bytes + page - 1) / page;
  const auto end_of = [&](std::size_t n) { return std::min(task_.bytes, pages * n / threads() * page); };
  const std::size_t first = end_of(number), end = end_of(number + 1);
  if (end > first) std::memcpy(task_.to + first, task_.from + first, end - first);
}

void CopyTeam::copy(void* to, const void* from, std::size_t bytes) {
  task_ = {static_cast<char*>(to), static_cast<const char*>(from), bytes};
  step_.arrive_and_wait();
  copy_share(0);
  step_.arrive_and_wait();
}

}  // namespace compound
