#include "cuda/krylov_systems.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/krylov_parts.hpp"
#include "cuda/runtime.hpp"
#include "device/cg.hpp"

namespace compound::cuda {

namespace {

constexpr int ring = 64;  // norms of a system that the host has not seen

/// After the product and its dot product; they are the start, too.
constexpr const char* stages[] = {"cg_step", "cg_project", "cg_turn"};
constexpr std::size_t project = 1;

/// What kernels write to for the host.
class News {
 public:
  explicit News(int systems)
      : systems_(systems),
        memory_(static_cast<std::size_t>(systems) * (ring * sizeof(krylov_news) + sizeof(krylov_report))) {}
  krylov_news* ring_of(int system) const { return static_cast<krylov_news*>(memory_.data()) + system * ring; }
  krylov_report* reports() const { return reinterpret_cast<krylov_report*>(ring_of(systems_)); }
  int count(int system) const { return std::atomic_ref(reports()[system].norms).load(std::memory_order_acquire); }
  int stop(int system) const { return std::atomic_ref(reports()[system].stop).load(std::memory_order_acquire); }
  void forget() const { std::fill_n(reports(), systems_, krylov_report{}); }

 private:
  int systems_;
  Pinned memory_;
};

/// Places are as many as a power of two: kernels of products take so many vectors at once. Those beyond the systems
/// have vectors of zeros.
class Systems final : public KrylovSystems {
 public:
  Systems(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem, int systems);

  const KrylovProblem& problem() const override { return input_.problem; }
  void* factors() override { return input_.factors.data(); }
  void* null_space() override { return input_.null_space.data(); }
  void set_unit(int k, void* to) override { input_.set_unit(k, to, queue_); }
  int systems() const override { return systems_; }
  void prepare(const Matrix& A, int at_once) override;
  void set(int system, const void* x, const void* r) override;
  void start(const Report& report) override;
  void go_on(std::span<const KrylovLimits> limits, const Report& report) override;
  KrylovRun where(int system) const override {
    return {news_.count(system) - 1, static_cast<KrylovStop>(news_.stop(system))};
  }
  void take_x(int system, void* to) override { backend_.copy(to, vector(cg_vectors::x, system), bytes_); }

 private:
  std::byte* vector(int which, int place) const {
    return vectors_[which].data() + static_cast<std::size_t>(place) * args_.vector_apart * bytes_of(problem().scalar);
  }
  void run_stages();
  void queue_iteration();
  Graph record();
  void take_all_places();
  void leave_out_stopped();
  void set_limits(std::span<const KrylovLimits> limits);
  void set_limits(int place, const KrylovLimits& limits, KrylovStop stop);
  void report_news(const Report& report);
  Follow follows() const { return problem().hermitian ? Follow::dot : Follow::bilinear; }
  int under_way() const {
    const auto goes_on = [&](int system) { return news_.stop(system) == 0; };
    return static_cast<int>(std::count_if(args_.system, args_.system + filled_, goes_on));
  }

  Backend& backend_;
  cudaStream_t& queue_;
  KrylovMemory input_;
  int systems_, places_;
  std::size_t bytes_;
  slot_t blocks_;
  const void* go_on_;
  std::array<const void*, std::size(stages)> kernels_ = {};
  std::array<Buffer<std::byte>, cg_vectors::count> vectors_;
  Buffer<std::byte> state_, partials_;
  Buffer<unsigned> tickets_;
  News news_;
  std::vector<int> next_;  ///< norm of each system that was not told of yet
  systems_args args_;
  int filled_ = 0;  ///< places of systems, the first ones
  int width_ = 0;   ///< places that iterations are made of
  Matrix A_;
  Graph of_all_;  ///< of all places; beyond a system's end its kernels do nothing, by a flag
  int queued_ = 0;
  std::uint64_t prepared_for_ = 0;
};

Systems::Systems(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem, int systems)
    : backend_(backend),
      queue_(queue),
      input_(backend, problem),
      systems_(systems),
      places_(static_cast<int>(std::bit_ceil(static_cast<unsigned>(systems)))),
      bytes_(static_cast<std::size_t>(problem.scalars) * bytes_of(problem.scalar)),
      blocks_(blocks_of(problem)),
      go_on_(kernel_of(krylov_source(problem, "krylov_go_on", "krylov_limits"))),
      state_(backend, static_cast<std::size_t>(places_) * cg_state_bytes),
      partials_(backend, static_cast<std::size_t>(places_) * bytes_of_partials(problem, blocks_)),
      tickets_(backend, static_cast<std::size_t>(places_) * tickets_of(blocks_)),
      news_(systems),
      next_(static_cast<std::size_t>(systems)) {
  constexpr slot_t whole_accesses = 16;  // each vector begins as the first does
  const bool projects = problem.null_space.size() > 0;
  for (std::size_t i = 0; i < std::size(stages); ++i)
    if (projects || i != project) kernels_[i] = kernel_of(krylov_systems_source(problem, stages[i]));
  args_.vector_apart = (problem.scalars + whole_accesses - 1) / whole_accesses * whole_accesses;
  const bool has_z = problem.columns > 0 || projects;
  for (int v = 0; v < cg_vectors::count; ++v)
    if (v != cg_vectors::z || has_z)
      vectors_[v] =
          Buffer<std::byte>(backend, static_cast<std::size_t>(places_) * args_.vector_apart * bytes_of(problem.scalar));
  backend.clear(tickets_.data(), tickets_.bytes());
  krylov_args& first = args_.first;
  first.state = state_.data();
  input_.hand_to(first);
  for (int v = 0; v < cg_vectors::count; ++v) first.vectors[v] = vectors_[v].data();
  first.sum = {partials_.data(), tickets_.data()};
  first.report = news_.reports();
  first.news = news_.ring_of(0);
  first.ring = ring;
  args_.state_apart = cg_state_bytes;
  args_.partials_apart = bytes_of_partials(problem, blocks_);
  args_.tickets_apart = tickets_of(blocks_);
  take_all_places();
}

void Systems::take_all_places() {
  std::iota(args_.system, args_.system + systems_, static_cast<unsigned char>(0));
  filled_ = systems_;
  width_ = places_;
}

void Systems::run_stages() {
  void* arguments[] = {&args_};
  for (const void* const kernel : kernels_)
    if (kernel)
      check(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(filled_), static_cast<unsigned>(blocks_)),
                             dim3(threads_of_krylov), arguments, 0, queue_),
            "launching a stage of several systems");
}

void Systems::queue_iteration() {
  const slot_t apart = args_.vector_apart;
  const auto* const p = vector(cg_vectors::p, 0);
  A_.multiply({width_, apart, 0, apart, apart, static_cast<slot_t>(cg_state_bytes)}, p, vector(cg_vectors::w, 0),
              {follows(), p, state_.data() + sizeof(krylov_counts)});
  run_stages();
}

void Systems::set_limits(int place, const KrylovLimits& limits, KrylovStop stop) {
  launch(go_on_, 1, threads_of_krylov,
         krylov_limits{reinterpret_cast<krylov_counts*>(state_.data() + place * cg_state_bytes), limits.below,
                       limits.above, limits.most + 1, static_cast<int>(stop)},
         queue_);
}

/// Of systems that are under way.
void Systems::set_limits(std::span<const KrylovLimits> limits) {
  for (int place = 0; place < filled_; ++place)
    if (const int system = args_.system[place]; news_.stop(system) == 0)
      set_limits(place, limits[system], KrylovStop::not_yet);
}

/// Whatever is compiled or allocated was so before.
Graph Systems::record() {
  GraphRecorder recorder(queue_);
  for (int i = 0; i < queued_; ++i) queue_iteration();
  return recorder.finish();
}

void Systems::prepare(const Matrix& A, int at_once) {
  const int iterations = std::clamp(at_once, 1, ring / (2 * graphs_in_flight));
  A_ = A;
  if (of_all_ && prepared_for_ == A.stamp && queued_ == iterations) return;
  queued_ = iterations;
  prepared_for_ = 0;
  of_all_ = {};
  take_all_places();
  backend_.clear(state_.data(), state_.bytes());
  for (const auto& v : vectors_)
    if (v.data()) backend_.clear(v.data(), v.bytes());
  std::vector<int> widths;
  for (int width = 1; width <= places_; width *= 2) widths.push_back(width);
  A.compile(widths, follows());
  // Once for nothing, with as many vectors as there may be left: memory is allocated.
  for (int place = 0; place < filled_; ++place) set_limits(place, {}, KrylovStop::iterations);
  for (const int width : widths) {
    width_ = width;
    queue_iteration();
  }
  take_all_places();
  of_all_ = record();
  prepared_for_ = A.stamp;
}

void Systems::set(int system, const void* x, const void* r) {
  if (system == 0) {
    take_all_places();
    backend_.clear(state_.data(), state_.bytes());
    for (const auto& v : vectors_)  // what the start multiplies by 0 must be numbers
      if (v.data()) backend_.clear(v.data(), v.bytes());
  }
  if (x) backend_.copy(vector(cg_vectors::x, system), x, bytes_);
  backend_.copy(vector(cg_vectors::r, system), r, bytes_);
}

void Systems::start(const Report& report) {
  news_.forget();
  std::ranges::fill(next_, 0);
  for (int place = 0; place < filled_; ++place)
    set_limits(place, {-1, std::numeric_limits<double>::infinity(), std::numeric_limits<int>::max() - 1},
               KrylovStop::not_yet);
  run_stages();
  check(cudaStreamSynchronize(queue_), "waiting for the first residuals");
  report_news(report);
}

void Systems::report_news(const Report& report) {
  for (int system = 0; system < systems_; ++system)
    for (const int count = news_.count(system); next_[system] < count; ++next_[system])
      report(system, next_[system], news_.ring_of(system)[next_[system] % ring]);
}

/// Systems under way come to the first places. x stays where it is.
void Systems::leave_out_stopped() {
  int to = 0;
  for (int from = 0; from < filled_; ++from) {
    if (news_.stop(args_.system[from]) != 0) continue;
    if (to != from) {
      for (const int v : {cg_vectors::r, cg_vectors::p}) backend_.copy(vector(v, to), vector(v, from), bytes_);
      backend_.copy(state_.data() + to * cg_state_bytes, state_.data() + from * cg_state_bytes, cg_state_bytes);
      args_.system[to] = args_.system[from];
    }
    ++to;
  }
  filled_ = to;
  width_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(to)));
}

void Systems::go_on(std::span<const KrylovLimits> limits, const Report& report) {
  for (int place = 0; place < filled_; ++place) {
    const int system = args_.system[place];
    if (news_.stop(system) != 0 || limits[system].most > where(system).iteration) continue;
    set_limits(place, limits[system], KrylovStop::iterations);
    news_.reports()[system].stop = static_cast<int>(KrylovStop::iterations);
  }
  const Graph* graph = &of_all_;
  Graph of_rest;
  while (const int left = under_way()) {
    if (2 * left <= width_) {
      leave_out_stopped();
      of_rest = record();
      graph = &of_rest;
    }
    set_limits(limits);
    // Until half of the columns of a product are of systems that have stopped.
    run_ahead(
        *graph, queue_, graphs_in_flight, [&] { return 2 * under_way() > width_; }, [&] { report_news(report); });
  }
}

}  // namespace

std::unique_ptr<KrylovSystems> krylov_systems(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem,
                                              int systems) {
  std::vector<std::string> sources = {krylov_source(problem, "krylov_go_on", "krylov_limits"),
                                      krylov_source(problem, "krylov_set_unit", "krylov_unit")};
  for (std::size_t i = 0; i < std::size(stages); ++i)
    if (problem.null_space.size() > 0 || i != project) sources.push_back(krylov_systems_source(problem, stages[i]));
  compile_ahead(sources);
  return std::make_unique<Systems>(backend, queue, problem, systems);
}

}  // namespace compound::cuda
