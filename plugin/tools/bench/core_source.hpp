// What candidates of the core are made of: the matrix as it takes it, and vectors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "device/layout/words.hpp"
#include "planner/default_plan.hpp"
#include "storage/packed.hpp"

namespace compound::bench {

inline constexpr int reals_per_scalar = sizeof(PetscScalar) / sizeof(double);

/// Slots an entry: that of -mat_compound_padding_limit.
inline constexpr double most_padding = 4;

/// Where this run's core products are.
Backend& core_backend();

/// The pattern and the values in the precision and the order of the products.
class CoreSource {
 public:
  /// Throws error where indices do not fit into 32 bits.
  CoreSource(const CaseMatrix& c, bool single, ValueOrder order = ValueOrder::blocks);
  CoreSource(const CoreSource&) = delete;

  /// The same scalars in blocks of another shape.
  Problem problem_of(BlockShape block) const { return {block, problem.scalar}; }
  double bytes_of_copies() const {
    return static_cast<double>(narrow_.size() * sizeof(float) + in_rows_.size() * sizeof(PetscScalar));
  }

  bool single;
  PatternView view;
  const void* values;
  Problem problem;

 private:
  Pattern copy_;
  std::vector<PetscScalar> in_rows_;
  std::vector<float> narrow_;
};

/// The plan of a line for the pattern with such blocks, what it leaves out by rule. "auto", for the source's own
/// blocks: the cheapest kind of entry and the rule's plan for it. Of a line the kind that it names, else dense. Throws
/// error.
Plan core_plan(const CoreSource& source, const Problem& problem, const std::string& text, ValuePrecision values = {});
/// The plan that suits a layout as users name it, for the cheapest kind of entry. Throws error.
Plan layout_plan(const CoreSource& source, const std::string& layout);

/// A vector of blocks in grouped<group> order, in the precision of the products and a backend's memory. The host's copy
/// is the vector itself, or what goes to a device and comes back.
class CoreVector {
 public:
  CoreVector(Backend& on, bool single, idx group, int block_size, std::int64_t blocks);

  void* data() { return on_->is_device() ? device_.data() : host_data(); }

  void take(Vec from);
  /// In PETSc's order.
  std::vector<PetscScalar> natural();

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

}  // namespace compound::bench
