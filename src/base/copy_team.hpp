// Copies within memory by several threads: one thread does not use the bandwidth of today's machines.
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace compound {

/// Threads that copy together until the team is destroyed. They wait between copies, so a team should not outlive the
/// work that it is for.
class CopyTeam {
 public:
  /// With the calling thread. Fewer where the system gives no more, or where the process is bound to fewer cores: ranks
  /// take no others' cores.
  explicit CopyTeam(std::size_t threads);
  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;
  ~CopyTeam();

  /// memcpy() by all threads; done when it returns. By the thread that made the team.
  void copy(void* to, const void* from, std::size_t bytes);

  std::size_t threads() const { return helpers_.size() + 1; }

 private:
  struct Task {
    char* to = nullptr;
    const char* from = nullptr;
    std::size_t bytes = 0;
  };
  void help(std::size_t number);
  void copy_share(std::size_t number) const;

  Task task_;
  bool ends_ = false;
  std::barrier<> step_;  ///< before and after each copy
  std::vector<std::jthread> helpers_;
};

}  // namespace compound
