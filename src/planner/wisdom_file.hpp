// Wisdom kept in a file: read as far as it can be trusted, written so that others see the old file or the new one.
// Nothing about the file's state is ever an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/wisdom.hpp"

namespace compound {

struct WisdomFile {
  Wisdom wisdom;
  std::string problem;  ///< why the file was not used, in words; empty if it was, or is not there
};

/// Used are regular files of the user or of root that others may not write to, of at most 16 MB.
WisdomFile read_wisdom(const std::string& path);

struct WisdomLookUp {
  std::optional<WisdomFound> found;
  std::string problem;  ///< as above
};

/// What read_wisdom().wisdom.find(key) would find, without reading entries that cannot be it.
WisdomLookUp look_up_wisdom(const std::string& path, const WisdomKey& key);

/// Reads the file anew, adds the entries, and writes it, mode 0600, while `path`.lock is locked; of folders
/// that are missing, the user's cache folder is made. A file that read_wisdom() would not use is left as it is. Empty
/// if all entries are kept, else why not, in words.
std::string add_to_wisdom(const std::string& path, const std::vector<WisdomEntry>& entries);

/// The same with all that `newer` has, lines of newer schemas among it.
std::string merge_into_wisdom(const std::string& path, const Wisdom& newer);

}  // namespace compound
