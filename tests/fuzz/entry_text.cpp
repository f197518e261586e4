// Files with a block format of the user's own, up to the compiler: what is refused by its name or its size never gets
// there, what the compiler finds is taken or declined by a message, and the compiler sees the text as it is.
#include "cuda/entry_file.hpp"

#include <filesystem>
#include <fstream>

#include "entry/registry.hpp"
#include "folder.hpp"
#include "no_nvrtc.hpp"

namespace {

using namespace compound;
using fuzz::folder;
using fuzz::require;
namespace files = std::filesystem;

/// The part of the text up to a byte 0, which is taken away.
std::string next(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string part(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view fourth_line_of(std::string_view source) {
  for (int line = 1; line < 4; ++line) source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1);
  return source;
}

/// A few formats are registered, whose names the input chooses: those stay as long as the process.
bool is_registrable(const std::string& name) { return name == "one" || name == "two"; }

}  // namespace

/// name 0 name of the file 0 what the compiler says 0 text
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const std::string name = next(rest);
  std::string file_name = next(rest);
  const std::string answer = next(rest), text(rest);
  std::erase(file_name, '/');
  if (file_name.empty() || file_name == "." || file_name == ".." || file_name.size() > 200) file_name = "kind.hpp";
  const files::path file = folder() / file_name;
  std::ofstream(file, std::ios::binary) << text;
  fuzz::compiler() = {.version = "13.0", .compile = [&](const std::string&) -> std::string {
                        if (!is_registrable(name) || answer.empty()) throw error(ErrorKind::unsupported, "no shape");
                        return answer;
                      }};
  const std::string* const known = entry_text(name);
  const std::string before = known ? *known : "";

  std::string message;
  try {
    cuda::register_entry_file(name, file, {Field::real, Precision::double_});
  } catch (const error& e) {
    message = e.what();
    require(!message.empty(), "an error says what is wrong");
  }
  files::remove(file);

  const auto& sources = fuzz::compiler().sources;
  bool may_be = true;
  try {
    check_entry_name(name);
  } catch (const error&) {
    may_be = false;
  }
  if (!may_be || text.empty()) require(sources.empty() && !message.empty(), "what is refused is not compiled");
  for (const std::string& source : sources)
    require(fourth_line_of(source).starts_with(text), "the text begins behind the name of its file:\n" + source);
  const std::string* const now = entry_text(name);
  if (!message.empty()) require((now ? *now : "") == before, "what is declined is not taken: " + message);
  if (message.empty()) require(now && now->find(text) != std::string::npos, "what is taken has the text");
  return 0;
}
