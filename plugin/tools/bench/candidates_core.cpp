// Candidates that run the core without PETSc: any word map of the vectors, any precision.
#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.hpp"
#include "candidate.hpp"
#include "core_source.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"

namespace compound::bench {

namespace {

class CoreCandidate final : public Candidate {
 public:
  CoreCandidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source, const Plan& plan, const std::string& name,
                const char* kind)
      : Candidate(name),
        kind_(kind),
        operation_(c.operation),
        source_(std::move(source)),
        backend_(core_backend()),
        x_(vector(c, plan, operation_ != Operation::transpose)),
        y_(vector(c, plan, operation_ == Operation::transpose)),
        z_(vector(c, plan, operation_ == Operation::transpose)) {
    x_.take(c.x);
    y_.take(c.y);
    z_.take(c.z);
    preparation_s_ = pack(plan);
    parent_bytes_ = static_cast<double>(c.read_bytes) + 4.0 * static_cast<double>(c.block_rows + 1);
  }

  std::string kind() const override { return kind_; }
  std::string plan() const override { return to_string(packed_->plan()); }
  bool float_vectors() const override { return source_->single; }
  bool on_device() const override { return backend_.is_device(); }
  bool use_queue(void* queue) override {
    backend_.use_queue(queue);
    return on_device();
  }
  double preparation_s() const override { return preparation_s_; }

  void multiply() override {
    const Op op = operation_ == Operation::transpose ? Op::transpose : Op::none;
    const Update update = operation_ == Operation::multadd ? Update::add : Update::assign;
    packed_->multiply(op, update, x_.data(), update == Update::add ? z_.data() : nullptr, y_.data());
  }

  double new_values_s(double) override {
    if (packed_->lies_on_blocks()) return 0;
    return timed(PETSC_COMM_SELF, [&] { packed_->update_values(source_->values); });
  }

  double new_values_there_s() override {
    if (!on_device() || packed_->lies_on_blocks()) return -1;
    const std::size_t bytes = source_->view.entries() * bytes_of_block(source_->problem);
    const Buffer<std::byte> blocks(backend_, bytes);
    backend_.upload(blocks.data(), source_->values, bytes);
    const auto update = [&] {
      packed_->update_values(blocks.data(), Memory::backend);
      backend_.synchronize();
    };
    update();  // code for it is compiled at the first time
    std::vector<double> seconds(5);
    for (double& s : seconds) s = timed(PETSC_COMM_SELF, update);
    return *std::ranges::min_element(seconds);
  }

  double pack_again_s(double) override { return pack(Plan(packed_->plan())); }

  Bytes bytes() const override {
    return {source_->single ? source_->bytes_of_copies() : parent_bytes_,
            static_cast<double>(packed_->bytes().total())};
  }
  double slots() const override { return static_cast<double>(packed_->slots()); }
  std::vector<PetscScalar> result() override { return y_.natural(); }

 private:
  double pack(const Plan& plan) {
    packed_.reset();
    return timed(PETSC_COMM_SELF, [&] {
      packed_.emplace(source_->view, source_->problem, plan, backend_, PatternLifetime::outlives);
      packed_->update_values(source_->values);
      if (operation_ == Operation::transpose) packed_->prepare_transposed(source_->view, plan_of_transpose);
    });
  }

  /// Of blocks as the matrix' columns, or as its rows.
  CoreVector vector(const CaseMatrix& c, const Plan& plan, bool of_columns) const {
    return {backend_, source_->single, plan.layout.vector_group, of_columns ? c.block.cols : c.block.rows,
            of_columns ? c.block_columns : c.block_rows};
  }

  const char* kind_;
  Operation operation_;
  std::shared_ptr<CoreSource> source_;
  Backend& backend_;
  CoreVector x_, y_, z_;
  std::optional<PackedMatrix> packed_;
  double preparation_s_ = 0, parent_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Candidate> make_core_candidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source,
                                               const std::string& text) {
  try {
    const Plan plan = core_plan(*source, source->problem, text);
    return std::make_unique<CoreCandidate>(c, std::move(source), plan, "core " + text, "core");
  } catch (const error& e) {
    throw usage_error("-core_plans '" + text + "': " + e.what());
  }
}

namespace {

/// Before anything is allocated.
void check_size(const CoreSource& source, const Plan& plan, double most_bytes) {
  if (const auto why = too_much_padding(source.view, source.problem, plan, most_padding)) throw left_out(*why);
  const auto bytes = static_cast<double>(bytes_of(source.view, source.problem, plan, core_backend()).allocated.total());
  if (bytes > most_bytes) throw left_out("too large: " + std::to_string(std::llround(bytes / 1e6)) + " MB");
}

}  // namespace

std::unique_ptr<Candidate> make_layout_candidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source,
                                                 const std::string& layout, double most_bytes) {
  try {
    const Plan plan = layout_plan(*source, layout);
    if (const auto why = applicable(plan, source->problem)) throw left_out(*why);
    check_size(*source, plan, most_bytes);
    return std::make_unique<CoreCandidate>(c, std::move(source), plan, layout_name(plan.layout), "layout");
  } catch (const error& e) {
    throw left_out(e.what());
  } catch (const std::bad_alloc&) {
    throw left_out("too large: no memory is left for it");
  }
}

Record time_entry_check(const CaseMatrix& c) {
  const CoreSource source(c, false);
  const std::size_t scalars = static_cast<std::size_t>(source.view.entries()) * static_cast<std::size_t>(c.area());
  std::shared_ptr<void> on_device;
  if (used_device()) on_device = used_device()->uploaded(source.values, scalars * sizeof(PetscScalar));
  Record check;
  std::vector<double> seconds(5);
  for (double& s : seconds)
    s = timed(PETSC_COMM_SELF, [&] {
      check["entry"] = cheapest_entry(source.problem, core_backend(), on_device ? on_device.get() : source.values,
                                      source.view.entries(), on_device ? Memory::backend : Memory::host);
    });
  check["median_s"] = statistics_of(seconds).median;
  check["samples_s"] = seconds;
  return check;
}

}  // namespace compound::bench
