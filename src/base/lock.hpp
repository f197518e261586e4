// A lock among processes, by a file.
#pragma once

#include <chrono>
#include <string>

#include "base/files.hpp"

namespace compound {

/// Locked until it is destroyed, by this process's end too. problem() says why it is not.
class FileLock {
 public:
  /// Makes the file, which stays there, where it is missing. Waits so long at most: a holder could be stopped, or on a
  /// machine that is gone.
  FileLock(const std::string& path, std::chrono::milliseconds longest_wait);
  const std::string& problem() const { return problem_; }

 private:
  FileHandle file_;
  std::string problem_;
};

}  // namespace compound
