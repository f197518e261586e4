// A folder that only its owner may write to: files in it are trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compound::cuda {

class PrivateFolder {
 public:
  /// Makes the folder (mode 0700) if it is missing. On failure problem() says why, and nothing is found or kept.
  explicit PrivateFolder(const std::string& path);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& problem() const { return problem_; }

  /// The whole file; empty if it cannot be read, is no plain file or someone else's.
  std::optional<std::string> read(const std::string& name) const;

  /// Others see the old file or the new one, never a part; temporary files of writers that were killed are removed.
  /// False if the file cannot be written.
  bool write(const std::string& name, std::string_view content) const;

  std::vector<std::string> names() const;

 private:
  void remove_left() const;

  int folder_ = -1;
  std::string problem_;
};

}  // namespace compound::cuda
