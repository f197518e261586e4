// Quaternions by four real matrices, as libraries without compound entries have to (MSF 2019, section 3.2, eq. 2).
#include <array>

#include "base/error.hpp"
#include "core_source.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "planner/default_plan.hpp"

namespace compound::bench {

namespace {

constexpr int parts = 4;

/// Block (i, j) of a quaternion's left multiplication: which of its words, and with what sign.
constexpr int word_at[parts][parts] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
constexpr bool minus_at[parts][parts] = {
    {false, true, true, true}, {false, false, true, false}, {false, false, false, true}, {false, true, false, false}};

/// One real matrix of each word, and x, -x, y and z in four parts: 16 real products.
class HamiltonCandidate final : public Candidate {
 public:
  HamiltonCandidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source, const Plan& plan, const std::string& text)
      : Candidate("hamilton " + text),
        source_(std::move(source)),
        operation_(c.operation),
        x_(vector(c.x)),
        minus_x_(vector(c.x)),
        y_(vector(c.y)),
        z_(vector(c.z)),
        plan_(plan) {
    Vector minus;
    must(VecDuplicate(c.x, minus.out()));
    must(VecCopy(c.x, minus));
    must(VecScale(minus, -1.0));
    x_.take(c.x);
    minus_x_.take(minus);
    y_.take(c.y);
    z_.take(c.z);
    x_blocks_ = blocks_of(c.x);
    y_blocks_ = blocks_of(c.y);
    preparation_s_ = pack();
  }

  std::string kind() const override { return "hamilton"; }
  std::string plan() const override { return ""; }
  int words() const override { return parts; }
  bool float_vectors() const override { return source_->single; }
  bool on_device() const override { return core_backend().is_device(); }
  bool use_queue(void* queue) override {
    core_backend().use_queue(queue);
    return on_device();
  }
  double preparation_s() const override { return preparation_s_; }

  void multiply() override {
    const bool transposed = operation_ == Operation::transpose;
    for (int i = 0; i < parts; ++i)
      for (int j = 0; j < parts; ++j) {
        const int row = transposed ? j : i, column = transposed ? i : j;
        CoreVector& x = minus_at[row][column] ? minus_x_ : x_;
        const bool adds_z = j == 0 && operation_ == Operation::multadd;
        const Update update = j > 0 || adds_z ? Update::add : Update::assign;
        void* const y = part(y_, i, y_blocks_);
        const void* const z = update == Update::assign ? nullptr : adds_z ? part(z_, i, y_blocks_) : y;
        packed_[static_cast<std::size_t>(word_at[row][column])].multiply(transposed ? Op::transpose : Op::none, update,
                                                                         part(x, j, x_blocks_), z, y);
      }
  }

  double new_values_s(double) override {
    return timed(PETSC_COMM_SELF, [&] { take_values(); });
  }
  double pack_again_s(double) override { return pack(); }

  Bytes bytes() const override {
    Bytes all;
    for (const PackedMatrix& p : packed_) all.packed += static_cast<double>(p.bytes().total());
    for (const auto& v : values_) all.packed += on_device() ? 0 : static_cast<double>(v.size());
    return all;
  }
  std::vector<PetscScalar> result() override { return y_.natural(); }

 private:
  static std::int64_t blocks_of(Vec v) {
    PetscInt size;
    must(VecGetLocalSize(v, &size));
    return size / parts;
  }
  CoreVector vector(Vec v) const { return {core_backend(), source_->single, group_all, parts, blocks_of(v)}; }

  std::size_t scalar_bytes() const { return source_->single ? sizeof(float) : sizeof(double); }
  void* part(CoreVector& v, int which, std::int64_t blocks) const {
    return static_cast<std::byte*>(v.data()) + static_cast<std::size_t>(which * blocks) * scalar_bytes();
  }

  double pack() {
    packed_.clear();
    return timed(PETSC_COMM_SELF, [&] {
      for (int word = 0; word < parts; ++word)
        packed_.emplace_back(source_->view, source_->problem_of({1, 1}), plan_, core_backend(),
                             PatternLifetime::outlives);
      take_values();
      if (operation_ == Operation::transpose)
        for (PackedMatrix& p : packed_) p.prepare_transposed(source_->view, plan_of_transpose);
    });
  }

  /// A quaternion's words are the first column of its block.
  void take_values() {
    const std::size_t entries = source_->view.entries(), bytes = scalar_bytes();
    const auto* blocks = static_cast<const std::byte*>(source_->values);
    for (std::size_t word = 0; word < parts; ++word) {
      values_[word].resize(entries * bytes);
      for (std::size_t e = 0; e < entries; ++e)
        std::copy_n(blocks + (e * parts * parts + word) * bytes, bytes, values_[word].data() + e * bytes);
      packed_[word].update_values(values_[word].data());
    }
  }

  std::shared_ptr<CoreSource> source_;
  Operation operation_;
  CoreVector x_, minus_x_, y_, z_;
  std::int64_t x_blocks_ = 0, y_blocks_ = 0;
  Plan plan_;
  std::vector<PackedMatrix> packed_;
  std::array<std::vector<std::byte>, parts> values_;
  double preparation_s_ = 0;
};

}  // namespace

std::unique_ptr<Candidate> make_hamilton_candidate(const CaseMatrix& c, std::shared_ptr<CoreSource> source,
                                                   const std::string& text) {
  if (reals_per_scalar != 1 || c.block != BlockShape{parts, parts})
    throw left_out("quaternions are 4x4 blocks of a real matrix");
  if (backend("host").first_misfit({"quaternion", source->problem, source->values, source->view.entries()}))
    throw left_out("the blocks are not all quaternions; add -entry quaternion");
  try {
    const Plan plan = core_plan(*source, source->problem_of({1, 1}), text == "auto" ? "entry=dense" : text);
    return std::make_unique<HamiltonCandidate>(c, std::move(source), plan, text);
  } catch (const error& e) {
    throw usage_error("-core_plans 'hamilton " + text + "': " + e.what());
  }
}

}  // namespace compound::bench
