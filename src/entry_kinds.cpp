#include "entry_kinds.hpp"

#include "entry_list.hpp"
#include "error.hpp"

namespace compound {

namespace {

constexpr int largest_square = diagonal_entry<double, dynamic>::largest;

using R = double;
using C = complex_number<double>;

template <class Entry>
constexpr EntryShape shape_of() {
  return {Entry::block_rows, Entry::block_cols, Entry::word_count,
          !is_complex<typename Entry::word> && is_complex<typename Entry::scalar>};
}

/// A kind of one shape in real and one in complex matrices.
template <template <class> class Entry>
constexpr EntryKind of_one_shape(std::string_view type, std::string_view description) {
  return {Entry<R>::name, description, type, shape_of<Entry<R>>(), shape_of<Entry<C>>()};
}

template <class Entry>
constexpr EntryKind of_square_blocks(std::string_view type, std::string_view description) {
  return {Entry::name, description, type, {}, {}, 1, [](BlockShape b) { return Entry::words_for(b.rows); }};
}

constexpr EntryKind with(Multiples multiples, EntryKind kind) {
  kind.multiples = multiples;
  return kind;
}

constexpr EntryKind only_by_name(EntryKind kind) {
  kind.approximate = true;
  return kind;
}

/// Of kinds with as many words the first is chosen.
constexpr EntryKind built_in[] = {
    {"dense", "all scalars of the block", "dense", {}, {}, 2, [](BlockShape b) { return b.rows * b.cols; }},
    with(Multiples::real, {"complex", "[[a,-b],[b,a]], as a, b", "complex_entry", shape_of<complex_entry<R>>(), {}}),
    with(Multiples::real, of_one_shape<quaternion>("quaternion", "multiplication by a quaternion from the left")),
    with(Multiples::real,
         of_one_shape<dual_quaternion>("dual_quaternion", "multiplication by a dual quaternion from the left")),
    with(Multiples::all, of_square_blocks<diagonal_entry<R, dynamic>>("diagonal_entry", "a diagonal block")),
    of_square_blocks<scaled_identity<R, dynamic>>("scaled_identity", "a scalar times the identity"),
    only_by_name(of_one_shape<unit_quaternion>("unit_quaternion", "a quaternion of length one, to 8 rounding errors")),
};

std::deque<EntryKind>& kinds() {
  static std::deque<EntryKind> all(std::begin(built_in), std::end(built_in));
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

const EntryKind& entry_kind(std::string_view name) {
  for (const EntryKind& k : kinds())
    if (k.name == name) return k;
  throw error(ErrorKind::argument, "unknown entry '" + std::string(name) + "'; choose " + entry_kind_names());
}

}  // namespace compound
