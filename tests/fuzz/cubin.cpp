// The cache of compiled kernels with a damaged or foreign file in it: nothing comes from it that was not written there,
// good files stay and are found, and a damaged one is made anew.
#include "cuda/cubin_cache.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "folder.hpp"
#include "no_nvrtc.hpp"

namespace {

using namespace compound;
using fuzz::folder;
using fuzz::require;
namespace files = std::filesystem;

constexpr int capability = 90;
const std::string other = "another kernel", mine = "the kernel of the file";

std::string content_of(const files::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string code_of(const std::string& source) {
  return "\x7f"
         "ELF\n" +
         source;
}

/// The code that comes back, and whether it was compiled now; empty: there is none.
struct Answer {
  std::string code;
  bool compiled;
};
Answer ask(const std::string& source) {
  const std::size_t before = fuzz::compiler().sources.size();
  Answer a;
  try {
    a.code = cuda::cubin_of(source, capability);
  } catch (const error&) {
  }
  a.compiled = fuzz::compiler().sources.size() > before;
  fuzz::compiler().sources.clear();
  return a;
}

/// Of a file's name what comes before the version.
std::string key_of(const files::path& file) {
  const std::string name = file.filename(), mark = "-nvrtc";
  return name.substr(0, name.find(mark) + mark.size());
}

/// A compiler's version, as part of a file's name: a word.
std::string version_of(std::string_view text) {
  std::string version(text);
  std::erase_if(version, [](char c) { return c == '/' || !std::isgraph(static_cast<unsigned char>(c)); });
  return version.empty() ? "13.0" : version;
}

/// Triples change a byte each; or all of it is the content.
std::string changed(std::string good, std::string_view bytes, bool whole) {
  if (whole) return std::string(bytes);
  for (; bytes.size() >= 2; bytes.remove_prefix(2)) {
    const std::size_t at = static_cast<unsigned char>(bytes[0]) % (good.size() + 1);
    if (at == good.size())
      good.resize(static_cast<unsigned char>(bytes[1]) % (good.size() + 1));
    else
      good[at] = static_cast<char>(good[at] ^ bytes[1]);
    if (good.empty()) break;
  }
  return good;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  setenv("COMPOUND_CUDA_CACHE", folder().c_str(), 1);
  const bool has_compiler = data[0] & 1, whole = data[0] & 2;
  std::string_view text = fuzz::text_of(data + 2, size - 2);
  const std::string version = version_of(text.substr(0, data[1] % 32));
  text.remove_prefix(std::min<std::size_t>(data[1] % 32, text.size()));
  for (const auto& entry : files::directory_iterator(folder())) files::remove(entry.path());
  fuzz::compiler() = {.version = "13.0", .compile = code_of};

  require(ask(other).compiled, "a kernel that is not there is compiled");
  const files::path other_file = files::directory_iterator(folder())->path();
  fuzz::compiler().version = version;
  require(ask(mine).code == code_of(mine), "the code of the compiler is given");
  files::path file;
  for (const auto& entry : files::directory_iterator(folder()))
    if (entry.path() != other_file) file = entry.path();
  if (file.empty()) return 0;  // no such name can be written: nothing is kept
  const std::string good = content_of(file), content = changed(good, text, whole);
  std::ofstream(file, std::ios::binary) << content;
  const files::path newer = file.parent_path() / (key_of(file) + "9" + version + ".cubin");  // no file of that name
  std::ofstream(newer, std::ios::binary) << content;

  if (!has_compiler) fuzz::compiler().version = {};
  const Answer answer = ask(mine);
  require(answer.code == (content == good || has_compiler ? code_of(mine) : ""), "no code comes that was not written");
  require(answer.compiled == (has_compiler && content != good), "a file is used if it is as it was written");
  require(content_of(file) == (has_compiler ? good : content), "a damaged file is made anew");
  fuzz::compiler().version = "13.0";
  const Answer stays = ask(other);
  require(stays.code == code_of(other) && !stays.compiled, "the good file stays");
  return 0;
}
