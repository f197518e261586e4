#include "entry_registry.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <type_traits>
#include <vector>

#include "error.hpp"

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

}  // namespace

void check_entry_name(std::string_view name) {
  if (name == "auto") throw wrong(name, "that is the word for looking for a kind; choose another name");
  if (!is_identifier(name)) throw wrong(name, "the name must be that of a C++ template: letters, digits and _");
  for (const EntryKind& k : entry_kinds())
    if (k.name == name && !k.user_defined) throw wrong(name, "a built-in kind has this name; choose another");
}

namespace {

void check_shape(std::string_view name, const EntryShape& s) {
  if (s.rows < 1 || s.cols < 1 || s.rows > largest_size || s.cols > largest_size || s.words < 1)
    throw wrong(name, "it has " + text_of(s) + "; blocks of 1x1 to 32x32 and at least one word are allowed");
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

/// The kind of that name, with this shape in this field.
Registered& kind_with(std::string_view name, Field field, const EntryShape& shape) {
  Registered* r = find(name);
  if (!r) {
    r = &registered().emplace_back();
    r->name = name;
    EntryKind kind;
    kind.name = kind.type = r->name;
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

// The trial of a kind's kernels: a matrix of 2 x 2 full entries in compressed rows.

/// R: of vectors and blocks; Stored: of packed words, R or float.
template <class R, class Stored>
struct Trial {
  static constexpr int entries = 4, rows = 2;
  const host_entry& e;
  int per_scalar = e.complex_scalars ? 2 : 1;  ///< real numbers
  int per_word = e.complex_scalars && !e.real_words ? 2 : 1;
  std::size_t of_block = std::size_t{1} * e.rows * e.cols * per_scalar;
  std::size_t of_words = std::size_t{1} * e.words * per_word;

  static std::vector<R> numbers(std::size_t count, int seed) {
    std::vector<R> v(count);
    for (std::size_t i = 0; i < count; ++i)
      v[i] = R((static_cast<int>(i + 1) * 37 + seed * 101) % 64 - 32) / 8 + R(0.0625);
    return v;
  }

  /// The blocks of made-up words.
  std::vector<R> blocks() const {
    std::vector<R> all(entries * of_block);
    for (int k = 0; k < entries; ++k) e.block(numbers(of_words, k).data(), &all[k * of_block]);
    return all;
  }

  const host_kernels& kernels() const { return sizeof(Stored) == 4 ? e.in_float : e.in_double; }

  static layout_args layout() {
    static constexpr count32 start[] = {0, 2, 4};
    static constexpr idx column[] = {0, 1, 0, 1};
    layout_args l;
    l.positions = rows;
    l.slots = entries;
    l.start = start;
    l.column = column;
    return l;
  }

  std::vector<Stored> packed(const std::vector<R>& blocks) const {
    std::vector<Stored> words(entries * of_words);
    host_packing p;
    p.layout = layout();
    p.rows = e.rows;
    p.cols = e.cols;
    p.words.stride = 1;
    p.blocks = blocks.data();
    p.values = words.data();
    kernels().pack(p);
    return words;
  }

  int rows_of(Op op) const { return op == Op::none ? e.rows : e.cols; }
  int cols_of(Op op) const { return op == Op::none ? e.cols : e.rows; }
  /// What the product is added to: a madd() that does not add would show.
  std::vector<R> begun(Op op) const { return numbers(std::size_t{1} * rows * rows_of(op) * per_scalar, 11); }

  std::vector<R> product(const std::vector<Stored>& words, const std::vector<R>& x, Op op) const {
    std::vector<R> y = begun(op);
    host_product p;
    p.layout = layout();
    p.rows = e.rows;
    p.cols = e.cols;
    p.words.stride = p.x_words.stride = p.y_words.stride = 1;
    p.y_scalars = slot_t{rows} * rows_of(op);
    p.op = op;
    p.update = Update::add;
    p.values = words.data();
    p.x = x.data();
    p.z = y.data();
    p.y = y.data();
    kernels().multiply(p);
    return y;
  }

  /// The same by the definition.
  std::vector<R> defined(const std::vector<R>& blocks, const std::vector<R>& x, Op op) const {
    std::vector<R> y = begun(op);
    const layout_args l = layout();
    for (int k = 0; k < entries; ++k) {
      const int row = k / 2, column = l.column[k];
      for (int j = 0; j < e.cols; ++j)
        for (int i = 0; i < e.rows; ++i) {
          const R* const a = &blocks[k * of_block + (std::size_t(j) * e.rows + i) * per_scalar];
          const int of_row = row * e.rows + i, of_column = column * e.cols + j;
          const int to = op == Op::none ? of_row : of_column, from = op == Op::none ? of_column : of_row;
          if (per_scalar == 1) {
            y[to] += a[0] * x[from];
            continue;
          }
          const R im = op == Op::hermitian ? -a[1] : a[1];
          y[2 * to] += a[0] * x[2 * from] - im * x[2 * from + 1];
          y[2 * to + 1] += a[0] * x[2 * from + 1] + im * x[2 * from];
        }
    }
    return y;
  }

  void check_product(const std::vector<Stored>& words, const std::vector<R>& blocks, Op op) const {
    constexpr const char* names[] = {"A x", "A^T x", "A^H x"};
    constexpr R eps = sizeof(Stored) == 4 ? R(1.2e-7) : R(2.3e-16);
    const auto x = numbers(std::size_t{1} * rows * cols_of(op) * per_scalar, 7);
    const auto y = product(words, x, op), wanted = defined(blocks, x, op);
    R scale = 1;
    for (const R b : blocks) scale = std::max(scale, std::abs(b));
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::abs(y[i] - wanted[i]) <= 64 * eps * scale * R(64) * R(e.rows + e.cols)))
        throw wrong(e.name, std::string("madd() does not add the product by block(): component ") + std::to_string(i) +
                                " of y + " + names[static_cast<int>(op)] + " is " + std::to_string(y[i]) + ", not " +
                                std::to_string(wanted[i]));
  }

  void check_blocks(const std::vector<R>& blocks) const {
    if (e.first_misfit(blocks.data(), entries, e.rows, e.cols) >= 0)
      throw wrong(e.name,
                  "from_block() does not give back the words of a block that block() made: block(from_block(b)) "
                  "must equal b");
    if constexpr (std::is_same_v<R, Stored>) {
      const auto words = packed(blocks);
      std::vector<R> again(blocks.size());
      for (int k = 0; k < entries; ++k) e.block(&words[k * of_words], &again[k * of_block]);
      if (again != blocks) throw wrong(e.name, "packed words are not those of their block");
    }
  }

  void run() const {
    const auto all = blocks();
    check_blocks(all);
    const auto words = packed(all);
    for (const Op op : {Op::none, Op::transpose, Op::hermitian}) check_product(words, all, op);
  }
};

void try_kernels(const host_entry& e) {
  if (e.real_bytes == 4) return Trial<float, float>{e}.run();
  Trial<double, double>{e}.run();
  Trial<double, float>{e}.run();
}

/// Words of one stand for the same blocks as those of the other.
bool is_same_definition(const host_entry& a, const host_entry& b) {
  if (a.real_bytes == 4) return Trial<float, float>{a}.blocks() == Trial<float, float>{b}.blocks();
  return Trial<double, double>{a}.blocks() == Trial<double, double>{b}.blocks();
}

}  // namespace

void register_host_entry(const host_entry& e) {
  if (e.version != host_entry::current_version)
    throw error(ErrorKind::argument, "an entry was compiled against headers of version " + std::to_string(e.version) +
                                         ", this plugin has version " + std::to_string(host_entry::current_version) +
                                         "; compile it anew");
  const std::string_view name = e.name ? e.name : "";
  const Field field = scalar_of(e).field;
  check_kind(name, field, shape_of(e));
  try_kernels(e);
  if (const host_entry* const known = registered_host_entry(name, scalar_of(e))) {
    if (is_same_definition(*known, e)) return;
    throw wrong(name,
                "its words stand for other blocks than those of the kind that is registered under this name; "
                "choose another name");
  }
  Registered& r = kind_with(name, field, shape_of(e));
  r.kernels.push_back(e);
  r.kernels.back().name = r.name.c_str();
}

void register_entry_text(std::string_view name, const std::string& file, const std::string& text, Field field,
                         const EntryShape& shape) {
  check_kind(name, field, shape);
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
