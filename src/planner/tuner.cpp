#include "planner/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace compound {

namespace {

constexpr int least_samples = 3, usual_samples = 5;
constexpr double least_timing_s = 40e-3;
constexpr double short_s = 1e-4;  // of less than that the wait for a device is a large part
// Of less than that a host may have the matrix in its last cache, and its pages at hand.
constexpr double of_cache_s = 8e-4;
constexpr double hopeless = 2;  // of the fastest, in all of fewer samples
constexpr int most_confirmed = 4, usually_confirmed = 2;
constexpr double products_to_confirm = usually_confirmed * (2 * usual_samples + 1);
constexpr int few = 8;  // products of a sample

/// Vectors that products may read and write; x is zeros, since only time counts and no value may stop a product.
class Vectors {
 public:
  Vectors(const PatternView& p, const Problem& problem, const Plan& plan, Backend& backend)
      : x_(backend,
           std::span<const std::byte>(std::vector<std::byte>(bytes(p.cols, problem.block.cols, problem, plan)))),
        y_(backend, bytes(p.rows, problem.block.rows, problem, plan)) {}
  const void* x() const { return x_.data(); }
  void* y() const { return y_.data(); }

 private:
  static std::size_t bytes(idx blocks, int n, const Problem& problem, const Plan& plan) {
    return vector_scalars(blocks, n, plan.layout.vector_group) * bytes_of(problem.scalar);
  }
  Buffer<std::byte> x_, y_;
};

/// A packed copy and the vectors its products go by.
struct Copy {
  PackedMatrix matrix;
  Vectors vectors;
  double packing_s;
};

/// A candidate in a race: a schedule of a copy.
struct Runner {
  Measured* result;
  PackedMatrix::Scheduled schedule;  ///< swapped into the copy while it runs
  double warm_up_s;                  ///< of its first product
  bool is_running = true;
};

/// f() with the failures that a candidate may have put down in words; whether there was none.
template <class F>
bool attempt(Measured& m, const F& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
    m.failure = "out of memory";
  } catch (const error& e) {
    m.failure = e.what();
  }
  return false;
}

using Group = std::vector<Measured*>;

class Race {
 public:
  Race(const PatternView& pattern, const Problem& problem, Backend& backend, const void* values,
       const MeasureLimits& limits)
      : pattern_(pattern), problem_(problem), backend_(backend), values_(values), limits_(limits) {}

  /// Whether this one can be what the others are compared with.
  bool begin_with(Measured& m) {
    const bool begun = attempt(m, [&] {
      first_ = packed(m.plan);
      sample(*first_, 1);  // compiles, and fills the caches
      unit_s_ = std::max(sample(*first_, 1), 1e-9);
      if (unit_s_ < short_s) unit_s_ = std::max(sample(*first_, static_cast<int>(short_s / unit_s_)), 1e-9);
      packing_s_ = 0;  // a matrix that takes this plan is packed by it, too
    });
    if (!begun) return first_.reset(), false;
    take_copy(m, *first_);
    m.is_confirmed = true;
    return true;
  }

  /// `rest`: with those that are still to come.
  void run(const Group& group, std::span<const Group> rest) {
    if (const std::string why = why_not_tried(rest, kept_s()); !why.empty()) {
      for (Measured* m : group) m->failure = why;
      return;
    }
    time(group, rest);
  }

  /// The fastest of many may be the luckiest: new samples of the one that would be taken count in the place of its old
  /// ones, where there is time. Whether another one may be it now.
  bool confirm(std::vector<Measured>& all) {
    set_seconds(all);
    const Measured* const likely = to_confirm(all);
    if (!likely) return false;
    Measured& best = *std::ranges::find(all, likely->place, &Measured::place);
    const Group group = {&best};
    if (!why_not_tried({&group, 1}, 0).empty()) return false;
    best.samples.clear();
    time(group, {&group, 1});
    best.is_confirmed = true;
    return true;
  }

  void finish(Measurement& m) {
    // Where it was alone nothing was sampled beside it.
    if (first_ && of_first_.empty())
      for (int i = 0; i < least_samples; ++i)
        of_first_.push_back(sample(*first_, static_cast<int>(std::max(1.0, limits_.sample_s / unit_s_))));
    set_seconds(m.all);
    const double unit_s = of_first_.empty() ? 0 : median(of_first_);
    for (Measured& one : m.all) {
      if (!one.is_timed()) continue;
      if (one.samples.empty())
        for (const double seconds : of_first_) one.samples.push_back({.seconds = seconds});
      ++m.timed;
    }
    m.timing_s = timing_s_;
    m.packing_s = packing_s_;
    m.products = unit_s > 0 ? timing_s_ / unit_s : 0;
  }

 private:
  void time(const Group& group, std::span<const Group> rest) {
    std::optional<Copy> own;
    Copy* copy = is_laid_out_alike(group.front()->plan, first_->matrix.plan()) ? &*first_ : nullptr;
    std::vector<Runner> runners;
    for (Measured* m : group)
      attempt(*m, [&] {
        if (!copy) {
          own = packed(m->plan);
          copy = &*own;
        }
        take_copy(*m, *copy);
        Runner runner{m, copy->matrix.scheduled(m->plan.schedule), 0};
        runner.warm_up_s = sample(*copy, runner, 1);
        runners.push_back(std::move(runner));
      });
    if (!runners.empty()) race(*copy, runners, products_of_sample(rest), share_s(rest));
  }
  static void take_copy(Measured& m, const Copy& copy) {
    m.bytes = copy.matrix.bytes().total();
    m.packing_s = copy.packing_s;
  }
  /// Of those that have a time; the first one's has no samples of its own.
  void set_seconds(std::vector<Measured>& all) const {
    const double unit_s = of_first_.empty() ? 0 : median(of_first_);
    for (Measured& one : all)
      if (one.is_timed()) one.seconds = one.samples.empty() ? unit_s : one.ratio() * unit_s;
  }
  /// That some products take which are waited for.
  double seconds_of(const Copy& copy, int products) {
    const double begin = limits_.now();
    for (int i = 0; i < products; ++i)
      copy.matrix.multiply(Op::none, Update::assign, copy.vectors.x(), nullptr, copy.vectors.y());
    backend_.synchronize();
    const double seconds = limits_.now() - begin;
    timing_s_ += seconds;
    return seconds;
  }
  /// Seconds of one of some products.
  double sample(const Copy& copy, int products) {
    backend_.synchronize();
    // A small matrix may stay in a cache, from which the products before this sample have pushed it. Of many products
    // the first does not count for much.
    if (is_short() || (may_be_cached() && products < few)) seconds_of(copy, 1);
    return seconds_of(copy, products) / products;
  }
  double sample(Copy& copy, Runner& runner, int products) {
    copy.matrix.swap(runner.schedule);
    try {
      const double seconds = sample(copy, products);
      copy.matrix.swap(runner.schedule);
      return seconds;
    } catch (...) {
      copy.matrix.swap(runner.schedule);
      throw;
    }
  }

  Copy packed(const Plan& plan) {
    const double begin = limits_.now();
    PackedMatrix matrix(pattern_, problem_, plan, backend_, PatternLifetime::outlives);
    matrix.update_values(values_);
    backend_.synchronize();
    const double seconds = limits_.now() - begin;
    packing_s_ += seconds;
    longest_packing_s_ = std::max(longest_packing_s_, seconds);
    return {std::move(matrix), Vectors(pattern_, problem_, plan, backend_), seconds};
  }

  double left_s() const {
    return std::max(std::min(limits_.products * unit_s_, limits_.timing_s), least_timing_s) - timing_s_;
  }

  /// For so many samples of each candidate and a warm-up, and of the first beside them.
  static double products_for(int samples, std::span<const Group> groups) {
    double products = 0;
    for (const Group& group : groups) products += double(group.size()) * (samples + 1) + samples;
    return products;
  }
  bool is_short() const { return unit_s_ < short_s; }
  bool may_be_cached() const { return unit_s_ < of_cache_s && !first_->matrix.plan().schedule.of_device(); }
  /// Before a sample of few products.
  double products_to_warm_up() const { return !is_short() && may_be_cached() ? 1 : 0; }
  /// Fewer would time the wait for a device.
  double least_products() const { return is_short() ? std::ceil(short_s / unit_s_) : 1; }
  int products_of_sample(std::span<const Group> rest) const {
    const double allowed = left_s() / (unit_s_ * (products_for(usual_samples, rest) + products_to_confirm));
    return static_cast<int>(
        std::max(least_products(), std::min(allowed - products_to_warm_up(), limits_.sample_s / unit_s_)));
  }
  /// For one to be confirmed in the end.
  double kept_s() const { return least_products() * (2 * least_samples + 1) * unit_s_; }
  /// What timing may have taken when the first of these groups is done.
  double share_s(std::span<const Group> rest) const {
    return timing_s_ + std::max(0.0, left_s() - kept_s()) / double(rest.size() + 1);
  }

  std::string why_not_tried(std::span<const Group> rest, double kept_s) const {
    const double most_s = std::min(limits_.seconds, limits_.packing_products * unit_s_);
    if (packing_s_ + longest_packing_s_ > most_s) return "not tried: packing has taken the time it may";
    const double products = least_products() + products_to_warm_up();
    if (left_s() - kept_s < unit_s_ * products * products_for(least_samples, rest.first(1)))
      return "not tried: timing has taken the time it may";
    return "";
  }

  void race(Copy& copy, std::vector<Runner>& runners, int products, double until_s) {
    const auto is_running = [](const Runner& r) { return r.is_running; };
    for (int round = 1; round <= limits_.samples && std::ranges::any_of(runners, is_running); ++round) {
      const double begin_s = timing_s_, first = of_first_.emplace_back(sample(*first_, products));
      for (Runner& r : runners)
        if (r.is_running)
          r.is_running = attempt(*r.result, [&] {
            const double seconds = sample(copy, r, products);
            r.result->samples.push_back({seconds, seconds / first});
          });
      leave_those_behind(runners);
      if (round >= least_samples && 2 * timing_s_ - begin_s > until_s) break;  // one more would take as long again
    }
  }

  void leave_those_behind(std::vector<Runner>& runners) {
    for (const Runner& r : runners)
      if (r.is_running && r.result->samples.size() >= least_samples) best_ = std::min(best_, r.result->ratio());
    for (Runner& r : runners) r.is_running = r.is_running && !is_behind(r);
  }
  bool is_behind(const Runner& r) const {
    if (r.result->samples.size() >= least_samples) return r.result->ratio() > limits_.far_behind * best_;
    // One slow sample may be the machine's.
    return std::min(r.warm_up_s / unit_s_, r.result->samples.front().ratio) >
           std::max(hopeless, limits_.far_behind) * best_;
  }

  const PatternView& pattern_;
  const Problem& problem_;
  Backend& backend_;
  const void* values_;
  const MeasureLimits& limits_;
  std::optional<Copy> first_;
  double unit_s_ = 0;  ///< of its product, as first seen
  std::vector<double> of_first_;
  double best_ = 1;  ///< ratio
  double timing_s_ = 0, packing_s_ = 0, longest_packing_s_ = 0;
};

/// By packed copy, in the order of their first ones; that of `first` comes first.
std::vector<Group> groups_of(std::span<Measured> all, const Plan& first) {
  std::vector<Group> groups(1);
  for (Measured& m : all) {
    const auto same = std::ranges::find_if(
        groups, [&](const Group& g) { return is_laid_out_alike(g.empty() ? first : g.front()->plan, m.plan); });
    if (same == groups.end())
      groups.push_back({&m});
    else
      same->push_back(&m);
  }
  if (groups.front().empty()) groups.erase(groups.begin());
  return groups;
}

}  // namespace

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Measurement measure(const PatternView& pattern, const Problem& problem, const std::vector<Plan>& candidates,
                    Backend& backend, const void* values, const MeasureLimits& limits,
                    const std::function<void(const Measured&)>& report) {
  if (DeviceControl* const control = backend.extensions().control)
    control->compile_ahead(candidates, problem, has_even_rows(pattern));
  Measurement m;
  for (const Plan& plan : candidates)
    m.all.push_back({.plan = plan, .samples = {}, .failure = {}, .place = m.all.size()});
  const auto tell = [&](const Measured& one) {
    if (report) report(one);
  };
  Race race(pattern, problem, backend, values, limits);
  std::size_t first = 0;
  while (first < m.all.size() && !race.begin_with(m.all[first])) tell(m.all[first++]);
  if (first < m.all.size()) {
    const auto groups = groups_of(std::span(m.all).subspan(first + 1), m.all[first].plan);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      race.run(groups[g], std::span(groups).subspan(g));
      for (const Measured* one : groups[g]) tell(*one);
    }
  }
  for (int i = 0; i < most_confirmed && race.confirm(m.all);) ++i;
  race.finish(m);
  std::ranges::stable_sort(m.all, {}, &Measured::seconds);
  return m;
}

}  // namespace compound
