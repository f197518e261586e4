// What a path leads to, for messages.
#pragma once

#include <filesystem>
#include <string>

namespace compound::bench {

/// "a folder", "a named pipe" and the like; empty for a regular file, for nothing at all, and for what cannot be asked.
inline std::string what_else_than_file(const std::filesystem::file_status& status) {
  switch (status.type()) {
    case std::filesystem::file_type::directory:
      return "a folder";
    case std::filesystem::file_type::fifo:
      return "a named pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      return "a device";
    case std::filesystem::file_type::symlink:
      return "a symbolic link";
    default:
      return "";
  }
}

}  // namespace compound::bench
