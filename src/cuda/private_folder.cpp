#include "cuda/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/files.hpp"

namespace compound::cuda {

namespace {

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
  const std::string temporary = temporary_name();
  FileHandle file(openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return false;
  const bool written = write_all(file, content);
  const bool kept = file.close() && written && renameat(folder_, temporary.c_str(), folder_, name.c_str()) == 0;
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
