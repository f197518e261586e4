#include "cuda/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/files.hpp"

namespace compound::cuda {

namespace {

constexpr std::string_view temporary_ending = ".temporary";

/// Two processes, on two machines that share the folder too, never take the same.
std::string temporary_name() {
  std::random_device random;
  char name[64];
  std::snprintf(name, sizeof name, "%ld-%08x%08x", static_cast<long>(getpid()), random(), random());
  return name + std::string(temporary_ending);
}

/// A new file. It is locked while it is open, so that remove_left() keeps it. -1 if none can be made.
int make_temporary(int folder, std::string& name) {
  for (;;) {
    name = temporary_name();
    const int file = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat status;
    if (file < 0) return -1;
    flock(file, LOCK_EX);  // where there are no locks, nothing is removed
    if (fstat(file, &status) != 0 || status.st_nlink > 0) return file;
    close(file);  // it was taken for one that was left before it was locked
  }
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
  else if (writable_by_others(status.st_mode))
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
  const FileHandle file(openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  const bool trusted = file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() && !writable_by_others(status.st_mode);
  if (!trusted) return {};
  const std::size_t size = static_cast<std::size_t>(status.st_size);
  std::optional<std::string> content = read_at_most(file, size);
  if (!content || content->size() != size) return {};
  return content;
}

bool PrivateFolder::write(const std::string& name, std::string_view content) const {
  if (folder_ < 0) return false;
  remove_left();
  std::string temporary;
  const FileHandle file(make_temporary(folder_, temporary));
  if (!file) return false;
  const bool kept = write_all(file, content) && fsync(file.get()) == 0 &&
                    renameat(folder_, temporary.c_str(), folder_, name.c_str()) == 0;
  if (!kept) unlinkat(folder_, temporary.c_str(), 0);
  return kept;
}

void PrivateFolder::remove_left() const {
  for (const std::string& name : names()) {
    if (!name.ends_with(temporary_ending)) continue;
    const FileHandle file(openat(folder_, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlinkat(folder_, name.c_str(), 0);
  }
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
