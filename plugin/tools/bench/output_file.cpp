#include "output_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "failure.hpp"
#include "file_kind.hpp"

namespace compound::bench {

std::string output_file(const std::string& option, const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const auto must_be_file = [&](const std::string& path, const fs::file_status& status) {
    if (const std::string what = what_else_than_file(status); !what.empty())
      throw usage_error(option + ": '" + path + "' is " + what + ", not a regular file; choose another file");
  };
  must_be_file(given, fs::status(given, failed));
  std::string file = given;
  if (fs::is_symlink(fs::symlink_status(given, failed))) {
    file = fs::canonical(given, failed).string();
    if (failed) throw usage_error(option + ": '" + given + "' is a symbolic link to nothing; choose a file");
  }
  must_be_file(file + ".part", fs::symlink_status(file + ".part", failed));
  if (!std::ofstream(file + ".part"))
    throw usage_error(option + ": cannot write '" + given + "'; choose a file in a folder that exists and is writable");
  return file;
}

void write_output(const std::string& option, const std::string& file, const std::string& text) {
  const std::string unfinished = file + ".part";
  std::ofstream out(unfinished);
  out << text;
  out.close();
  if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0)
    throw std::runtime_error(option + ": cannot write '" + file + "'");
}

}  // namespace compound::bench
