#include "coo/lists.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace compound::plugin {

namespace {

/// counts[n] things of kind n: where each kind begins, and the end.
template <class Integer>
void to_starts(std::vector<Integer>& counts) {
  Integer sum = 0;
  for (Integer& c : counts) sum += std::exchange(c, sum);
}

/// f(block row, block column) of all that counts.
template <class F>
void for_each_block(std::initializer_list<const Coordinates*> all, PetscInt first_row, PetscInt bs, const F& f) {
  for (const Coordinates* c : all)
    for (std::size_t k = 0; k < c->row.size(); ++k)
      if (c->row[k] >= 0) f((c->row[k] - first_row) / bs, c->column[k] / bs);
}

/// Where each list has one index, as coordinates of a whole matrix often give: their beginnings say nothing.
bool have_one_each(const SumLists& l) {
  return static_cast<slot_t>(l.index.size()) == l.sums() &&
         std::ranges::adjacent_find(l.first, std::equal_to()) == l.first.end();
}

}  // namespace

ListsIn::ListsIn(Backend& on, const SumLists& l)
    : sums_(l.sums()),
      first_(have_one_each(l) ? nullptr : take(on, l.first, copies_[0])),
      index_(take(on, l.index, copies_[1])),
      place_(l.place.empty() ? nullptr : take(on, l.place, copies_[2])) {}

const slot_t* ListsIn::take(Backend& on, const std::vector<slot_t>& v, Buffer<slot_t>& copy) {
  if (!on.is_device()) return v.data();
  copy = Buffer<slot_t>(on, std::span<const slot_t>(v));
  return copy.data();
}

void ListsIn::run(Backend& on, const Scalar* from, Scalar* to, Update update) const {
  if (!empty()) on.sum({scalar_type_of<Scalar>(), sums_, first_, index_, place_, from, to, update});
}

BlockRows block_rows_of(std::initializer_list<const Coordinates*> all, PetscInt first_row, PetscInt rows, PetscInt bs) {
  BlockRows b;
  std::vector<std::size_t> start(static_cast<std::size_t>(rows / bs) + 1, 0);
  for_each_block(all, first_row, bs, [&](PetscInt row, PetscInt) { ++start[row]; });
  to_starts(start);
  std::vector<PetscInt> column(start.back());
  std::vector<std::size_t> next = start;
  for_each_block(all, first_row, bs, [&](PetscInt row, PetscInt c) { column[next[row]++] = c; });
  b.start.push_back(0);
  for (std::size_t row = 0; row + 1 < start.size(); ++row) {
    const auto from = column.begin() + static_cast<std::ptrdiff_t>(start[row]),
               to = column.begin() + static_cast<std::ptrdiff_t>(start[row + 1]);
    std::sort(from, to);
    b.column.insert(b.column.end(), from, std::unique(from, to));
    b.start.push_back(static_cast<PetscInt>(b.column.size()));
  }
  return b;
}

SumLists lists_of(const PartArrays& part, const Coordinates& c) {
  SumLists l;
  std::vector<slot_t> place(c.row.size(), -1);
  l.first.assign(part.scalars() + 1, 0);
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (c.row[k] >= 0) place[k] = part.place_of(c.row[k], c.column[k]);
    if (place[k] >= 0) ++l.first[place[k]];
  }
  to_starts(l.first);
  l.index.resize(l.first.back());
  std::vector<slot_t> next = l.first;
  for (std::size_t k = 0; k < place.size(); ++k)
    if (place[k] >= 0) l.index[next[place[k]]++] = static_cast<slot_t>(k);
  return l;
}

SumLists without_empty(const SumLists& l) {
  SumLists some;
  some.index = l.index;
  for (slot_t s = 0; s < l.sums(); ++s) {
    if (l.first[s] == l.first[s + 1]) continue;
    some.place.push_back(s);
    some.first.push_back(l.first[s + 1]);
  }
  return some;
}

}  // namespace compound::plugin
