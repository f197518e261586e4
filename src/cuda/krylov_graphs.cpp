#include "cuda/krylov_graphs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/krylov_parts.hpp"
#include "cuda/krylov_whole.hpp"
#include "cuda/peers.hpp"
#include "cuda/runtime.hpp"
#include "device/bcgs.hpp"
#include "device/cg.hpp"

namespace compound::cuda {

namespace {

constexpr int ring = 1024;  // norms that the host has not seen
static_assert(WholeLoop::most_iterations <= ring);

/// What kernels write to for the host.
class News {
 public:
  News() { forget(); }

  krylov_news* ring_of_news() const { return static_cast<krylov_news*>(memory_.data()); }
  krylov_report* report() const { return reinterpret_cast<krylov_report*>(ring_of_news() + ring); }
  int count() const { return std::atomic_ref(report()->norms).load(std::memory_order_acquire); }
  int stop() const { return std::atomic_ref(report()->stop).load(std::memory_order_acquire); }
  void forget() const { *report() = {}; }

 private:
  Pinned memory_{ring * sizeof(krylov_news) + sizeof(krylov_report)};
};

/// A kernel of an iteration, or a product.
struct Stage {
  const char* kernel = nullptr;  ///< null: a product
  int from = 0, to = 0;          ///< vectors of the product
  bool projects = false;         ///< only there where the matrix has a null space
  bool dots = false;             ///< a dot product follows the product, at least where there is no null space
  bool sums = false;             ///< it may end with sums
};

constexpr Stage cg_stages[] = {{.from = cg_vectors::p, .to = cg_vectors::w, .dots = true},
                               {.kernel = "cg_step", .sums = true},
                               {.kernel = "cg_project", .projects = true, .sums = true},
                               {.kernel = "cg_turn"}};
constexpr Stage bcgs_stages[] = {{.from = bcgs_vectors::p, .to = bcgs_vectors::w, .dots = true},
                                 {.kernel = "bcgs_first", .sums = true},
                                 {.kernel = "bcgs_project_first", .projects = true, .sums = true},
                                 {.kernel = "bcgs_half", .projects = true},
                                 {.from = bcgs_vectors::s, .to = bcgs_vectors::w},
                                 {.kernel = "bcgs_second", .sums = true},
                                 {.kernel = "bcgs_project_second", .projects = true, .sums = true},
                                 {.kernel = "bcgs_step", .sums = true},
                                 {.kernel = "bcgs_turn"}};

struct MethodRow {
  std::span<const Stage> iteration;
  std::size_t start;  ///< stages, its last, that are the start, too
  int vectors;
  int shadow;  ///< the first residual once more; -1: it has none, and products are followed by p^H A p
  bool has_shadow() const { return shadow >= 0; }
};
constexpr MethodRow methods[] = {{cg_stages, 3, cg_vectors::count, -1},
                                 {bcgs_stages, 2, bcgs_vectors::count, bcgs_vectors::r0}};
static_assert(int{cg_vectors::x} == int{bcgs_vectors::x} && int{cg_vectors::r} == int{bcgs_vectors::r});
constexpr int x_vector = cg_vectors::x, r_vector = cg_vectors::r;
static_assert(cg_vectors::count <= most_krylov_vectors && bcgs_vectors::count <= most_krylov_vectors);

/// Of any scalar and method: the largest, and where its first scalar lies.
constexpr std::size_t state_bytes = std::max(cg_state_bytes, sizeof(bcgs_state<complex_number<double>>));
static_assert(sizeof(krylov_counts) % alignof(double) == 0, "the first scalar follows the counts whatever it is");

class Loop final : public KrylovLoop {
 public:
  Loop(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem);

  const KrylovProblem& problem() const override { return input_.problem; }
  void* factors() override { return input_.factors.data(); }
  void* null_space() override { return input_.null_space.data(); }
  void set_unit(int k, void* to) override { input_.set_unit(k, to, queue_); }
  void prepare(const Matrix& A, int at_once) override;
  KrylovRun start(const void* x, const void* r, const Report& report) override;
  KrylovRun go_on(const KrylovLimits& limits, const Report& report) override;
  void take_x(void* to) override { backend_.copy(to, args_.vectors[x_vector], bytes_); }
  void take_residual(void* to) override { backend_.copy(to, args_.vectors[r_vector], bytes_); }
  Shape shape() const override {
    return {graph_ ? graph_.nodes() / queued_ : 0, graph_ ? queued_ : 0, whole_.has_value(),
            whole_ ? whole_->grid_syncs(stages()) : 0};
  }

 private:
  template <class Argument>
  void launch(const void* kernel, const Argument& argument, slot_t blocks) {
    cuda::launch(kernel, blocks, threads_of_krylov, argument, queue_);
  }
  void find_stages(std::size_t first);
  /// Of a stage: up to its sums, or the whole of it; and what follows them once they are gathered, or null.
  using StageKernels = std::array<const void*, 2>;
  void run(const StageKernels& stage, slot_t blocks);
  void queue(std::span<const Stage> stages, const Matrix* A);
  Follow follow(const Stage& product) const;
  const void* dot_with(const void* from) const {
    return method_.has_shadow() ? args_.vectors[bcgs_shadow(problem().columns)] : from;
  }
  void set_limits(const KrylovLimits& limits, KrylovStop stop) {
    launch(go_on_, krylov_limits{counts(), limits.below, limits.above, limits.most + 1, static_cast<int>(stop)}, 1);
  }
  krylov_counts* counts() const { return reinterpret_cast<krylov_counts*>(state_.data()); }
  void record(const Matrix& A);
  bool on_all(bool here) const;
  std::optional<WholeLoop::Matrix> products_of(const Matrix& A) const;
  void make_whole(const WholeLoop::Matrix& matrix, const Matrix& A);
  /// Of an iteration.
  int stages() const {
    const bool projects = problem().null_space.size() > 0;
    return static_cast<int>(
        std::ranges::count_if(method_.iteration, [&](const Stage& s) { return projects || !s.projects; }));
  }
  KrylovRun go_on_by_graphs(const KrylovLimits& limits, const Report& report);
  KrylovRun go_on_in_one_kernel(const KrylovLimits& limits, const Report& report);
  void report_news(const Report& report);
  void check_peers() const {
    if (peers_) peers_->check_all_answer();
  }
  /// Whether a library brings sums of processes together, between two kernels.
  bool gathers() const { return peers_ && !peers_->window(); }
  KrylovRun where() const { return {news_.count() - 1, static_cast<KrylovStop>(news_.stop())}; }

  Backend& backend_;
  cudaStream_t& queue_;
  KrylovMemory input_;
  const MethodRow& method_;
  std::size_t bytes_;
  slot_t blocks_;
  CudaPeers* const peers_;
  const void* go_on_ = nullptr;
  StageKernels meet_dot_ = {};  ///< of several processes
  std::array<StageKernels, std::size(bcgs_stages)> kernels_ = {};
  std::array<Buffer<std::byte>, most_krylov_vectors> vectors_;
  Buffer<std::byte> state_, partials_, gathered_;
  Buffer<unsigned> tickets_;
  News news_;
  int next_ = 0;  ///< norm that was not told of yet
  krylov_args args_;
  Graph graph_;     ///< beyond the end its kernels do nothing, by a flag: a loop node would want CUDA 12.4
  int queued_ = 0;  ///< iterations of the graph
  std::optional<WholeLoop> whole_;  ///< in place of the graph
  std::uint64_t prepared_for_ = 0;
};

Loop::Loop(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem)
    : backend_(backend),
      queue_(queue),
      input_(backend, problem),
      method_(methods[static_cast<int>(problem.method)]),
      bytes_(static_cast<std::size_t>(problem.scalars) * bytes_of(problem.scalar)),
      blocks_(blocks_of(problem)),
      peers_(problem.peers ? &cuda_peers(*problem.peers) : nullptr),
      state_(backend, state_bytes),
      partials_(backend, bytes_of_partials(problem, blocks_)),
      tickets_(backend, tickets_of(blocks_)) {
  const bool projects = problem.null_space.size() > 0, has_shadow = method_.has_shadow();
  find_stages(method_.iteration.size() - method_.start);
  // The last one is what becomes of the residual, or q of the shadow, which no null space goes with.
  const bool needs_last = problem.columns > 0 ? !projects || !has_shadow : projects && !has_shadow;
  for (int v = 0; v < method_.vectors; ++v)
    if (v + 1 < method_.vectors || needs_last) vectors_[v] = Buffer<std::byte>(backend, bytes_);
  if (peers_) args_.meeting = peers_->meeting();
  if (gathers()) {
    const int processes = peers_->processes();
    gathered_ = Buffer<std::byte>(backend, static_cast<std::size_t>((1 + processes) * gathered_args::bytes_each));
    backend.clear(gathered_.data(), gathered_.bytes());
    args_.gathered = {gathered_.data(), gathered_.data() + gathered_args::bytes_each, processes};
  }
  backend.clear(tickets_.data(), tickets_.bytes());
  backend.clear(state_.data(), state_.bytes());  // kernels may read all of it before they look whether to stop
  args_.state = state_.data();
  input_.hand_to(args_);
  for (int v = 0; v < method_.vectors; ++v) args_.vectors[v] = vectors_[v].data();
  args_.sum = {partials_.data(), tickets_.data()};
  args_.report = news_.report();
  args_.news = news_.ring_of_news();
  args_.ring = ring;
}

/// From the one of this number on; one kernel for all iterations needs those of the start alone.
void Loop::find_stages(std::size_t first) {
  const bool projects = problem().null_space.size() > 0;
  std::vector<WantedKernel> wanted;
  if (!go_on_) wanted.push_back({krylov_source(problem(), "krylov_go_on", "krylov_limits"), &go_on_});
  const auto want = [&](const char* stage, bool sums, StageKernels& kernels) {
    if (kernels[0]) return;
    const StageSums own = gathers() ? StageSums::before_gathering : peers_ ? StageSums::met : StageSums::alone;
    wanted.push_back({krylov_stage_source(problem(), stage, own), &kernels[0]});
    if (gathers() && sums)
      wanted.push_back({krylov_stage_source(problem(), stage, StageSums::after_gathering), &kernels[1]});
  };
  for (std::size_t i = first; i < method_.iteration.size(); ++i)
    if (const Stage& stage = method_.iteration[i]; stage.kernel && (projects || !stage.projects))
      want(stage.kernel, stage.sums, kernels_[i]);
  if (first == 0 && peers_) want("meet_dot", true, meet_dot_);
  find_kernels(wanted);
}

void Loop::run(const StageKernels& stage, slot_t blocks) {
  if (!stage[0]) return;
  launch(stage[0], args_, blocks);
  if (!stage[1]) return;
  peers_->gather(args_.gathered.own, gathered_.data() + gathered_args::bytes_each, gathered_args::bytes_each, queue_);
  krylov_args after = args_;
  after.scalars = 0;
  launch(stage[1], after, 1);
}

void Loop::queue(std::span<const Stage> stages, const Matrix* A) {
  const std::size_t first = method_.iteration.size() - stages.size();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].kernel) {
      run(kernels_[first + i], blocks_);
      continue;
    }
    void *const from = args_.vectors[stages[i].from], *const to = args_.vectors[stages[i].to];
    A->multiply(from, to, {follow(stages[i]), dot_with(from), counts() + 1, &counts()->stop});
    if (has_dot(follow(stages[i]))) run(meet_dot_, 1);
  }
}

Follow Loop::follow(const Stage& product) const {
  if (!product.dots || (method_.has_shadow() && problem().null_space.size() > 0)) return Follow::stoppable;
  return method_.has_shadow() || problem().hermitian ? Follow::dot : Follow::bilinear;
}

KrylovRun Loop::start(const void* x, const void* r, const Report& report) {
  backend_.clear(state_.data(), state_.bytes());
  for (int v = 0; v < method_.vectors; ++v)  // what the start multiplies by 0 must be numbers
    if (args_.vectors[v]) backend_.clear(args_.vectors[v], bytes_);
  if (x) backend_.copy(args_.vectors[x_vector], x, bytes_);
  backend_.copy(args_.vectors[r_vector], r, bytes_);
  if (method_.has_shadow()) backend_.copy(args_.vectors[method_.shadow], r, bytes_);
  news_.forget();
  next_ = 0;
  set_limits({-1, std::numeric_limits<double>::infinity(), std::numeric_limits<int>::max() - 1}, KrylovStop::not_yet);
  queue(method_.iteration.last(method_.start), nullptr);
  check(cudaStreamSynchronize(queue_), "waiting for the first residual");
  check_peers();
  report_news(report);
  return where();
}

void Loop::prepare(const Matrix& A, int at_once) {
  const int iterations = std::clamp(at_once, 1, ring / (2 * graphs_in_flight));
  if (on_all(prepared_for_ == A.stamp && (whole_ || (graph_ && queued_ == iterations)))) return;
  graph_ = {};
  whole_.reset();
  std::optional<WholeLoop::Matrix> matrix = products_of(A);
  if (on_all(matrix.has_value())) {
    make_whole(*matrix, A);
  } else {
    queued_ = iterations;
    record(A);
  }
  prepared_for_ = A.stamp;
}

bool Loop::on_all(bool here) const { return peers_ ? cuda::on_all(peers_->among(), here) : here; }

/// Nothing where one kernel cannot have them, or does not gain.
std::optional<WholeLoop::Matrix> Loop::products_of(const Matrix& A) const {
  const Stage& first = method_.iteration.front();
  if (gathers()) return {};
  std::size_t bytes = A.bytes;
  if (peers_) bytes = std::ranges::max(gathered(peers_->among(), bytes));
  if (!A.task || !WholeLoop::gains(problem(), bytes)) return {};
  const auto own = A.task(args_.vectors[first.from], args_.vectors[first.to]);
  const auto by_ghosts = A.task_of_ghosts ? A.task_of_ghosts(nullptr, nullptr) : std::nullopt;
  if (!own || (A.task_of_ghosts && !by_ghosts)) return {};
  const WholeLoop::Matrix matrix{*own, by_ghosts, bytes};
  return WholeLoop::suits(matrix) ? std::optional(matrix) : std::nullopt;
}

void Loop::make_whole(const WholeLoop::Matrix& matrix, const Matrix& A) {
  const auto make = [&] { whole_.emplace(backend_, queue_, problem(), matrix); };
  if (!peers_) return make();
  all_or_none(peers_->among(), make);
  whole_->join(backend_, problem(), matrix, *A.exchange);
}

void Loop::record(const Matrix& A) {
  find_stages(0);
  // Once for nothing: kernels are compiled and memory allocated outside of the recording.
  set_limits({}, KrylovStop::iterations);
  queue(method_.iteration, &A);
  GraphRecorder recorder(queue_);
  for (int i = 0; i < queued_; ++i) queue(method_.iteration, &A);
  graph_ = recorder.finish();
}

void Loop::report_news(const Report& report) {
  for (const int count = news_.count(); next_ < count; ++next_) report(next_, news_.ring_of_news()[next_ % ring]);
}

KrylovRun Loop::go_on(const KrylovLimits& limits, const Report& report) {
  return whole_ ? go_on_in_one_kernel(limits, report) : go_on_by_graphs(limits, report);
}

KrylovRun Loop::go_on_in_one_kernel(const KrylovLimits& limits, const Report& report) {
  KrylovRun run = where();
  do {
    KrylovLimits these = limits;
    these.most = std::min(limits.most, run.iteration + WholeLoop::most_iterations);
    set_limits(these, KrylovStop::not_yet);
    whole_->launch(queue_, args_);
    check(cudaStreamSynchronize(queue_), "waiting for iterations");
    check_peers();
    report_news(report);
    run = where();
  } while (run.stop == KrylovStop::iterations && run.iteration < limits.most);
  return run;
}

/// One graph is under way while the host looks at the one before. Not where a library exchanges: it does so beyond the
/// end, too, and all processes must queue as many graphs.
KrylovRun Loop::go_on_by_graphs(const KrylovLimits& limits, const Report& report) {
  news_.report()->stop = 0;
  set_limits(limits, KrylovStop::not_yet);
  run_ahead(
      graph_, queue_, queued_ == 1 || gathers() ? 1 : graphs_in_flight,
      [&] {
        check_peers();
        return news_.stop() == 0;
      },
      [&] { report_news(report); });
  check_peers();
  return where();
}

}  // namespace

std::unique_ptr<KrylovLoop> krylov_loop(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem) {
  return std::make_unique<Loop>(backend, queue, problem);
}

}  // namespace compound::cuda
