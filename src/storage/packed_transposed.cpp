// A device's products by A^T and A^H: a layout of the transposed pattern of each part, and for each of its slots the
// one of A that it stands for.
#include "base/parallel.hpp"
#include "storage/packed.hpp"
#include "storage/packed_sizes.hpp"

namespace compound {

namespace {

/// Fewer are not worth a thread.
constexpr std::size_t entries_of_thread = std::size_t{1} << 16;

}  // namespace

std::optional<std::string> PackedMatrix::prepare_transposed(const PatternView& pattern, TransposePlan plan_for,
                                                            TransposedValues values, double most_padding) {
  const ValueCode& code = value_code(plan_.codes);
  if (!code.in_values() || code.of == CodeOf::chunks)
    values = TransposedValues::shared;  // what there is, is found with A's own columns, or chunks
  const auto is_made = [&] { return parts_.front().transposed && parts_.front().transposed->held == values; };
  if (!backend_->is_device() || is_made()) return {};
  for (Part& part : parts_) part.transposed.reset();
  std::vector<std::unique_ptr<TransposedLayout>> made;
  for (const PatternPart& of : parts_of(pattern, plan_)) {
    const Part& part = parts_[made.size()];
    const PatternView rows = of.view(pattern);
    const Transposed t = transposed(rows);
    const auto own = plan_for(part.plan, rows, t.pattern.view(), problem_, backend_->name());
    const Plan plan = plan_of_transposed(part, own, values);
    if (auto why = too_much_padding(t.pattern.view(), problem_, plan, most_padding)) return why;
    made.push_back(transposed_of(part, plan, rows, t, values));
  }
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    parts_[n].transposed = std::move(made[n]);
    if (words_) regroup(parts_[n]);
  }
  return {};
}

/// The plan of the part serves both ways, but that rows without an entry are set to 0 or z as they come. Another one is
/// taken where it can read the words there are.
Plan PackedMatrix::plan_of_transposed(const Part& part, const std::optional<Plan>& own, TransposedValues values) const {
  Plan same = part.plan;
  same.layout.row_list = false;
  if (!own) return same;
  const bool reads_words_of_a = values == TransposedValues::shared && !have_same_words(own->layout, same.layout);
  return reads_words_of_a || backend_->applicable(*own, problem_) ? same : *own;
}

std::unique_ptr<PackedMatrix::TransposedLayout> PackedMatrix::transposed_of(const Part& part, const Plan& plan,
                                                                            const PatternView& rows,
                                                                            const Transposed& t,
                                                                            TransposedValues values) const {
  const LayoutSpec& spec = plan.layout;
  Layout l = encode(t.pattern.view(), spec);
  auto made = std::make_unique<TransposedLayout>();
  made->plan = plan;
  made->code = backend_->code_for(plan, problem_);
  made->held = values;
  if (value_code(plan_.codes).in == CodesIn::nowhere) {  // all slots stand for the one block
    made->layout = PlacedLayout(*backend_, std::move(l));
    return made;
  }
  std::vector<count32> to, from;
  for_ranges(2, threads_for(2 * t.entry_of.size(), entries_of_thread), [&](std::size_t begin, std::size_t end, auto) {
    if (begin == 0) to = slots_of_entries(t.pattern.view(), spec, l);
    if (end == 2) from = slots_of_entries(rows, part.plan.layout, encode(rows, part.plan.layout));
  });
  std::vector<count32> value_slot(l.slots, from.empty() ? 0 : from.front());
  for (std::size_t e = 0; e < to.size(); ++e) value_slot[to[e]] = from[t.entry_of[e]];
  made->layout = PlacedLayout(*backend_, std::move(l));
  made->value_slot = std::make_shared<const Buffer<count32>>(*backend_, std::span<const count32>(value_slot));
  if (values == TransposedValues::copy)
    made->values = Buffer<std::byte>(*backend_, bytes_of_words(plan, problem_, made->layout.args().slots));
  return made;
}

/// Padding takes the words of the first entry, which are there: they are never read.
void PackedMatrix::regroup(const Part& part) const {
  const TransposedLayout& to = *part.transposed;
  if (to.held == TransposedValues::shared || part.slots() == 0) return;
  to.code->regroup(
      {part.plan, to.layout.args().slots, part.slots(), to.slots_of_a(), words_of(part), to.values.data()});
}

}  // namespace compound
