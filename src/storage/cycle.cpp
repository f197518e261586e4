#include "storage/cycle.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace compound {

std::vector<SmoothingStep> chebyshev_steps(int steps, double least, double most) {
  std::vector<SmoothingStep> made;
  const double scale = 2 / (most + least), alpha = 1 - scale * least, mu = 1 / alpha;
  double before = 1, now = mu;  // values of Chebyshev's polynomials at mu
  for (int k = 0; k < steps; ++k) {
    if (k == 0) {
      made.push_back({1, 0, scale});
      continue;
    }
    const double next = 2 * mu * now - before, omega = 2 * mu * now / next;
    made.push_back({omega, 1 - omega, omega * scale});
    before = now;
    now = next;
  }
  return made;
}

std::optional<std::vector<SmoothingStep>> fourth_kind_steps(int steps, double most, const double* weights) {
  std::vector<SmoothingStep> made;
  for (int k = 0; k < steps; ++k) {
    const double keeps = (2.0 * k - 1) / (2.0 * k + 3), scale = (8.0 * k + 4) / (2.0 * k + 3) / most;
    made.push_back(k == 0 ? SmoothingStep{1, 0, scale} : SmoothingStep{1 + keeps, -keeps, scale});
  }
  if (std::all_of(weights, weights + steps, [](double w) { return w == 1; })) return made;
  if (steps > 2) return {};
  // With y_k the vectors for weights of 1, the result is y_0 + w_0 (y_1 - y_0) + w_1 (y_2 - y_1): the last step has it.
  const double last = weights[steps - 1], first = steps == 2 ? weights[0] : 1;
  SmoothingStep& s = made.back();
  s = {last * s.along + first - last, last * s.keep + 1 - first, last * s.scale};
  return made;
}

namespace {

slot_t scalars_of(const DeviceMatrix& A) { return slot_t{A.diagonal->rows()} * A.diagonal->problem().block.rows; }

/// Vectors of a process without rows differ in their addresses, too.
std::size_t bytes_of_vector(slot_t scalars, ScalarType scalar) {
  return static_cast<std::size_t>(std::max<slot_t>(scalars, 1)) * bytes_of(scalar);
}

}  // namespace

Cycle::Cycle(Backend& on, CyclePlan plan, CoarseSolve coarse)
    : on_(on), plan_(std::move(plan)), coarse_(std::move(coarse)), vectors_(plan_.levels.size() + 1) {
  for (std::size_t l = 0; l < vectors_.size(); ++l) {
    LevelVectors& v = vectors_[l];
    const bool is_coarsest = l == plan_.levels.size();
    v.scalars = is_coarsest ? plan_.coarse_scalars : scalars_of(plan_.levels[l].A);
    const std::size_t bytes = bytes_of_vector(v.scalars, plan_.scalar);
    if (l > 0) v.b = Buffer<std::byte>(on, bytes);
    for (int k = 0; k < (is_coarsest ? 1 : 3); ++k) v.x[k] = Buffer<std::byte>(on, bytes);
    if (!is_coarsest) v.residual = Buffer<std::byte>(on, bytes);
  }
}

void Cycle::take(CyclePlan plan) {
  plan_ = std::move(plan);
  direct_ = {};
  copied_ = {};
}

bool Cycle::is_fused(std::size_t level) const {
  const CycleLevel& l = plan_.levels[level];
  return l.A.smooths() && l.down.columns <= 1 && l.up.columns <= 1;
}

void* Cycle::free_vector(std::size_t level, std::initializer_list<const void*> used) const {
  for (const auto& vector : vectors_[level].x)
    if (std::ranges::find(used, vector.data()) == used.end()) return vector.data();
  throw error(ErrorKind::argument, "a smoothing step that reads more than two vectors");
}

namespace {

double flops_of(const DeviceMatrix& A) {
  const auto of_part = [](const PackedMatrix* part) {
    return part ? 2.0 * part->entries() * static_cast<double>(scalars_in(part->problem().block)) : 0.0;
  };
  return of_part(A.diagonal) + of_part(A.off_diagonal);
}

}  // namespace

void Cycle::multiply(const DeviceMatrix& A, Op op, Update update, const void* x, const void* z, void* y) {
  A.multiply(op, update, x, z, y);
  flops_ += flops_of(A);
}

void Cycle::step(std::size_t level, const CycleSmoother& by, const SmoothingStep& s, const void* b, const void* x,
                 const void* before, void* to) {
  const DeviceMatrix& A = plan_.levels[level].A;
  const slot_t scalars = vectors_[level].scalars;
  void* const product = vectors_[level].residual.data();
  const smoothing_args args{s.along, s.keep, s.scale, before, nullptr};
  flops_ += static_cast<double>(scalars) * (x ? 5 + 2 * by.columns : 2 * by.columns);
  if (x && A.smooths() && by.columns <= 1) {
    smoothing_args fused = args;
    if (by.columns == 1) fused.inverse = by.factors;
    A.smooth(fused, x, b, to);
    flops_ += flops_of(A);
    return;
  }
  if (x) multiply(A, Op::none, Update::assign, x, nullptr, product);
  work().smooth(plan_.scalar, {args, by.factors, by.columns, scalars, x, b, x ? product : nullptr, to});
}

/// From x, null for 0, to the vector that is returned; null where there is no step and no guess. `out`: where the last
/// step is to write, or null.
const void* Cycle::smooth(std::size_t level, const CycleSmoother& by, const void* b, const void* x, void* out) {
  const void *now = by.from_zero ? nullptr : x, *before = nullptr;
  for (std::size_t k = 0; k < by.steps.size(); ++k) {
    const bool is_last = k + 1 == by.steps.size();
    void* const to = is_last && out ? out : free_vector(level, {now, before});
    step(level, by, by.steps[k], b, now, before, to);
    before = now;
    now = to;
  }
  return now;
}

const void* Cycle::residual(std::size_t level, const void* b, const void* x) {
  if (!x) return b;
  const DeviceMatrix& A = plan_.levels[level].A;
  void* const r = vectors_[level].residual.data();
  const smoothing_args difference{0, 0, 1, nullptr, nullptr};
  if (A.smooths()) {
    A.smooth(difference, x, b, r);
    flops_ += flops_of(A);
    return r;
  }
  multiply(A, Op::none, Update::assign, x, nullptr, r);
  work().smooth(plan_.scalar, {difference, nullptr, 0, vectors_[level].scalars, nullptr, b, r, r});
  return r;
}

const void* Cycle::solve_coarsest(const void* b, void* out, const CoarseSolve& coarse) {
  void* const x = out ? out : vectors_.back().x[0].data();
  if (plan_.has_coarse_inverse)
    work().multiply_dense(plan_.scalar, {plan_.coarse_inverse, plan_.coarse_scalars, b, x});
  else
    coarse(b, x);
  return x;
}

/// A cycle on a level, from x (null: 0). `out`: where the result is to be, or null.
const void* Cycle::visit(std::size_t level, const void* b, const void* x, void* out, const CoarseSolve& coarse) {
  if (level == plan_.levels.size()) return solve_coarsest(b, out, coarse);
  const CycleLevel& l = plan_.levels[level];
  const bool ends = l.up.steps.empty();
  const void* now = smooth(level, l.down, b, x, nullptr);
  const void* const r = residual(level, b, now);
  void* const below = vectors_[level + 1].b.data();
  if (l.restriction)
    multiply(*l.restriction, Op::none, Update::assign, r, nullptr, below);
  else
    multiply(l.interpolation, Op::transpose, Update::assign, r, nullptr, below);
  const void* correction = nullptr;
  for (int k = 0; k < l.visits; ++k) correction = visit(level + 1, below, correction, nullptr, coarse);
  void* const to = ends && out ? out : free_vector(level, {now});
  if (correction) multiply(l.interpolation, Op::none, now ? Update::add : Update::assign, correction, now, to);
  now = correction ? to : now;
  return smooth(level, l.up, b, now, out);
}

const void* Cycle::apply(const void* b, void* x, const CoarseSolve& coarse) {
  const void* now = nullptr;
  flops_ = 0;
  for (int k = 0; k < plan_.cycles; ++k) now = visit(0, b, now, k + 1 == plan_.cycles ? x : nullptr, coarse);
  const std::size_t bytes = vectors_.front().scalars * bytes_of(plan_.scalar);
  if (!now)
    on_.clear(x, bytes);
  else if (now != x)
    on_.copy(x, now, bytes);
  return now;
}

void Cycle::run(const void* b, void* x) { apply(b, x, coarse_); }

void Cycle::prepare() {
  const std::size_t bytes = bytes_of_vector(vectors_.front().scalars, plan_.scalar);
  copied_b_ = Buffer<std::byte>(on_, bytes);
  copied_x_ = Buffer<std::byte>(on_, bytes);
  on_.clear(copied_b_.data(), bytes);
  run(copied_b_.data(), copied_x_.data());
}

/// Where others solve on the coarsest level a graph ends and the next one begins.
Cycle::Recorded Cycle::record(const void* b, void* x) {
  Recorded made{b, x, {}};
  std::unique_ptr<Recording> recording = work().record();
  apply(b, x, [&](const void*, void*) {
    made.graphs.push_back(recording->finish());
    recording.reset();
    recording = work().record();
  });
  made.graphs.push_back(recording->finish());
  return made;
}

void Cycle::replay(const void* b, void* x) {
  if (direct_.graphs.empty()) direct_ = record(b, x);
  const bool is_direct = direct_.b == b && direct_.x == x;
  const std::size_t bytes = vectors_.front().scalars * bytes_of(plan_.scalar);
  if (!is_direct && copied_.graphs.empty()) copied_ = record(copied_b_.data(), copied_x_.data());
  if (!is_direct) on_.copy(copied_b_.data(), b, bytes);
  const Graphs& graphs = is_direct ? direct_.graphs : copied_.graphs;
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    if (k > 0) coarse_(vectors_.back().b.data(), vectors_.back().x[0].data());
    graphs[k]->run();
  }
  if (!is_direct) on_.copy(x, copied_x_.data(), bytes);
}

Cycle::Shape Cycle::shape() const {
  Shape shape;
  for (const auto& graph : direct_.graphs) {
    shape.graphs += 1;
    shape.size += graph->size();
  }
  return shape;
}

}  // namespace compound
