// Work in processes of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

/// Of gcc's coverage, where that counts lines: a process that ends by _exit() does not write its counts.
extern "C" void __gcov_dump() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)

namespace compound::test {

[[noreturn]] inline void end_process(int status) {
  if (__gcov_dump) __gcov_dump();
  _exit(status);
}

/// A process that ends with the status that `work` returns, 99 if it throws.
template <class Work>
pid_t start(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = work();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    end_process(status);
  }
  return child;
}

/// Waits for its end; -1 if a signal ended it.
inline int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace compound::test
