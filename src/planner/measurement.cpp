#include "planner/measurement.hpp"

#include <algorithm>
#include <cstdio>

namespace compound {

namespace {

constexpr double as_good = 1.03, as_small = 1.03;
constexpr double as_fast = 1.005;  // less is not worth another plan

std::vector<double> ratios_of(const Measured& m) {
  std::vector<double> ratios;
  for (const Sample& s : m.samples) ratios.push_back(s.ratio);
  return ratios;
}

/// Whether three quarters of its samples were as fast as those of the first beside them, or faster.
bool wins_by_more_than_noise(const Measured& m) {
  if (m.samples.empty()) return true;
  std::vector<double> ratios = ratios_of(m);
  const auto late = ratios.begin() + 3 * ratios.size() / 4;
  std::nth_element(ratios.begin(), late, ratios.end());
  return *late <= 1;
}

/// Of those near the fastest those near the smallest copy; the fastest first.
template <class Counts>
std::vector<const Measured*> near_and_small(const std::vector<Measured>& all, const Counts& counts) {
  std::vector<const Measured*> timed, near;
  for (const Measured& one : all)
    if (one.is_timed() && counts(one)) timed.push_back(&one);
  std::ranges::stable_sort(timed, {}, &Measured::seconds);
  for (const Measured* one : timed) {
    if (near.empty() && !wins_by_more_than_noise(*one)) continue;
    if (near.empty() || one->seconds <= as_good * near.front()->seconds) near.push_back(one);
  }
  if (near.empty()) return near;
  const double least = double((*std::ranges::min_element(near, {}, &Measured::bytes))->bytes);
  std::erase_if(near, [&](const Measured* one) { return double(one->bytes) > as_small * least; });
  return near;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double Measured::ratio() const { return median(ratios_of(*this)); }

const Measured* choice(const Measurement& m) {
  const auto best = near_and_small(m.all, [](const Measured& one) { return one.is_confirmed; });
  if (best.empty()) return nullptr;
  const Measured* const first = *std::ranges::min_element(best, {}, &Measured::place);
  return best.front()->seconds * as_fast <= first->seconds ? best.front() : first;
}

const Measured* to_confirm(const std::vector<Measured>& all) {
  const auto best = near_and_small(all, [](const Measured&) { return true; });
  if (best.empty() || best.front()->is_confirmed) return nullptr;
  return best.front()->ratio() * as_fast > 1 ? nullptr : best.front();
}

const Measured* best_score(const Measurement& m, double weight) {
  const Measured* best = nullptr;
  std::size_t largest = 1;
  for (const Measured& one : m.all)
    if (one.is_timed()) largest = std::max(largest, one.bytes);
  const auto score = [&](const Measured& one) {  // `all` begins with the fastest
    return (1 - weight) * one.seconds / m.all.front().seconds + weight * double(one.bytes) / double(largest);
  };
  for (const Measured& one : m.all)
    if (one.is_timed() && (!best || score(one) < score(*best))) best = &one;
  return best;
}

double gain(const Measurement& m, const Measured& measured) {
  const auto first = std::ranges::find(m.all, std::size_t{0}, &Measured::place);
  return first != m.all.end() && first->is_timed() ? first->seconds / measured.seconds : 1;
}

bool BestSoFar::add(const Measured& m) {
  ++done_;
  if (!m.is_timed() || m.samples.empty() || m.ratio() >= ratio_) return false;
  ratio_ = m.ratio();
  line_ = to_string(m.plan);
  return true;
}

std::string BestSoFar::text() const {
  char text[96];
  std::snprintf(text, sizeof(text), "%zu of %zu plans, best so far %.2f times as fast as the first", done_, plans_,
                1 / ratio_);
  return line_.empty() ? text : text + (": " + line_);
}

}  // namespace compound
