#include "entry/registry.hpp"

#include <cstdio>
#include <deque>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace compound {

namespace {

constexpr int largest_size = 32;

/// One kind, with an address that stays.
struct Registered {
  std::string name, file, text, source;
  EntryKind* kind = nullptr;       ///< its row of entry_kinds()
  std::deque<host_entry> kernels;  ///< one for each scalar type; they stay where they are
};

std::deque<Registered>& registered() {
  static std::deque<Registered> all;
  return all;
}

Registered* find(std::string_view name) {
  for (Registered& r : registered())
    if (r.name == name) return &r;
  return nullptr;
}

ScalarType scalar_of(const host_entry& e) {
  return {e.complex_scalars ? Field::complex : Field::real, e.real_bytes == 4 ? Precision::single : Precision::double_};
}

EntryShape shape_of(const host_entry& e) { return {e.rows, e.cols, e.words, e.real_words}; }

std::string text_of(const EntryShape& s) {
  return std::to_string(s.rows) + "x" + std::to_string(s.cols) + " blocks in " + std::to_string(s.words) +
         (s.real_words ? " real scalars" : " scalars");
}

error wrong(std::string_view name, const std::string& what) {
  return error(ErrorKind::argument, "entry '" + std::string(name) + "': " + what);
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name.front())) return false;
  for (const char c : name)
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

}  // namespace

void check_entry_name(std::string_view name) {
  if (name == "auto") throw wrong(name, "that is the keyword for detecting a format; choose another name");
  if (!is_identifier(name)) throw wrong(name, "the name must be that of a C++ template: letters, digits and _");
  for (const EntryKind& k : entry_kinds())
    if (k.name == name && !k.user_defined) throw wrong(name, "a built-in format has this name; choose another");
}

namespace {

void check_shape(std::string_view name, const EntryShape& s) {
  if (s.rows < 1 || s.cols < 1 || s.rows > largest_size || s.cols > largest_size || s.words < 1)
    throw wrong(name, "it has " + text_of(s) + "; blocks of 1x1 to 32x32 and at least one scalar are allowed");
}

EntryShape& shape_in(EntryKind& kind, Field field) { return field == Field::real ? kind.in_real : kind.in_complex; }

/// Before anything is registered: a name and a shape that may be, the known one where there is one.
void check_kind(std::string_view name, Field field, const EntryShape& shape) {
  check_entry_name(name);
  check_shape(name, shape);
  Registered* const r = find(name);
  if (!r) return;
  const EntryShape& known = shape_in(*r->kind, field);
  if (known.words != 0 && !(known == shape))
    throw wrong(name, "it has " + text_of(shape) + ", but " + text_of(known) + " in " +
                          (r->file.empty() ? "the host kernels that are registered" : r->file) +
                          "; give both the same definition");
}

/// The kind of that name, with this shape in this field. Where memory ends nothing is registered.
Registered& kind_with(std::string_view name, Field field, const EntryShape& shape) {
  Registered* r = find(name);
  if (!r) {
    r = &registered().emplace_back();
    try {
      r->name = name;
      EntryKind kind;
      kind.name = kind.type = r->name;
      kind.user_defined = true;
      r->kind = &add_entry_kind(kind);
    } catch (...) {
      registered().pop_back();
      throw;
    }
  }
  shape_in(*r->kind, field) = shape;
  return *r;
}

void check_text(std::string_view name, const std::string& file, const std::string& text) {
  const Registered* const r = find(name);
  if (r && !r->text.empty() && r->text != text)
    throw wrong(name, "its text was taken from " + r->file + " already, and " + file + " has another");
}

/// The block of made-up words.
template <class R>
std::vector<R> made_up_block(const host_entry& e, int seed) {
  const std::size_t per_scalar = e.complex_scalars ? 2 : 1, per_word = e.complex_scalars && !e.real_words ? 2 : 1;
  std::vector<R> words(e.words * per_word), block(std::size_t{1} * e.rows * e.cols * per_scalar);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = number_of_trial<R>(static_cast<int>(i), seed);
  e.block(words.data(), block.data());
  return block;
}

/// Words of one stand for the same blocks as those of the other.
template <class R>
bool is_same_definition(const host_entry& a, const host_entry& b) {
  for (int seed = 0; seed < 4; ++seed)
    if (made_up_block<R>(a, seed) != made_up_block<R>(b, seed)) return false;
  return true;
}

std::string text_of(const double (&number)[2], Field field) {
  char text[64];
  std::snprintf(text, sizeof(text), field == Field::complex ? "%.9g%+.9gi" : "%.9g", number[0], number[1]);
  return text;
}

}  // namespace

void check_trial(const std::string& subject, const trial_found& found, int rows, Field field) {
  if (found.broken == Broken::nothing) return;
  constexpr const char* products[] = {"A x", "A^T x", "A^H x"};
  const std::string numbers = text_of(found.is, field) + ", not " + text_of(found.wanted, field);
  if (found.broken == Broken::block)
    throw error(ErrorKind::argument, subject + ": block(from_block(b)) must be b for every b that block() makes: its " +
                                         "scalar (" + std::to_string(found.at % rows) + ", " +
                                         std::to_string(found.at / rows) + ") is " + numbers);
  throw error(ErrorKind::argument, subject + ": madd() does not add the product by block(): component " +
                                       std::to_string(found.at) + " of y + " +
                                       products[static_cast<int>(found.broken) - static_cast<int>(Broken::product)] +
                                       " is " + numbers);
}

void register_host_entry(const host_entry& e) {
  if (e.version != host_entry::current_version)
    throw error(ErrorKind::argument, "an entry was compiled against headers of version " + std::to_string(e.version) +
                                         ", this plugin has version " + std::to_string(host_entry::current_version) +
                                         "; compile it anew");
  const std::string_view name = e.name ? e.name : "";
  const Field field = scalar_of(e).field;
  check_kind(name, field, shape_of(e));
  check_trial("entry '" + std::string(name) + "'", e.trial(), e.rows, field);
  if (const host_entry* const known = registered_host_entry(name, scalar_of(e))) {
    if (e.real_bytes == 4 ? is_same_definition<float>(*known, e) : is_same_definition<double>(*known, e)) return;
    throw wrong(name,
                "its scalars stand for other blocks than those of the format that is registered under this name; "
                "choose another name");
  }
  Registered& r = kind_with(name, field, shape_of(e));
  r.kernels.push_back(e);
  r.kernels.back().name = r.name.c_str();
}

std::string line_directive(std::string_view file) {
  std::string line = "#line 1 \"";
  for (const char c : file) {
    if (c == '"' || c == '\\') line += '\\';
    line += c == '\n' || c == '\r' ? '?' : c;
  }
  return line + "\"\n";
}

void register_entry_text(std::string_view name, const std::string& file, const std::string& text, Field field,
                         const EntryShape& shape) {
  check_kind(name, field, shape);
  check_text(name, file, text);
  std::string source = line_directive(file) + text + "\n" + line_directive("compound.cu"), of_file = file,
              of_text = text;
  Registered& r = kind_with(name, field, shape);
  r.file = std::move(of_file);
  r.text = std::move(of_text);
  r.source = std::move(source);
}

bool has_entry_text(std::string_view name, const std::string& text, Field field) {
  Registered* const r = find(name);
  return r && r->text == text && shape_in(*r->kind, field).words != 0;
}

const host_entry* registered_host_entry(std::string_view name, ScalarType scalar) {
  const Registered* const r = find(name);
  if (!r) return nullptr;
  for (const host_entry& e : r->kernels)
    if (scalar_of(e) == scalar) return &e;
  return nullptr;
}

const std::string* entry_text(std::string_view name) {
  static const std::string none;
  const Registered* const r = find(name);
  if (!r) return &none;
  return r->source.empty() ? nullptr : &r->source;
}

}  // namespace compound
