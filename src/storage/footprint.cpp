#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "layout/family.hpp"
#include "plan/value_order.hpp"
#include "storage/packed.hpp"
#include "storage/packed_sizes.hpp"

namespace compound {

Footprint bytes_of(const PatternView& pattern, const Problem& problem, const Plan& plan, const Backend& backend,
                   PatternLifetime lifetime) {
  Footprint sum;
  bool lies = false;
  for (const PatternPart& part : parts_of(pattern, plan, problem.upper)) {
    const PatternLifetime here = backend.reads_in_place() ? lifetime : PatternLifetime::temporary;
    const LayoutCount l = count(part.view(pattern), part.plan.layout, lifetime_for(part, here));
    sum.slots += l.slots;
    sum.read.integers += l.read;
    sum.read.words += l.slots * bytes_of_slot(part.plan, problem);
    sum.allocated.integers += l.allocated + part.entries.bytes();
    if (!part.has_all() && plan.half != Half::none && !backend.is_device())
      sum.allocated.integers += part.entries.entries * sizeof(count32);  // mirrored_entries()
    lies = lies_on_blocks(part, problem, backend);
    if (!lies) sum.allocated.words = begin_of_words(sum.allocated.words) + bytes_of_words(part.plan, problem, l.slots);
  }
  if (needs_order(problem) && !lies) sum.allocated.integers += pattern.start.size_bytes();
  return sum;
}

double read_bytes(const Reblocked& matrix, const Plan& plan, ScalarType scalar, const Backend& backend) {
  const auto bytes = [&](const Pattern& p, BlockShape block, const Plan& of) {
    return double(bytes_of(p.view(), {block, scalar}, of, backend).read.total());
  };
  double sum = bytes(matrix.pattern, matrix.block(), plan);
  for (const auto* edge : {&matrix.beside, &matrix.below})
    if (*edge) sum += bytes((*edge)->pattern, {1, 1}, Plan{});
  return sum;
}

namespace {

bool pads(const Plan& part) { return !family_of(part.layout).slots_are_entries; }

/// Of a plan of one part.
std::optional<std::string> too_much_padding_of_part(const PatternView& pattern, const Problem& problem,
                                                    const Plan& plan, double most) {
  LayoutSpec spec = plan.layout;
  spec.columns =
      LayoutSpec{}.columns;  // how wide they are does not matter here, and is not counted without making them
  const slot_t slots = count(pattern, spec).slots, entries = pattern.entries();
  const double bytes = double(slots - entries) * double(bytes_of_slot(plan, problem) + sizeof(idx));
  if (bytes <= padding_let_through_bytes || double(slots) <= most * double(entries)) return {};
  char text[256];
  std::snprintf(text, sizeof(text),
                "layout %s would have %lld slots for %lld entries, %.3g for each, and %.3g GB of padding, where up to "
                "%.3g for each are allowed; csr has no padding, sell, bellpack and hdia have less",
                layout_name(plan.layout).c_str(), static_cast<long long>(slots), static_cast<long long>(entries),
                double(slots) / double(entries), bytes / 1e9, most);
  return text;
}

}  // namespace

std::optional<std::string> too_much_padding(const PatternView& pattern, const Problem& problem, const Plan& plan,
                                            double most) {
  if (most == unlimited_padding || std::ranges::none_of(parts(plan), pads)) return {};
  for (const PatternPart& part : parts_of(pattern, plan))
    if (pads(part.plan))
      if (auto why = too_much_padding_of_part(part.view(pattern), problem, part.plan, most)) return why;
  return {};
}

std::optional<std::string> too_much_memory(const PatternView& pattern, const Problem& problem, const Plan& plan,
                                           const Backend& backend, const PlanLimits& limits) {
  if (limits.bytes == PlanLimits{}.bytes) return {};
  try {
    const auto bytes = double(bytes_of(pattern, problem, plan, backend, limits.lifetime).allocated.total());
    if (bytes <= limits.bytes) return {};
    char text[128];
    std::snprintf(text, sizeof(text), "would own %.4g MB, where up to %.4g MB are allowed", bytes / 1e6,
                  limits.bytes / 1e6);
    return "layout " + layout_name(plan.layout) + " " + text;
  } catch (const error& e) {  // more slots than can be counted
    return e.what();
  }
}

std::optional<std::string> beyond(const PlanLimits& limits, const PatternView& pattern, const Problem& problem,
                                  const Plan& plan, const Backend& backend) {
  if (auto pads = too_much_padding(pattern, problem, plan, limits.padding)) return pads;
  return too_much_memory(pattern, problem, plan, backend, limits);
}

}  // namespace compound
