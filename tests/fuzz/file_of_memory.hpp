// A file that a target gives to a reader of files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "target.hpp"

namespace compound::fuzz {

/// It lies in memory, and is gone with the object.
class FileOfMemory {
 public:
  FileOfMemory(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && write(descriptor_, data, size) == static_cast<ssize_t>(size), "a file is written");
  }
  FileOfMemory(const FileOfMemory&) = delete;
  FileOfMemory& operator=(const FileOfMemory&) = delete;
  ~FileOfMemory() { close(descriptor_); }

  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace compound::fuzz
