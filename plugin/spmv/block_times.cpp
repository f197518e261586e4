#include "spmv/block_times.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "planner/model.hpp"
#include "planner/tuner.hpp"
#include "spmv/other_blocks.hpp"

namespace compound::plugin {

namespace {

constexpr double worth_another_size = 0.97;

Plan plan_of(const Settings& s, const PatternStatistics& numbers, const Problem& problem, const Backend& on) {
  return s.plan_of_layout(numbers, problem, on.name(), "dense");
}

double predicted_seconds(const Settings& s, const Reblocked& r, Backend& on) {
  const PatternView pattern = r.pattern.view();
  const PatternStatistics numbers = statistics(pattern);
  const Problem problem{r.block(), scalar_type_of<Scalar>()};
  return Predictor(pattern, numbers, problem, on).seconds(plan_of(s, numbers, problem, on));
}

/// The whole matrix in blocks of one size. `given`: zeros for its values, which do not change the time.
class TimedBlocks {
 public:
  TimedBlocks(const Settings& s, Reblocked r, const Scalar* given, Backend& on)
      : on_(on),
        other_(std::move(r)),
        problem_{other_.shape().block(), scalar_type_of<Scalar>()},
        packed_(other_.shape().pattern.view(), problem_,
                plan_of(s, statistics(other_.shape().pattern.view()), problem_, on), on, PatternLifetime::outlives),
        x_(zeros(other_.shape().cols.all_scalars())),
        y_(zeros(other_.shape().rows.all_scalars())) {
    std::vector<Scalar> values(other_.shape().pattern.column.size() * scalars_in(problem_.block));
    packed_.update_values(values.data());
    if (packed_.lies_on_blocks()) other_.keep(std::move(values));
    other_.pack(problem_.scalar, on);
    other_.take_values(given);
    seconds();  // compiles, and touches all memory
    constexpr double sample_s = 1e-3;
    products_ = static_cast<int>(std::clamp(sample_s / std::max(seconds(), 1e-9), 1.0, 1000.0));
  }

  /// Of a product, by one sample.
  double seconds() {
    const double begin = steady_s();
    for (int i = 0; i < products_; ++i)
      other_.multiply(packed_, Op::none, Update::assign, x_.data(), nullptr, y_.data());
    on_.synchronize();
    return (steady_s() - begin) / products_;
  }

 private:
  Buffer<Scalar> zeros(idx n) {
    Buffer<Scalar> b(on_, static_cast<std::size_t>(n));
    const std::vector<Scalar> none(static_cast<std::size_t>(n));
    on_.upload(b.data(), none.data(), none.size() * sizeof(Scalar));
    return b;
  }

  Backend& on_;
  OtherBlocks other_;
  Problem problem_;
  PackedMatrix packed_;
  Buffer<Scalar> x_, y_;
  int products_ = 1;
};

/// Sampled in turn: a machine that changes its speed changes both.
double ratio(TimedBlocks& of, TimedBlocks& to) {
  constexpr int samples = 7;
  std::vector<double> ratios;
  for (int i = 0; i < samples; ++i) {
    const double first = of.seconds();
    ratios.push_back(first / to.seconds());
  }
  return median(ratios);
}

/// Of any size that can be made and multiplied.
template <class Make>
auto made(const Make& make) -> decltype(make()) try {
  return make();
} catch (const error&) {
  return {};
} catch (const std::bad_alloc&) {
  return {};
}

BlockShape predicted_block(const Settings& s, const PatternView& pattern, int given,
                           std::span<const DetectedBlock> sizes, Backend& on) {
  BlockShape best = sizes.front().block;
  double least = std::numeric_limits<double>::infinity();
  for (const DetectedBlock& size : sizes) {
    const auto seconds =
        made([&] { return std::optional(predicted_seconds(s, reblocked(pattern, given, size.block), on)); });
    if (seconds && *seconds < least) least = *seconds, best = size.block;
  }
  return best;
}

BlockShape measured_block(const Settings& s, const PatternView& pattern, int given,
                          std::span<const DetectedBlock> sizes, Backend& on) {
  BlockShape best = sizes.front().block;
  const std::vector<Scalar> zeros(std::size_t{pattern.entries()} * static_cast<std::size_t>(given * given));
  std::unique_ptr<TimedBlocks> fastest;
  for (const DetectedBlock& size : sizes) {
    auto timed =
        made([&] { return std::make_unique<TimedBlocks>(s, reblocked(pattern, given, size.block), zeros.data(), on); });
    if (!timed || (fastest && ratio(*timed, *fastest) > worth_another_size)) continue;
    fastest = std::move(timed);
    best = size.block;
  }
  return best;
}

}  // namespace

BlockShape fastest_block(const Settings& s, const PatternView& pattern, int given, std::span<const DetectedBlock> sizes,
                         Backend& on) {
  return (s.block_size.by == BlockEffort::model ? predicted_block : measured_block)(s, pattern, given, sizes, on);
}

}  // namespace compound::plugin
