#include "planner/wisdom_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "base/files.hpp"
#include "base/lock.hpp"

namespace compound {

namespace {

constexpr std::size_t largest_file = 16 << 20;
constexpr std::chrono::seconds longest_wait{2};

/// Empty if what the file says may be used.
std::string why_not_trusted(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return path + " is not a regular file";
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return path + " belongs to another user (" + std::to_string(status.st_uid) + ")";
  if (writable_by_others(status.st_mode))
    return path + " may be written by others; chmod go-w " + path + " would let it be used";
  if (static_cast<std::size_t>(status.st_size) > largest_file)
    return path + " is larger than 16 MB; remove it to begin anew";
  return {};
}

struct Text {
  std::string content, problem;
};

/// Empty where there is no file; with the reason where it is not to be used.
Text text_of(const std::string& path) {
  // Without blocking: a FIFO would wait for its writer.
  const FileHandle file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return {{}, errno == ENOENT ? "" : cannot_be(path, "opened")};
  struct stat status;
  if (fstat(file.get(), &status) != 0) return {{}, cannot_be(path, "read")};
  if (std::string problem = why_not_trusted(path, status); !problem.empty()) return {{}, problem};
  std::optional<std::string> content = read_at_most(file, largest_file);
  if (!content) return {{}, cannot_be(path, "read")};
  if (!is_wisdom(*content)) return {{}, path + " has no line of wisdom"};
  return {std::move(*content), {}};
}

/// Only the default folder is made: a folder that was named and is not there may be mistyped.
std::string why_no_folder(const std::string& folder) {
  if (folder == user_cache_folder()) make_folders(folder);
  struct stat status;
  if (stat(folder.c_str(), &status) == 0 || errno != ENOENT) return {};
  return "the folder " + folder + " of the wisdom file is not there; make it (mkdir -p " + folder +
         "), or name another file";
}

/// With the lock held.
std::string write_merged(const std::string& path, const Wisdom& newer) {
  WisdomFile file = read_wisdom(path);
  if (!file.problem.empty()) return file.problem;
  file.wisdom.merge(newer);
  const std::string content = file.wisdom.lines();
  if (content.size() > largest_file) return path + " would be larger than 16 MB; remove it to begin anew";
  return replace_file(path, content, 0600);
}

}  // namespace

WisdomFile read_wisdom(const std::string& path) {
  Text text = text_of(path);
  WisdomFile result{{}, std::move(text.problem)};
  result.wisdom.add_lines(text.content);
  return result;
}

WisdomLookUp look_up_wisdom(const std::string& path, const WisdomKey& key) {
  Text text = text_of(path);
  return {find_in_lines(text.content, key), std::move(text.problem)};
}

std::string merge_into_wisdom(const std::string& path, const Wisdom& newer) {
  if (newer.size() + newer.newer_schemas() == 0) return {};
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  if (name == path.size()) return "wisdom cannot be kept in '" + path + "', which names no file";
  if (name > 1)
    if (std::string problem = why_no_folder(path.substr(0, name - 1)); !problem.empty()) return problem;
  const FileLock lock(path + ".lock", longest_wait);
  return lock.problem().empty() ? write_merged(path, newer) : lock.problem();
}

std::string add_to_wisdom(const std::string& path, const std::vector<WisdomEntry>& entries) {
  Wisdom newer;
  std::string refused;
  for (const WisdomEntry& entry : entries)
    if (const std::string reason = newer.add(entry); !reason.empty()) refused = reason;
  const std::string problem = merge_into_wisdom(path, newer);
  return problem.empty() ? refused : problem;
}

}  // namespace compound
