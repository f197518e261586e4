#include "tuner.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "error.hpp"

namespace compound {

namespace {

constexpr double failed = std::numeric_limits<double>::infinity();

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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

/// Median of a few samples, each of products enough to be seen by the clock.
double seconds_of_product(const PackedMatrix& A, const Vectors& v, Backend& backend) {
  const auto sample = [&](int products) {
    backend.synchronize();
    const double begin = now_s();
    for (int i = 0; i < products; ++i) A.multiply(Op::none, Update::assign, v.x(), nullptr, v.y());
    backend.synchronize();
    return (now_s() - begin) / products;
  };
  constexpr double sample_s = 1e-3;
  constexpr int samples = 7, most = 1000;
  sample(2);  // compiles, and fills the caches
  const int products = static_cast<int>(std::clamp(sample_s / sample(2), 1.0, double{most}));
  double seconds[samples];
  for (double& s : seconds) s = sample(products);
  std::nth_element(seconds, seconds + samples / 2, seconds + samples);
  return seconds[samples / 2];
}

/// Whether one packed copy serves both.
bool same_copy(const Plan& a, const Plan& b) {
  return a.entry == b.entry && a.layout == b.layout && a.values == b.values && a.codes == b.codes;
}

/// f() with the failures that a candidate may have put down in words.
template <class F>
void attempt(Measured& m, const F& f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
    m.failure = "out of memory";
  } catch (const error& e) {
    m.failure = e.what();
  }
}

}  // namespace

std::vector<Measured> measure(const PatternView& pattern, const Problem& problem, const std::vector<Plan>& candidates,
                              Backend& backend, const void* blocks,
                              const std::function<void(std::size_t, const Measured&)>& told) {
  backend.compile_ahead(candidates, problem);
  std::vector<Measured> all;
  for (const Plan& plan : candidates) all.push_back({plan, failed, {}});
  std::vector<bool> done(all.size(), false);
  for (std::size_t first = 0; first < all.size(); ++first) {
    std::optional<PackedMatrix> A;
    std::optional<Vectors> vectors;
    for (std::size_t i = first; i < all.size(); ++i) {
      if (done[i] || !same_copy(all[i].plan, all[first].plan)) continue;
      done[i] = true;
      attempt(all[i], [&] {
        if (A) {
          A->reschedule(all[i].plan.schedule);
        } else {
          A.emplace(pattern, problem, all[i].plan, backend, PatternLifetime::outlives);
          A->update_values(blocks);
          vectors.emplace(pattern, problem, all[i].plan, backend);
        }
        all[i].seconds = seconds_of_product(*A, *vectors, backend);
      });
      if (told) told(i, all[i]);
    }
  }
  std::ranges::stable_sort(all, {}, &Measured::seconds);
  return all;
}

}  // namespace compound
