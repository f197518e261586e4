#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace compound {

std::string from_environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

std::string user_cache_folder() {
  if (const std::string caches = from_environment("XDG_CACHE_HOME"); caches.starts_with('/'))
    return caches + "/petsc-compound";
  const std::string home = from_environment("HOME");
  return home.starts_with('/') ? home + "/.cache/petsc-compound" : "";
}

void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

bool writable_by_others(mode_t mode) { return mode & (S_IWGRP | S_IWOTH); }

bool FileHandle::close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor < 0 || ::close(descriptor) == 0;
}

std::optional<std::string> read_at_most(const FileHandle& file, std::size_t most) {
  constexpr std::size_t piece = 1 << 16;
  std::string content;
  for (std::size_t have = 0;;) {
    content.resize(have + std::min(piece, most - have));
    const ssize_t got = ::read(file.get(), content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    have += static_cast<std::size_t>(got);
    content.resize(have);
    if (got == 0 || have == most) return content;
  }
}

bool write_all(const FileHandle& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string cannot_be(const std::string& path, const char* done) {
  return path + " cannot be " + done + ": " + std::strerror(errno);
}

std::string replace_file(const std::string& path, std::string_view content, mode_t mode) {
  const std::string made = path + ".new";
  unlink(made.c_str());  // of a process that was ended while it had the lock
  FileHandle file(open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file) return cannot_be(made, "made");
  std::string problem;
  if (!write_all(file, content) || fsync(file.get()) != 0 || !file.close())
    problem = cannot_be(made, "written");
  else if (rename(made.c_str(), path.c_str()) != 0)
    problem = cannot_be(path, "replaced");
  if (!problem.empty()) unlink(made.c_str());
  return problem;
}

}  // namespace compound
