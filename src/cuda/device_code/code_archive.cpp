#include "cuda/code_archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace compound::cuda {

namespace {

/// Codes in a block: more compress better, but what comes before a code must be decompressed with it.
constexpr std::size_t codes_of_block = 16;

constexpr char magic[16] = "compound code 1";

struct Header {
  char magic[16];
  std::uint64_t entries, blocks, bytes;
};

std::string compressed(const std::string& raw) {
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(raw.data()), raw.size(), Z_BEST_COMPRESSION);
  if (result != Z_OK) throw std::runtime_error("zlib could not compress");
  packed.resize(size);
  return packed;
}

/// The first `size` bytes of what was compressed; empty if there are fewer.
std::optional<std::string> decompressed(std::string_view packed, std::size_t size) {
  std::string raw(size, '\0');
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(raw.data());
  stream.avail_out = static_cast<uInt>(size);
  if (inflateInit(&stream) != Z_OK) return {};
  inflate(&stream, Z_SYNC_FLUSH);
  const bool whole = stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) return {};
  return raw;
}

template <class T>
void append(std::string& to, const T& plain) {
  to.append(reinterpret_cast<const char*>(&plain), sizeof plain);
}

}  // namespace

std::string archive_of(std::span<const NamedCode> codes) {
  std::vector<CodeEntry> entries;
  std::vector<CodeBlock> blocks;
  std::string data;
  const std::size_t count = (codes.size() + codes_of_block - 1) / codes_of_block;
  const std::size_t before = sizeof(Header) + codes.size() * sizeof(CodeEntry) + count * sizeof(CodeBlock);
  for (std::size_t first = 0; first < codes.size(); first += codes_of_block) {
    std::string raw;
    for (const NamedCode& c : codes.subspan(first, std::min(codes_of_block, codes.size() - first))) {
      CodeEntry entry{
          {}, static_cast<std::uint32_t>(blocks.size()), static_cast<std::uint32_t>(c.code.size()), raw.size()};
      if (c.key.size() > sizeof entry.key) throw std::runtime_error("the key '" + c.key + "' is too long");
      std::memcpy(entry.key, c.key.data(), c.key.size());
      entries.push_back(entry);
      raw += c.code;
    }
    const std::string packed = compressed(raw);
    blocks.push_back({before + data.size(), packed.size()});
    data += packed;
  }
  Header header{{}, entries.size(), blocks.size(), before + data.size()};
  std::memcpy(header.magic, magic, sizeof magic);
  std::string bytes;
  append(bytes, header);
  for (const auto& entry : entries) append(bytes, entry);
  for (const auto& block : blocks) append(bytes, block);
  return bytes + data;
}

CodeArchive::CodeArchive(std::string_view bytes) : bytes_(bytes) {
  Header header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.bytes != bytes.size()) return;
  const auto* const entries = reinterpret_cast<const CodeEntry*>(bytes.data() + sizeof header);
  entries_ = {entries, header.entries};
  blocks_ = {reinterpret_cast<const CodeBlock*>(entries + header.entries), header.blocks};
}

const CodeEntry* CodeArchive::find(std::string_view key) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const CodeEntry& e) { return key == std::string_view(e.key, strnlen(e.key, sizeof e.key)); });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string_view> CodeArchive::keys() const {
  std::vector<std::string_view> all;
  for (const CodeEntry& e : entries_) all.emplace_back(e.key, strnlen(e.key, sizeof e.key));
  return all;
}

std::optional<std::string> CodeArchive::code(std::string_view key) const {
  const CodeEntry* const e = find(key);
  if (!e) return {};
  const CodeBlock& block = blocks_[e->block];
  std::optional<std::string> raw = decompressed(bytes_.substr(block.from, block.size), e->from + e->size);
  if (raw) raw->erase(0, e->from);
  return raw;
}

}  // namespace compound::cuda
