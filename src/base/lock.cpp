#include "base/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace compound {

FileLock::FileLock(const std::string& path, std::chrono::milliseconds longest_wait)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)) {
  if (!file_) {
    problem_ = path + " cannot be opened: " + std::strerror(errno);
    return;
  }
  const auto last = std::chrono::steady_clock::now() + longest_wait;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    const bool taken = errno == EWOULDBLOCK || errno == EINTR;
    if (!taken || std::chrono::steady_clock::now() > last) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest_wait).count();
      problem_ = taken ? path + " has been locked by another process for " + std::to_string(seconds) + " seconds"
                       : path + " cannot be locked: " + std::strerror(errno);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace compound
