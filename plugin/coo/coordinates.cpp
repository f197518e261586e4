#include "coo/coordinates.hpp"

#include <algorithm>
#include <type_traits>

namespace compound::plugin {

namespace {

/// A search for more shapes of blocks than this, or for scalars that are further apart, ends: lists of scalars are then
/// as good.
constexpr std::size_t most_shapes = 256;
constexpr std::size_t most_apart = std::size_t{1} << 20;

class BlockSearch {
 public:
  BlockSearch(const Coordinates& c, PetscInt side) : c_(c), side_(side), words_(static_cast<std::size_t>(side * side)) {
    found_.side = side;
    taken_.resize(c.row.size(), 0);
    for (LargeVector<PetscInt>* v : {&found_.row, &found_.column}) v->reserve(c.row.size() / words_);
    found_.first.reserve(c.row.size() / words_);
    found_.shape.reserve(c.row.size() / words_);
  }

  /// Whether every scalar that counts is in one block.
  bool run() {
    for (std::size_t k = 0; k < c_.row.size(); ++k)
      if (!taken_[k] && !c_.is_ignored(k) && !take_block(k)) return false;
    if (shapes() == 1) found_.shape.clear();
    return true;
  }
  Contributions& found() { return found_; }

 private:
  /// Coordinates are any numbers here: what wraps around lies beyond every matrix, and is refused later.
  using Bits = std::make_unsigned_t<PetscInt>;
  static Bits behind(std::span<const PetscInt> index, std::size_t n, std::size_t k) {
    return static_cast<Bits>(index[n]) - static_cast<Bits>(index[k]);
  }

  std::size_t shapes() const { return found_.offset.size() / words_; }

  /// The block whose first scalar is k: the scalar of its first row and column comes first.
  bool take_block(std::size_t k) {
    const PetscInt row = c_.row[k], column = c_.column[k];
    if (row % side_ != 0 || column % side_ != 0) return false;
    const auto shape = shape_of(k);
    if (!shape) return false;
    const int* const offset = found_.offset.data() + *shape * words_;
    for (std::size_t w = 0; w < words_; ++w) taken_[k + static_cast<std::size_t>(offset[w])] = 1;
    found_.row.push_back(row / side_);
    found_.column.push_back(column / side_);
    found_.first.push_back(static_cast<slot_t>(k));
    found_.shape.push_back(static_cast<unsigned char>(*shape));
    last_ = *shape;
    return true;
  }

  /// Mostly that of the block before, or of an earlier one.
  std::optional<std::size_t> shape_of(std::size_t k) {
    if (last_ < shapes() && fits(k, last_)) return last_;
    for (std::size_t s = 0; s < shapes(); ++s)
      if (fits(k, s)) return s;
    if (shapes() == most_shapes || !add_shape(k)) return {};
    return shapes() - 1;
  }

  bool fits(std::size_t k, std::size_t shape) const {
    const int* offset = found_.offset.data() + shape * words_;
    for (PetscInt i = 0; i < side_; ++i)
      for (PetscInt j = 0; j < side_; ++j) {
        const std::size_t n = k + static_cast<std::size_t>(*offset++);
        if (n >= c_.row.size() || behind(c_.row, n, k) != static_cast<Bits>(i) ||
            behind(c_.column, n, k) != static_cast<Bits>(j) || taken_[n])
          return false;
      }
    return true;
  }

  /// Of the first scalars behind k that are free and in its block.
  bool add_shape(std::size_t k) {
    std::vector<int> offset(words_, -1);
    const std::size_t end = std::min(c_.row.size(), k + most_apart);
    std::size_t left = words_;
    const auto side = static_cast<Bits>(side_);
    for (std::size_t n = k; n < end && left > 0; ++n) {
      const Bits i = behind(c_.row, n, k), j = behind(c_.column, n, k);
      if (i >= side || j >= side || taken_[n]) continue;
      int& of_scalar = offset[i * side + j];
      if (of_scalar >= 0) continue;
      of_scalar = static_cast<int>(n - k);
      --left;
    }
    if (left > 0) return false;
    found_.offset.insert(found_.offset.end(), offset.begin(), offset.end());
    return true;
  }

  const Coordinates& c_;
  const PetscInt side_;
  const std::size_t words_;
  Contributions found_;
  std::vector<char> taken_;  ///< [scalars] whether a block has it
  std::size_t last_ = 0;
};

}  // namespace

Contributions contributions_of(const Coordinates& coordinates, PetscInt side) {
  Contributions c;
  c.side = side;
  c.row.assign(coordinates.row.begin(), coordinates.row.end());
  c.column.assign(coordinates.column.begin(), coordinates.column.end());
  for (std::size_t k = 0; k < c.size(); ++k)
    if (c.column[k] < 0) c.row[k] = -1;
  for (int w = 0; w < side * side; ++w) c.offset.push_back(w);
  return c;
}

std::optional<Contributions> find_blocks(const Coordinates& coordinates, PetscInt side) {
  BlockSearch search(coordinates, side);
  if (!search.run()) return {};
  return std::move(search.found());
}

}  // namespace compound::plugin
