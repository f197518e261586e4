#include "cuda/entry_file.hpp"

#include <cstdio>
#include <fstream>

#include "base/error.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/nvrtc.hpp"
#include "entry/registry.hpp"

namespace compound::cuda {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// As it is named outside our namespace.
std::string compound_name(ScalarType s) { return (s.field == Field::complex ? "compound::" : "") + scalar_name(s); }

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(most_bytes + 1, '\0');  // files that never end are not read to theirs
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty())
    throw error(ErrorKind::argument, "the file of an entry, '" + file + "', cannot be read or is empty");
  if (text.size() > most_bytes)
    throw error(ErrorKind::argument,
                "the file of an entry, '" + file + "', has more than 1 MB; a header of up to 1 MB is expected");
  return text;
}

/// Compiles a kernel whose name has the shape in it.
EntryShape shape_in(const std::string& source, Field field) {
  const std::string name = lowered_name(
      source, "entry_shape<tried::rows(), tried::cols(), tried::words(), compound::is_complex<tried::word>>");
  const std::size_t at = name.find("entry_shapeI");
  EntryShape s;
  int complex_words = 0;
  if (at == std::string::npos || std::sscanf(name.c_str() + at, "entry_shapeILi%dELi%dELi%dELb%dE", &s.rows, &s.cols,
                                             &s.words, &complex_words) != 4)
    throw error(ErrorKind::unsupported, "no shape in the compiler's name '" + name + "'");
  s.real_words = field == Field::complex && !complex_words;
  return s;
}

/// The user's text and a kernel that uses all that a kind must have.
std::string trial_source(const std::string& name, const std::string& file, const std::string& text, ScalarType scalar) {
  return "#include \"first_misfit.hpp\"\n#include \"entry/entries.hpp\"\n" + line_directive(file) + text + "\n" +
         line_directive("(use of entry " + name + ")") + "using tried = ::" + name + "<" + compound_name(scalar) +
         ">;\nconstexpr char name_of_file[] = \"" + name + R"(";
template <class Kind>
constexpr bool is_named_so() {
  if constexpr (requires { Kind::name; })
    for (int i = 0; i < int(sizeof(name_of_file)); ++i)
      if (Kind::name[i] != name_of_file[i]) return false;
  return true;
}
static_assert(is_named_so<tried>(), "`name` must be that of the template and of the file");
template <int rows, int cols, int words, bool complex_words>
__global__ void entry_shape(const compound::fit_args a, const tried::word* w, const tried::scalar* x,
                            tried::scalar* y) {
  compound::check_tile<tried, rows, cols>(a);
  const compound::words_ref<tried::word, const tried::word> words_of{w, 1, 1};
  tried::of(rows, cols).madd<compound::Op::none>(words_of, x, y);
  tried::of(rows, cols).madd<compound::Op::hermitian>(words_of, x, y);
}
)";
}

}  // namespace

void register_entry_file(std::string_view name, const std::string& file, ScalarType scalar) {
  check_entry_name(name);
  const std::string text = text_of(file);
  if (has_entry_text(name, text, scalar.field)) return;
  const std::string source = trial_source(std::string(name), file, text, scalar);
  EntryShape shape;
  try {
    shape = shape_in(source, scalar.field);
  } catch (const error& e) {
    if (!nvrtc_version()) throw;
    throw error(ErrorKind::argument, "entry '" + std::string(name) + "' from '" + file +
                                         "' (which must define template <class S> struct " + std::string(name) +
                                         "): " + e.what());
  }
  register_entry_text(name, file, text, scalar.field, shape);
}

}  // namespace compound::cuda
