// A device's products by A^T and A^H: a layout of the transposed pattern of each part, and for each of its slots the
// one of A that it stands for.
#include "backend/layout_work.hpp"
#include "backend/sparse_products.hpp"
#include "base/parallel.hpp"
#include "storage/packed.hpp"
#include "storage/packed_sizes.hpp"

namespace compound {

namespace {

/// Fewer are not worth a thread.
constexpr std::size_t entries_of_thread = std::size_t{1} << 16;

/// A copy on the host.
template <class T>
std::vector<T> downloaded(Backend& on, const Buffer<T>& from) {
  std::vector<T> to(from.bytes() / sizeof(T));
  if (!to.empty()) on.download(to.data(), from.data(), from.bytes());
  return to;
}

/// Found by the device, where it can; nothing where the host must.
std::optional<PlacedTransposed> transposed_by_device(Backend& on, const PatternView& rows, const PlacedRows* there) {
  SparseProducts* const products = on.extensions().sparse_products;
  if (!products || !on.extensions().layouts || rows.entries() == 0) return {};
  if (there) return products->transposed(*there);
  return products->transposed({rows.rows, rows.cols, Buffer<count32>(on, rows.start), Buffer<idx>(on, rows.column)});
}

}  // namespace

std::optional<std::string> PackedMatrix::prepare_transposed(const PatternView& pattern, TransposePlan plan_for,
                                                            TransposedValues values, double most_padding,
                                                            const PlacedRows* there) {
  const ValueCode& code = value_code(plan_.codes);
  if (!code.in_values() || code.of == CodeOf::chunks)
    values = TransposedValues::shared;  // what there is, is found with A's own columns, or chunks
  const auto is_made = [&] { return parts_.front().transposed && parts_.front().transposed->held == values; };
  if (!backend_->is_device() || stores_half() || is_made()) return {};
  for (Part& part : parts_) part.transposed.reset();
  std::vector<std::unique_ptr<TransposedLayout>> made;
  for (const PatternPart& of : parts_of(pattern, plan_)) {
    const Part& part = parts_[made.size()];
    const PatternView rows = of.view(pattern);
    const bool is_outlined =
        code.in != CodesIn::nowhere && part.slots() <= slot_t{~count32{0}} && has_outline(part.plan.layout);
    std::optional<PlacedTransposed> found;
    if (is_outlined) found = transposed_by_device(*backend_, rows, of.has_all() ? there : nullptr);
    Transposed t;
    if (found)
      t.pattern = {rows.cols, rows.rows, downloaded(*backend_, found->pattern.start),
                   downloaded(*backend_, found->pattern.column)};
    else
      t = transposed(rows);
    const auto own = plan_for(part.plan, rows, t.pattern.view(), problem_, backend_->name());
    const Plan plan = plan_of_transposed(part, own, values);
    if (auto why = too_much_padding(t.pattern.view(), problem_, plan, most_padding)) return why;
    auto outlined = found ? outline(t.pattern.view(), plan.layout) : std::nullopt;
    if (found && !outlined) t.entry_of = downloaded(*backend_, found->entry_of);
    made.push_back(outlined ? transposed_there(part, plan, *std::move(outlined), *found, values)
                            : transposed_of(part, plan, rows, t, values));
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

/// The same by kernels. Both layouts are outlined.
std::unique_ptr<PackedMatrix::TransposedLayout> PackedMatrix::transposed_there(const Part& part, const Plan& plan,
                                                                               Layout outline,
                                                                               const PlacedTransposed& t,
                                                                               TransposedValues values) const {
  LayoutWork& work = *backend_->extensions().layouts;
  const LayoutFamily &to = family_of(plan.layout), &from = family_of(part.plan.layout);
  auto made = std::make_unique<TransposedLayout>();
  made->plan = plan;
  made->code = backend_->code_for(plan, problem_);
  made->held = values;
  made->layout = PlacedLayout(*backend_, std::move(outline), to, t.pattern.column.data());
  const layout_args& layout = made->layout.args();
  const auto value_slot = std::make_shared<const Buffer<count32>>(*backend_, static_cast<std::size_t>(layout.slots));
  Buffer<count32> slot_of;
  if (!from.slots_are_entries) {
    slot_of = Buffer<count32>(*backend_, t.entry_of.bytes() / sizeof(count32));
    work.fill_slots(from, {.layout = part.layout.args(), .interleaved = from.interleaved, .to_slot = slot_of.data()});
  }
  work.fill_slots(to, {.layout = layout,
                       .interleaved = to.interleaved,
                       .number = t.entry_of.data(),
                       .through = slot_of.data(),
                       .to_number = value_slot->data()});
  made->value_slot = value_slot;
  if (values == TransposedValues::copy)
    made->values = Buffer<std::byte>(*backend_, bytes_of_words(plan, problem_, layout.slots));
  backend_->synchronize();  // before what it reads is released
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
