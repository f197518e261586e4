// Candidates that run the core without PETSc: any word map of the vectors, any precision.
#include <algorithm>
#include <cstring>
#include <span>

#include "candidate.hpp"
#include "device.hpp"
#include "device/layout/words.hpp"
#include "entry_choice.hpp"
#include "error.hpp"
#include "failure.hpp"
#include "packed.hpp"

namespace compound::bench {

namespace {

constexpr int reals_per_scalar = sizeof(PetscScalar) / sizeof(double);

/// Where this run's core products are.
Backend& core_backend() { return backend(used_device() ? "cuda" : "host"); }

std::vector<float> narrowed(const PetscScalar* from, std::size_t scalars) {
  const double* reals = reinterpret_cast<const double*>(from);
  return {reals, reals + scalars * reals_per_scalar};
}

}  // namespace

class CoreSource {
 public:
  CoreSource(const CaseMatrix& c, bool single_) : single(single_) {
    const BlockArrays arrays = c.arrays().front();
    const auto entries = static_cast<std::size_t>(arrays.entries());
    if constexpr (sizeof(PetscInt) == sizeof(idx)) {
      view = {static_cast<idx>(arrays.rows),
              static_cast<idx>(arrays.columns),
              {reinterpret_cast<const count32*>(arrays.start), static_cast<std::size_t>(arrays.rows) + 1},
              {reinterpret_cast<const idx*>(arrays.column), entries}};
    } else {
      using Wide = std::conditional_t<sizeof(PetscInt) == 8, std::int64_t, std::int32_t>;
      copy_ = pattern_from(arrays.rows, arrays.columns, reinterpret_cast<const Wide*>(arrays.start),
                           reinterpret_cast<const Wide*>(arrays.column));
      view = copy_.view();
    }
    blocks = arrays.values;
    if (single) {
      narrow_ = narrowed(arrays.values, entries * static_cast<std::size_t>(c.area()));
      blocks = narrow_.data();
    }
    problem = {c.block,
               {reals_per_scalar == 2 ? Field::complex : Field::real, single ? Precision::single : Precision::double_}};
  }
  CoreSource(const CoreSource&) = delete;

  double bytes_of_copies() const { return static_cast<double>(narrow_.size() * sizeof(float)); }

  bool single;
  PatternView view;
  const void* blocks;
  Problem problem;

 private:
  Pattern copy_;
  std::vector<float> narrow_;
};

namespace {

/// A vector of blocks in grouped<group> order, in the precision of the products and a backend's memory. The host's copy
/// is the vector itself, or what goes to a device and comes back.
class CoreVector {
 public:
  CoreVector(Backend& on, bool single, idx group, int block_size, std::int64_t blocks)
      : on_(&on), single_(single), block_size_(block_size), blocks_(blocks) {
    map_ = word_map_of(group, blocks);
    const auto reals = vector_scalars(static_cast<idx>(blocks), block_size, group) * reals_per_scalar;
    if (single)
      floats_.resize(reals);
    else
      doubles_.resize(reals);
    if (on.is_device()) device_ = Buffer<std::byte>(on, bytes());
  }

  void* data() { return on_->is_device() ? device_.data() : host_data(); }

  void take(Vec from) {
    const PetscScalar* values;
    must(VecGetArrayRead(from, &values));
    const double* reals = reinterpret_cast<const double*>(values);
    each([&](std::size_t natural, std::size_t stored) {
      if (single_)
        floats_[stored] = static_cast<float>(reals[natural]);
      else
        doubles_[stored] = reals[natural];
    });
    must(VecRestoreArrayRead(from, &values));
    if (on_->is_device()) on_->upload(data(), host_data(), bytes());
  }

  std::vector<PetscScalar> natural() {
    if (on_->is_device()) on_->download(host_data(), data(), bytes());
    std::vector<PetscScalar> values(static_cast<std::size_t>(blocks_ * block_size_));
    double* reals = reinterpret_cast<double*>(values.data());
    each([&](std::size_t natural, std::size_t stored) {
      reals[natural] = single_ ? floats_[stored] : doubles_[stored];
    });
    return values;
  }

 private:
  void* host_data() { return single_ ? static_cast<void*>(floats_.data()) : doubles_.data(); }
  std::size_t bytes() const { return floats_.size() * sizeof(float) + doubles_.size() * sizeof(double); }

  /// f(place in PETSc's order, place here) of every real number.
  template <class F>
  void each(const F& f) const {
    for (std::int64_t block = 0; block < blocks_; ++block)
      for (int i = 0; i < block_size_; ++i)
        for (int part = 0; part < reals_per_scalar; ++part)
          f(static_cast<std::size_t>((block * block_size_ + i) * reals_per_scalar + part),
            static_cast<std::size_t>((map_.first(block, block_size_) + i * map_.stride) * reals_per_scalar + part));
  }

  Backend* on_;
  bool single_;
  int block_size_;
  std::int64_t blocks_;
  word_map<dynamic> map_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  Buffer<std::byte> device_;
};

class CoreCandidate final : public Candidate {
 public:
  CoreCandidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source, const Plan& plan, const std::string& text)
      : Candidate("core " + text),
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

  std::string kind() const override { return "core"; }
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
    return timed(PETSC_COMM_SELF, [&] { packed_->update_values(source_->blocks); });
  }

  double pack_again_s(double) override { return pack(Plan(packed_->plan())); }

  Bytes bytes() const override {
    return {source_->single ? source_->bytes_of_copies() : parent_bytes_,
            static_cast<double>(packed_->bytes().total())};
  }
  std::vector<PetscScalar> result() override { return y_.natural(); }

 private:
  double pack(const Plan& plan) {
    packed_.reset();
    return timed(PETSC_COMM_SELF, [&] {
      packed_.emplace(source_->view, source_->problem, plan, backend_, PatternLifetime::outlives);
      packed_->update_values(source_->blocks);
      if (operation_ == Operation::transpose) packed_->prepare_transposed(source_->view);
    });
  }

  /// Of blocks as the matrix' columns, or as its rows.
  CoreVector vector(const CaseMatrix& c, const Plan& plan, bool of_columns) const {
    return {backend_, source_->single, plan.layout.vector_group, of_columns ? c.block.cols : c.block.rows,
            of_columns ? c.block_columns : c.block_rows};
  }

  Operation operation_;
  std::shared_ptr<CoreSource> source_;
  Backend& backend_;
  CoreVector x_, y_, z_;
  std::optional<PackedMatrix> packed_;
  double preparation_s_ = 0, parent_bytes_ = 0;
};

}  // namespace

std::shared_ptr<CoreSource> make_core_source(const CaseMatrix& c, bool single) {
  try {
    return std::make_shared<CoreSource>(c, single);
  } catch (const error& e) {
    throw usage_error(std::string("-core_plans: ") + e.what());
  }
}

namespace {

/// "auto": the cheapest kind of entry and the rule's plan for it. Of a line the kind that it names, else dense.
Plan plan_of(const CoreSource& source, const std::string& text) {
  const PatternStatistics numbers = statistics(source.view);
  const auto by_rule = [&](std::string_view entry) {
    return default_plan(numbers, source.problem, core_backend().name(), entry);
  };
  if (text == "auto")
    return by_rule(cheapest_entry(source.problem, backend("host"), source.blocks, source.view.entries()));
  return parse_plan(text, by_rule(parse_plan(text, Plan{}).entry));
}

}  // namespace

std::unique_ptr<Candidate> make_core_candidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source,
                                               const std::string& text) {
  try {
    const Plan plan = plan_of(*source, text);
    return std::make_unique<CoreCandidate>(c, std::move(source), plan, text);
  } catch (const error& e) {
    throw usage_error("-core_plans '" + text + "': " + e.what());
  }
}

EntryCheck time_entry_check(const CaseMatrix& c) {
  const CoreSource source(c, false);
  const std::size_t scalars = static_cast<std::size_t>(source.view.entries()) * static_cast<std::size_t>(c.area());
  std::shared_ptr<void> on_device;
  if (used_device()) on_device = used_device()->uploaded(source.blocks, scalars * sizeof(PetscScalar));
  EntryCheck check;
  constexpr int repeats = 5;
  for (int i = 0; i < repeats; ++i)
    check.seconds.push_back(timed(PETSC_COMM_SELF, [&] {
      check.entry = cheapest_entry(source.problem, core_backend(), on_device ? on_device.get() : source.blocks,
                                   source.view.entries(), on_device ? Memory::backend : Memory::host);
    }));
  return check;
}

}  // namespace compound::bench
