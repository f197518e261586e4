#include "coo/lists.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace compound::plugin {

namespace {

/// Where each list has one index, as coordinates of a whole matrix often give: their beginnings say nothing.
bool have_one_each(const SumLists& l) {
  return static_cast<slot_t>(l.index.size()) == l.sums() &&
         std::ranges::adjacent_find(l.first, std::equal_to()) == l.first.end();
}

/// The array itself on the host, a copy elsewhere; null for an empty one.
template <class T, class Allocator>
const T* take(Backend& on, const std::vector<T, Allocator>& v, Buffer<T>& copy) {
  if (v.empty() || !works_as_device(on)) return v.empty() ? nullptr : v.data();
  copy = Buffer<T>(on, std::span<const T>(v));
  return copy.data();
}

/// Offsets of blocks by rows, in the order of blocks by columns.
std::vector<int> by_columns(const std::vector<int>& offset, PetscInt side) {
  std::vector<int> turned;
  const auto words = static_cast<std::size_t>(side * side);
  for (std::size_t block = 0; block < offset.size(); block += words)
    for (PetscInt j = 0; j < side; ++j)
      for (PetscInt i = 0; i < side; ++i) turned.push_back(offset[block + static_cast<std::size_t>(i * side + j)]);
  return turned;
}

/// Contributions in buckets by block row, and sorted by column in each.
class Sorting {
 public:
  /// What one list adds up: contributions [begin, end) of the sorted ones.
  struct List {
    PetscInt64 key;
    std::size_t begin, end;
  };

  Sorting(const Contributions& own, const Contributions& others, const PartsShape& shape)
      : own_(own),
        others_(others),
        side_(own.side),
        scalar_blocks_(own.side == 1 && shape.block_size > 1 ? shape.block_size : 1),
        first_row_(shape.first_row / (side_ * scalar_blocks_)) {
    fill_buckets(static_cast<std::size_t>(shape.rows / (side_ * scalar_blocks_)));
  }

  std::size_t rows() const { return start_.size() - 1; }
  /// Lists of a block of the base type; more than one where contributions are its scalars.
  PetscInt lists_of_block() const { return scalar_blocks_ * scalar_blocks_; }
  const LargeVector<std::size_t>& sorted() const { return order_; }

  /// The lists of a bucket: `key` is block column * lists_of_block() + scalar of the block, by columns.
  const std::vector<List>& sort_row(std::size_t row) {
    const std::span<std::size_t> ids(order_.data() + start_[row], start_[row + 1] - start_[row]);
    keys_.clear();
    for (const std::size_t id : ids) keys_.push_back(key_of(id));
    if (!std::ranges::is_sorted(keys_)) sort(ids);
    lists_.clear();
    for (std::size_t n = 0; n < ids.size(); ++n) {
      if (n == 0 || keys_[n] != keys_[n - 1]) lists_.push_back({keys_[n], start_[row] + n, start_[row] + n});
      ++lists_.back().end;
    }
    return lists_;
  }

 private:
  /// f(id, row) of all that count; those of `others` are numbered behind those of `own`.
  template <class F>
  void for_each(const F& f) const {
    std::size_t id = 0;
    for (const Contributions* c : {&own_, &others_})
      for (const PetscInt row : c->row) {
        if (row >= 0) f(id, static_cast<std::size_t>((scalar_blocks_ == 1 ? row : row / scalar_blocks_) - first_row_));
        ++id;
      }
  }

  void fill_buckets(std::size_t rows) {
    start_.assign(rows + 1, 0);
    for_each([&](std::size_t, std::size_t row) { ++start_[row]; });
    std::size_t sum = 0;
    for (std::size_t& s : start_) sum += std::exchange(s, sum);
    order_.resize(sum);
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    for_each([&](std::size_t id, std::size_t row) { order_[next[row]++] = id; });
  }

  void sort(std::span<std::size_t> ids) {
    keyed_.clear();
    for (std::size_t n = 0; n < ids.size(); ++n) keyed_.emplace_back(keys_[n], ids[n]);
    std::ranges::sort(keyed_);
    for (std::size_t n = 0; n < ids.size(); ++n) std::tie(keys_[n], ids[n]) = keyed_[n];
  }

  PetscInt64 key_of(std::size_t id) const {
    const bool is_own = id < own_.size();
    const Contributions& c = is_own ? own_ : others_;
    const std::size_t n = is_own ? id : id - own_.size();
    if (scalar_blocks_ == 1) return c.column[n];
    const PetscInt column = c.column[n];
    return (PetscInt64{column / scalar_blocks_} * scalar_blocks_ + column % scalar_blocks_) * scalar_blocks_ +
           c.row[n] % scalar_blocks_;
  }

  const Contributions &own_, &others_;
  const PetscInt side_;
  const PetscInt scalar_blocks_;  ///< side of the base type's blocks where contributions are their scalars; else 1
  const PetscInt first_row_;      ///< in buckets
  std::vector<std::size_t> start_;
  LargeVector<std::size_t> order_;
  std::vector<PetscInt64> keys_;
  std::vector<std::pair<PetscInt64, std::size_t>> keyed_;
  std::vector<List> lists_;
};

/// Turns sorted contributions into the lists of parts, block row by block row.
class Lists {
 public:
  Lists(const Contributions& own, const Contributions& others, const PartsShape& shape)
      : own_(own),
        others_(others),
        shape_(shape),
        sorting_(own, others, shape),
        expansion_(own.side > shape.block_size ? own.side : 1) {
    assembly_.parts.resize(shape.has_off_diagonal_part ? 2 : 1);
    places_.resize(assembly_.parts.size());
    for (PartLists& p : assembly_.parts) {
      const bool by_rows = expansion_ > 1;
      begin(own, by_rows, &p.own);
      begin(others, by_rows, &p.others);
    }
    if (assembly_.parts.size() == 1) assembly_.parts[0].own.index.reserve(sorting_.sorted().size());
  }

  Assembly take() {
    for (std::size_t row = 0; row < sorting_.rows(); ++row) add_row(sorting_.sort_row(row));
    for (PartLists& p : assembly_.parts)
      if (!p.other.empty()) p.other.resize(static_cast<std::size_t>(p.own.sums()), -1);
    return std::move(assembly_);
  }

 private:
  /// The part of the matrix, and how many lists and scalars it has so far.
  struct Place {
    slot_t lists = 0, scalars = 0;
  };

  static void begin(const Contributions& c, bool by_rows, SumLists* l) {
    l->side = c.side;
    l->offset = offsets_of(c, by_rows);
  }

  std::size_t part_of(PetscInt64 block_column) const {
    const PetscInt64 column = block_column * (sorting_.lists_of_block() > 1 ? shape_.block_size : own_.side);
    return shape_.has_off_diagonal_part && (column < shape_.first_column || column >= shape_.last_column) ? 1 : 0;
  }

  void add_row(const std::vector<Sorting::List>& lists) {
    row_.clear();
    const PetscInt words = sorting_.lists_of_block();
    for (std::size_t n = 0; n < lists.size();) {
      const PetscInt64 block = lists[n].key / words;
      row_.push_back(block);
      PartLists& part = assembly_.parts[part_of(block)];
      Place& place = places_[part_of(block)];
      for (PetscInt word = 0; word < words; ++word) {
        const bool has_list = n < lists.size() && lists[n].key == block * words + word;
        if (has_list) add_contributions(lists[n++], place.lists, &part);
        part.own.first.push_back(static_cast<slot_t>(part.own.index.size()));
        ++place.lists;
      }
    }
    if (expansion_ > 1) place_in_scalar_rows();
    add_to_pattern();
  }

  void add_contributions(const Sorting::List& list, slot_t number, PartLists* part) {
    const std::size_t before = part->others.index.size();
    for (std::size_t n = list.begin; n < list.end; ++n) {
      const std::size_t id = sorting_.sorted()[n];
      if (id < own_.size())
        add(own_, id, &part->own);
      else
        add(others_, id - own_.size(), &part->others);
    }
    if (part->others.index.size() == before) return;
    part->other.resize(static_cast<std::size_t>(number), -1);
    part->other.push_back(static_cast<int>(part->others.sums()));
    part->others.first.push_back(static_cast<slot_t>(part->others.index.size()));
    part->others.place.push_back(number * part->others.words());
    others_of_row_.push_back({static_cast<std::size_t>(part - assembly_.parts.data()), number});
  }

  static void add(const Contributions& c, std::size_t n, SumLists* l) {
    l->index.push_back(c.first_of(n));
    if (!c.shape.empty()) l->shape.push_back(c.shape[n]);
  }

  /// Blocks of a base type of scalars: their rows are as far apart as its rows are long.
  void place_in_scalar_rows() {
    const PetscInt side = own_.side;
    std::vector<PetscInt> blocks(assembly_.parts.size(), 0), nth = blocks;
    for (const PetscInt64 block : row_) ++blocks[part_of(block)];
    for (const PetscInt64 block : row_) {
      const std::size_t p = part_of(block);
      assembly_.parts[p].own.place.push_back(places_[p].scalars + slot_t{nth[p]++} * side);
      assembly_.parts[p].own.stride.push_back(static_cast<int>(blocks[p] * side));
    }
    for (const auto& [p, number] : std::exchange(others_of_row_, {})) {
      PartLists& part = assembly_.parts[p];
      const auto s = static_cast<std::size_t>(number);
      part.others.place[part.others.stride.size()] = part.own.place[s];
      part.others.stride.push_back(part.own.stride[s]);
    }
    for (std::size_t p = 0; p < blocks.size(); ++p) places_[p].scalars += slot_t{blocks[p]} * side * side;
  }

  void add_to_pattern() {
    BlockRows& b = assembly_.blocks;
    for (PetscInt line = 0; line < expansion_; ++line) {
      for (const PetscInt64 block : row_)
        for (PetscInt j = 0; j < expansion_; ++j) b.column.push_back(static_cast<PetscInt>(block * expansion_ + j));
      b.start.push_back(static_cast<PetscInt>(b.column.size()));
    }
    if (expansion_ == 1) others_of_row_.clear();
  }

  const Contributions &own_, &others_;
  const PartsShape& shape_;
  Sorting sorting_;
  const PetscInt expansion_;  ///< rows and columns of the base type's pattern for each row and column of blocks
  Assembly assembly_;
  std::vector<Place> places_;
  std::vector<PetscInt64> row_;                                ///< the columns of its blocks
  std::vector<std::pair<std::size_t, slot_t>> others_of_row_;  ///< part and number of a list
};

}  // namespace

bool works_as_device(const Backend& on) { return on.is_device() || std::getenv("COMPOUND_VALUES_APART"); }

ListsIn::ListsIn(Backend& on, const SumLists& l)
    : task_{.scalar = scalar_type_of<Scalar>(),
            .sums = l.sums(),
            .first = have_one_each(l) ? nullptr : take(on, l.first, copies_[0]),
            .index = take(on, l.index, copies_[1]),
            .place = take(on, l.place, copies_[2]),
            .side = static_cast<int>(l.side),
            .offset = take(on, l.offset, integers_[0]),
            .shape = take(on, l.shape, shapes_),
            .stride = take(on, l.stride, integers_[1])} {}

ListsIn::ListsIn(Backend& on, ContributionLists l, PetscInt side, const std::vector<int>& offset)
    : copies_{std::move(l.first), std::move(l.index), std::move(l.place)},
      integers_{offset.empty() ? Buffer<int>() : Buffer<int>(on, std::span<const int>(offset)), std::move(l.stride)},
      shapes_(std::move(l.shape)),
      task_{.scalar = scalar_type_of<Scalar>(),
            .sums = static_cast<slot_t>(l.column.size()),
            .first = copies_[0].data(),
            .index = copies_[1].data(),
            .place = copies_[2].data(),
            .side = static_cast<int>(side),
            .offset = integers_[0].data(),
            .shape = shapes_.data(),
            .stride = integers_[1].data()} {}

SumLists ListsIn::lists(Backend& on) const {
  SumLists l;
  const auto bring = [&](const auto& buffer, auto* to) {
    to->resize(buffer.bytes() / sizeof(*buffer.data()));
    if (!to->empty()) on.download(to->data(), buffer.data(), buffer.bytes());
  };
  l.side = task_.side;
  bring(copies_[0], &l.first);
  bring(copies_[1], &l.index);
  bring(copies_[2], &l.place);
  bring(integers_[0], &l.offset);
  bring(integers_[1], &l.stride);
  bring(shapes_, &l.shape);
  if (task_.first) return l;
  l.first.resize(static_cast<std::size_t>(task_.sums) + 1);
  std::iota(l.first.begin(), l.first.end(), slot_t{0});
  return l;
}

void ListsIn::run(Backend& on, const Scalar* from, Scalar* to, Update update) const {
  if (empty()) return;
  SumTask task = this->task(from);
  task.to = to;
  task.update = update;
  on.sum(task);
}

std::vector<int> offsets_of(const Contributions& c, bool by_rows) {
  if (c.side == 1) return {};
  return by_rows ? c.offset : by_columns(c.offset, c.side);
}

BlockRows in_scalars(const BlockRows& blocks, PetscInt side) {
  BlockRows b;
  const std::size_t rows = blocks.start.size() - 1;
  b.start.resize(rows * static_cast<std::size_t>(side) + 1);
  b.start[0] = 0;
  b.column.resize(blocks.column.size() * static_cast<std::size_t>(side * side));
  PetscInt* to = b.column.data();
  PetscInt* start = b.start.data();
  for (std::size_t row = 0; row < rows; ++row) {
    const PetscInt* const line = to;
    for (PetscInt k = blocks.start[row]; k < blocks.start[row + 1]; ++k)
      for (PetscInt j = 0; j < side; ++j) *to++ = blocks.column[static_cast<std::size_t>(k)] * side + j;
    const std::ptrdiff_t length = to - line;
    for (PetscInt i = 1; i < side; ++i) to = std::copy_n(line, length, to);
    for (PetscInt i = 0; i < side; ++i, ++start) start[1] = start[0] + static_cast<PetscInt>(length);
  }
  return b;
}

Assembly assembly_of(const Contributions& own, const Contributions& others, const PartsShape& shape) {
  return Lists(own, others, shape).take();
}

SumLists copies_of(const Contributions& c, const std::vector<std::size_t>& which) {
  SumLists l;
  l.side = c.side;
  if (c.side > 1) l.offset = c.offset;
  for (const std::size_t n : which) {
    l.index.push_back(c.first_of(n));
    if (!c.shape.empty()) l.shape.push_back(c.shape[n]);
    l.first.push_back(static_cast<slot_t>(l.index.size()));
  }
  return l;
}

}  // namespace compound::plugin
