#include "entry/kinds.hpp"

#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "entry/list.hpp"

namespace compound {

namespace {

constexpr int largest_square = diagonal_entry<double, dynamic>::largest;

template <class Entry>
constexpr EntryShape shape_of() {
  if constexpr (!Entry::exists || Entry::any_size)
    return {};
  else
    return {Entry::block_rows, Entry::block_cols, Entry::word_count,
            !is_complex<typename Entry::word> && is_complex<typename Entry::scalar>};
}

/// What a kind says of itself.
template <class Kind>
EntryKind kind_of(Kind) {
  using Entry = typename Kind::template entry<double>;
  EntryKind kind;
  kind.name = Entry::name;
  kind.type = Entry::template_name;
  kind.in_real = shape_of<Entry>();
  kind.in_complex = shape_of<typename Kind::template entry<complex_number<double>>>();
  kind.sizes = Kind::sizes;
  kind.words = [](BlockShape b) { return Entry::of(b.rows, b.cols).words(); };
  kind.approximate = requires { Entry::tolerance; };
  kind.multiples = Entry::multiples;
  kind.host_form = Entry::host_form;
  return kind;
}

template <class... Kinds>
std::deque<EntryKind> kinds_of(kind_list<Kinds...>) {
  return {kind_of(Kinds{})...};
}

std::deque<EntryKind>& kinds() {
  static std::deque<EntryKind> all = kinds_of(built_in_kinds{});
  return all;
}

std::string shape_text(int rows, int cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

}  // namespace

EntryShape EntryKind::shape(Field field, BlockShape block) const {
  if (sizes == 0) {
    const EntryShape& s = field == Field::real ? in_real : in_complex;
    return s.rows == block.rows && s.cols == block.cols ? s : EntryShape{};
  }
  if (sizes == 1 && (block.rows != block.cols || block.rows > largest_square)) return {};
  return {block.rows, block.cols, words(block)};
}

std::string EntryKind::why_not(Field field, BlockShape block) const {
  if (shape(field, block).words != 0) return {};
  const EntryShape& s = field == Field::real ? in_real : in_complex;
  const std::string subject = "entry " + std::string(name);
  if (sizes == 0 && s.words == 0)
    return subject + " does not exist in " + (field == Field::real ? "real" : "complex") + " matrices";
  const std::string squares = "square blocks of up to " + shape_text(largest_square, largest_square);
  return subject + " needs " + (sizes == 0 ? "blocks of " + shape_text(s.rows, s.cols) : squares) +
         ", the matrix has " + shape_text(block.rows, block.cols);
}

const std::deque<EntryKind>& entry_kinds() { return kinds(); }

EntryKind& add_entry_kind(const EntryKind& kind) { return kinds().emplace_back(kind); }

std::string entry_kind_names() {
  std::string names;
  for (const EntryKind& k : kinds()) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

std::string built_in_entry_names() {
  std::string names;
  for (const EntryKind& k : kinds())
    if (!k.user_defined)
      names += (names.empty() ? "" : ", ") + std::string(k.name) + (k.approximate ? " (approximate)" : "");
  return names;
}

const EntryKind& entry_kind(std::string_view name) {
  for (const EntryKind& k : kinds())
    if (k.name == name) return k;
  std::vector<std::string_view> names;
  for (const EntryKind& k : kinds()) names.push_back(k.name);
  throw error(ErrorKind::argument, unknown_name("entry", name, names));
}

}  // namespace compound
