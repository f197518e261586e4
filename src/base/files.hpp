// Files that are kept for a user between runs: where they lie, which users may write to them, whole reads
// and writes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace compound {

/// $XDG_CACHE_HOME/petsc-compound, else ~/.cache/petsc-compound; empty where neither variable is a path from the root.
std::string user_cache_folder();

/// The variable's value, empty where it is not set.
std::string from_environment(const char* variable);

/// Makes a folder and those above it, mode 0700, where they are missing. Opening a file in it reports failures.
void make_folders(const std::string& path);

bool writable_by_others(mode_t mode);

/// A descriptor that is closed at the end; what open() gives, so that -1 is none.
class FileHandle {
 public:
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  bool close();  ///< whether all that was written is there, as far as closing tells

 private:
  int descriptor_;
};

/// Nothing, with errno, where reading fails; else what there is, `most` bytes of it at most.
std::optional<std::string> read_at_most(const FileHandle& file, std::size_t most);

/// False, with errno, where not all could be written.
bool write_all(const FileHandle& file, std::string_view content);

/// Others see the old file or the new one, never a part. The caller holds a lock of this file's: the new content is
/// first `path`.new, and what a writer that was killed has left there is removed. Empty, or why it failed, in words.
std::string replace_file(const std::string& path, std::string_view content, mode_t mode);

/// Of the last call that failed: "<path> cannot be <done>: <reason>".
std::string cannot_be(const std::string& path, const char* done);

}  // namespace compound
