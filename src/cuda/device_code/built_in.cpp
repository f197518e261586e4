#include "cuda/built_in.hpp"

#include "cuda/code_archive.hpp"
#include "cuda/cubin_key.hpp"

namespace compound::cuda {

namespace {

struct Found {
  CodeArchive archive;
  std::string key;
};

std::optional<Found> find(const std::string& source, int capability) {
  if (device_code().empty()) return {};
  for (int made_for = capability; made_for >= capability - capability % 10; --made_for) {
    const std::string key = cubin_key(source, made_for);
    for (const std::string_view bytes : device_code())
      if (const CodeArchive archive(bytes); archive.holds(key)) return Found{archive, key};
  }
  return {};
}

}  // namespace

std::optional<std::string> built_in_cubin(const std::string& source, int capability) {
  const std::optional<Found> found = find(source, capability);
  if (!found) return {};
  return found->archive.code(found->key);
}

bool is_built_in(const std::string& source, int capability) { return find(source, capability).has_value(); }

}  // namespace compound::cuda
