#include "cuda/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

namespace compound::cuda {

namespace {

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

/// Makes a folder and those above it.
void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Two processes, on two machines that share the folder too, never take the same.
std::string temporary_name() {
  std::random_device random;
  char name[64];
  std::snprintf(name, sizeof name, "%ld-%08x%08x.temporary", static_cast<long>(getpid()), random(), random());
  return name;
}

}  // namespace

PrivateFolder::PrivateFolder(const std::string& path) {
  make_folders(path);
  folder_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  if (folder_ < 0 || fstat(folder_, &status) != 0)
    problem_ = path + " cannot be made or opened: " + std::strerror(errno);
  else if (status.st_uid != geteuid())
    problem_ = path + " belongs to another user (" + std::to_string(status.st_uid) + ")";
  else if (status.st_mode & writable_by_others)
    problem_ = path + " may be written by others; chmod go-w " + path + " would let it be used";
  if (problem_.empty() || folder_ < 0) return;
  close(folder_);
  folder_ = -1;
}

PrivateFolder::~PrivateFolder() {
  if (folder_ >= 0) close(folder_);
}

std::optional<std::string> PrivateFolder::read(const std::string& name) const {
  if (folder_ < 0) return {};
  const int file = openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status;
  const bool trusted = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                       !(status.st_mode & writable_by_others);
  std::string content(trusted ? static_cast<std::size_t>(status.st_size) : 0, '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got = ::read(file, content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  close(file);
  if (!trusted || have != content.size()) return {};
  return content;
}

bool PrivateFolder::write(const std::string& name, std::string_view content) const {
  if (folder_ < 0) return false;
  const std::string temporary = temporary_name();
  const int file = openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool written = write_all(file, content);
  const bool kept = close(file) == 0 && written && renameat(folder_, temporary.c_str(), folder_, name.c_str()) == 0;
  if (!kept) unlinkat(folder_, temporary.c_str(), 0);
  return kept;
}

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> result;
  const int own = folder_ < 0 ? -1 : openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = own < 0 ? nullptr : fdopendir(own);
  if (!entries) {
    if (own >= 0) close(own);
    return result;
  }
  while (const dirent* const entry = readdir(entries)) result.emplace_back(entry->d_name);
  closedir(entries);
  return result;
}

}  // namespace compound::cuda
