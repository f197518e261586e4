// Processes of the system that share memory, as devices share their windows.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <random>
#include <vector>

#include "support/processes.hpp"

/// work(rank) in processes of the system with windows that all see; whether all of them return true.
template <class Window, class Work>
bool in_processes(int count, const Work& work) {
  const std::size_t bytes = sizeof(Window) * count;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const windows = static_cast<Window*>(memory);
  for (int p = 0; p < count; ++p) new (windows + p) Window;
  std::vector<pid_t> children;
  for (int p = 0; p < count; ++p) children.push_back(compound::test::start([&] { return work(p, windows) ? 0 : 1; }));
  bool right = true;
  for (const pid_t child : children) right &= compound::test::status_of(child) == 0;
  munmap(memory, bytes);
  return right;
}

/// Each at its own pace.
inline void pause(std::mt19937& random) {
  if (random() % 4 == 0) usleep(random() % 50);
}
