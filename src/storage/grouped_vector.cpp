#include "storage/grouped_vector.hpp"

#include <numeric>

namespace compound {

namespace {

slot_t places_of(const Grouping& g) { return slot_t{g.block} * g.groups(); }

Buffer<slot_t> placed(Backend& on, const std::vector<slot_t>& list) { return {on, std::span<const slot_t>(list)}; }

}  // namespace

template <class S>
GroupedVector<S>::GroupedVector(const Grouping& g, Backend& on) : grouping_(&g), on_(&on) {
  if (g.is_full()) return;
  blocks_ = Buffer<S>(on, static_cast<std::size_t>(places_of(g)));
  if (on.reads_in_place()) return;
  std::vector<slot_t> first, place, number(static_cast<std::size_t>(g.scalars()) + 1);
  std::iota(number.begin(), number.end(), slot_t{0});
  for (idx k = 0; k < g.groups(); ++k)
    for (idx i = 0; i < g.block; ++i) {
      first.push_back(static_cast<slot_t>(place.size()));
      if (g.start[k] + i < g.start[k + 1]) place.push_back(slot_t{k} * g.block + i);
    }
  first.push_back(static_cast<slot_t>(place.size()));
  first_ = placed(on, first);
  number_ = placed(on, number);
  place_ = placed(on, place);
}

template <class S>
const S* GroupedVector<S>::take(const S* x) const {
  if (grouping_->is_full()) return x;
  if (on_->reads_in_place())
    to_groups(*grouping_, x, blocks_.data());
  else
    on_->sum(task(places_of(*grouping_), first_.data(), number_.data(), x, blocks_.data()));
  return blocks_.data();
}

template <class S>
void GroupedVector<S>::give(S* y) const {
  if (grouping_->is_full()) return;
  if (on_->reads_in_place())
    from_groups(*grouping_, blocks_.data(), y);
  else
    on_->sum(task(grouping_->scalars(), number_.data(), place_.data(), blocks_.data(), y));
}

template class GroupedVector<double>;
template class GroupedVector<complex_number<double>>;

}  // namespace compound
