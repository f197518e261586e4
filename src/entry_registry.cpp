#include "entry_registry.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "error.hpp"

namespace compound {

namespace {

constexpr int largest_size = 32;

/// One kind, with an address that stays.
struct Registered {
  std::string name, file, text, source;
  EntryKind* kind = nullptr;       ///< its row of entry_kinds()
  std::deque<host_entry> kernels;  ///< the newest first; they stay where they are
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
         (s.real_words ? " real words" : " words");
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

void check_name(std::string_view name) {
  if (!is_identifier(name)) throw wrong(name, "the name must be that of a C++ template: letters, digits and _");
  for (const EntryKind& k : entry_kinds())
    if (k.name == name && !k.user_defined) throw wrong(name, "a built-in kind has this name; choose another");
}

void check_shape(std::string_view name, const EntryShape& s) {
  if (s.rows < 1 || s.cols < 1 || s.rows > largest_size || s.cols > largest_size || s.words < 1)
    throw wrong(name, "it has " + text_of(s) + "; blocks of 1x1 to 32x32 and at least one word are allowed");
}

EntryShape& shape_in(EntryKind& kind, Field field) { return field == Field::real ? kind.in_real : kind.in_complex; }

/// Before anything is registered: a name and a shape that may be, the known one where there is one.
void check_kind(std::string_view name, Field field, const EntryShape& shape, const char* other) {
  check_name(name);
  check_shape(name, shape);
  Registered* const r = find(name);
  if (!r) return;
  const EntryShape& known = shape_in(*r->kind, field);
  if (known.words != 0 && !(known == shape))
    throw wrong(name, "it has " + text_of(shape) + ", but " + text_of(known) + " in " + other +
                          "; give both the same definition");
}

/// The kind of that name, with this shape in this field.
Registered& kind_with(std::string_view name, Field field, const EntryShape& shape) {
  Registered* r = find(name);
  if (!r) {
    r = &registered().emplace_back();
    r->name = name;
    EntryKind kind;
    kind.name = kind.type = r->name;
    kind.description = "user-defined";
    kind.user_defined = true;
    r->kind = &add_entry_kind(kind);
  }
  shape_in(*r->kind, field) = shape;
  return *r;
}

void check_text(std::string_view name, const std::string& file, const std::string& text) {
  const Registered* const r = find(name);
  if (r && !r->text.empty() && r->text != text)
    throw wrong(name, "its text was taken from " + r->file + " already, and " + file + " has another");
}

// The trial of a kind's kernels: one entry in compressed rows, in doubles or floats as the kind has them.

template <class R>
struct Trial {
  const host_entry& e;
  int per_scalar = e.complex_scalars ? 2 : 1;  ///< real numbers
  int per_word = e.complex_scalars && !e.real_words ? 2 : 1;
  R eps = sizeof(R) == 4 ? R(1.2e-7) : R(2.3e-16);

  std::vector<R> numbers(int count, int seed) const {
    std::vector<R> v(count);
    for (int i = 0; i < count; ++i) v[i] = R(((i + 1) * 37 + seed * 101) % 64 - 32) / 8 + R(0.0625);
    return v;
  }

  std::vector<R> block_of(const std::vector<R>& words) const {
    std::vector<R> b(std::size_t(e.rows) * e.cols * per_scalar);
    e.block(words.data(), b.data());
    return b;
  }

  const host_kernels& kernels() const { return sizeof(R) == 4 ? e.in_float : e.in_double; }

  /// One row, one column.
  layout_args layout() const {
    static constexpr count32 start[] = {0, 1};
    static constexpr idx column[] = {0};
    layout_args l;
    l.positions = 1;
    l.slots = 1;
    l.start = start;
    l.column = column;
    return l;
  }

  std::vector<R> packed(const std::vector<R>& block) const {
    std::vector<R> words(std::size_t(e.words) * per_word);
    host_packing p;
    p.layout = layout();
    p.rows = e.rows;
    p.cols = e.cols;
    p.words.stride = 1;
    p.blocks = block.data();
    p.values = words.data();
    kernels().pack(p);
    return words;
  }

  std::vector<R> product(const std::vector<R>& words, const std::vector<R>& x, Op op) const {
    const int out = op == Op::none ? e.rows : e.cols;
    std::vector<R> y(std::size_t(out) * per_scalar);
    host_product p;
    p.layout = layout();
    p.rows = e.rows;
    p.cols = e.cols;
    p.words.stride = p.x_words.stride = p.y_words.stride = 1;
    p.y_scalars = out;
    p.op = op;
    p.values = words.data();
    p.x = x.data();
    p.y = y.data();
    kernels().multiply(p);
    return y;
  }

  /// op(block) x by its definition.
  std::vector<R> defined(const std::vector<R>& block, const std::vector<R>& x, Op op) const {
    const int out = op == Op::none ? e.rows : e.cols;
    std::vector<R> y(std::size_t(out) * per_scalar);
    for (int j = 0; j < e.cols; ++j)
      for (int i = 0; i < e.rows; ++i) {
        const R* const a = &block[(std::size_t(j) * e.rows + i) * per_scalar];
        const int to = op == Op::none ? i : j, from = op == Op::none ? j : i;
        if (per_scalar == 1) {
          y[to] += a[0] * x[from];
          continue;
        }
        const R im = op == Op::hermitian ? -a[1] : a[1];
        y[2 * to] += a[0] * x[2 * from] - im * x[2 * from + 1];
        y[2 * to + 1] += a[0] * x[2 * from + 1] + im * x[2 * from];
      }
    return y;
  }

  void check_product(const std::vector<R>& words, const std::vector<R>& block, Op op) const {
    constexpr const char* names[] = {"A x", "A^T x", "A^H x"};
    const auto x = numbers((op == Op::none ? e.cols : e.rows) * per_scalar, 7);
    const auto y = product(words, x, op), wanted = defined(block, x, op);
    R scale = 1;
    for (const R b : block) scale = std::max(scale, std::abs(b));
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::abs(y[i] - wanted[i]) <= 64 * eps * scale * R(32) * R(e.rows + e.cols)))
        throw wrong(e.name, std::string("madd() is not the product by block(): component ") + std::to_string(i) +
                                " of " + names[static_cast<int>(op)] + " is " + std::to_string(y[i]) + ", not " +
                                std::to_string(wanted[i]));
  }

  void run() const {
    for (int seed = 0; seed < 4; ++seed) {
      const auto words = numbers(e.words * per_word, seed);
      const auto block = block_of(words);
      if (e.first_misfit(block.data(), 1, e.rows, e.cols) >= 0)
        throw wrong(e.name,
                    "from_block() does not give back the words of a block that block() made: block(from_block(b)) "
                    "must equal b");
      const auto again = packed(block);
      if (block_of(again) != block) throw wrong(e.name, "packed words are not those of their block");
      for (const Op op : {Op::none, Op::transpose, Op::hermitian}) check_product(again, block, op);
    }
  }
};

}  // namespace

void register_host_entry(const host_entry& e) {
  if (e.version != host_entry::current_version)
    throw error(ErrorKind::argument, "an entry was compiled against headers of version " + std::to_string(e.version) +
                                         ", this plugin has version " + std::to_string(host_entry::current_version) +
                                         "; compile it anew");
  const std::string_view name = e.name ? e.name : "";
  const Field field = scalar_of(e).field;
  check_kind(name, field, shape_of(e), "the file of -mat_compound_entry_file");
  e.real_bytes == 4 ? Trial<float>{e}.run() : Trial<double>{e}.run();
  Registered& r = kind_with(name, field, shape_of(e));
  r.kernels.push_front(e);
  r.kernels.front().name = r.name.c_str();
}

void register_entry_text(std::string_view name, const std::string& file, const std::string& text, Field field,
                         const EntryShape& shape) {
  check_kind(name, field, shape, "its registered host kernels");
  check_text(name, file, text);
  Registered& r = kind_with(name, field, shape);
  r.file = file;
  r.text = text;
  r.source = "#line 1 \"" + file + "\"\n" + text + "\n#line 1 \"compound.cu\"\n";
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
