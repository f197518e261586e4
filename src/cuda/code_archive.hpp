// Many cubins as one array of bytes: compressed in blocks of several, which are much alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace compound::cuda {

struct NamedCode {
  std::string key;  ///< cubin_key()
  std::string code;
};

/// The bytes of an archive; neighbours should be alike. For machines of the same byte order.
std::string archive_of(std::span<const NamedCode> codes);

/// What an archive says of a code, and of the blocks that it consists of.
struct CodeEntry {
  char key[48];  ///< zeros after its end
  std::uint32_t block, size;
  std::uint64_t from;  ///< in the decompressed block
};
struct CodeBlock {
  std::uint64_t from, size;  ///< in the archive
};

/// Reads one that lies in memory for as long as this lives, aligned to 16 bytes.
class CodeArchive {
 public:
  /// What is no whole archive of this release holds nothing.
  explicit CodeArchive(std::string_view bytes);

  std::vector<std::string_view> keys() const;
  bool holds(std::string_view key) const { return find(key) != nullptr; }
  /// Empty if there is no code of this key.
  std::optional<std::string> code(std::string_view key) const;

 private:
  const CodeEntry* find(std::string_view key) const;

  std::string_view bytes_;
  std::span<const CodeEntry> entries_;
  std::span<const CodeBlock> blocks_;
};

/// The archives of this library: made by CMake, empty in the program that makes them.
std::span<const std::string_view> device_code();

}  // namespace compound::cuda
