#include "core_source.hpp"

#include "base/error.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "planner/entry_choice.hpp"
#include "scalar_formats.hpp"

namespace compound::bench {

Backend& core_backend() { return backend(used_device() ? "cuda" : "host"); }

namespace {

std::vector<float> narrowed(const PetscScalar* from, std::size_t scalars) {
  const double* reals = reinterpret_cast<const double*>(from);
  return {reals, reals + scalars * reals_per_scalar};
}

}  // namespace

CoreSource::CoreSource(const CaseMatrix& c, bool single_, ValueOrder order) : single(single_) {
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
  if (order == ValueOrder::rows) in_rows_ = scalar_values(arrays, arrays.values, c.block);
  const PetscScalar* const given = order == ValueOrder::rows ? in_rows_.data() : arrays.values;
  values = given;
  if (single) {
    narrow_ = narrowed(given, entries * static_cast<std::size_t>(c.area()));
    values = narrow_.data();
    in_rows_ = {};
  }
  problem = {c.block,
             {reals_per_scalar == 2 ? Field::complex : Field::real, single ? Precision::single : Precision::double_},
             order};
}

std::shared_ptr<CoreSource> make_core_source(const CaseMatrix& c, bool single, ValueOrder order) {
  try {
    return std::make_shared<CoreSource>(c, single, order);
  } catch (const error& e) {
    throw usage_error(std::string("-core_plans: ") + e.what());
  }
}

namespace {

std::string_view cheapest(const CoreSource& s) { return cheapest_entry(s.view, s.problem, backend("host"), s.values); }

}  // namespace

Plan core_plan(const CoreSource& source, const Problem& problem, const std::string& text, ValuePrecision values) {
  const PatternStatistics numbers = statistics(source.view);
  const auto by_rule = [&](std::string_view entry) {
    return default_plan(numbers, problem, core_backend().name(), entry, values);
  };
  if (text == "auto") return by_rule(cheapest(source));
  const std::string_view entry = parse_plan(text, Plan{}).entry;
  return plan_for_line(text, by_rule(entry), numbers, problem, core_backend().name(), entry, values);
}

Plan layout_plan(const CoreSource& source, const std::string& layout) {
  return plan_for_layout(layout, statistics(source.view), source.problem, core_backend().name(), cheapest(source));
}

CoreVector::CoreVector(Backend& on, bool single, idx group, int block_size, std::int64_t blocks)
    : on_(&on), single_(single), block_size_(block_size), blocks_(blocks) {
  map_ = word_map_of(group, blocks);
  const auto reals = vector_scalars(static_cast<idx>(blocks), block_size, group) * reals_per_scalar;
  if (single)
    floats_.resize(reals);
  else
    doubles_.resize(reals);
  if (on.is_device()) device_ = Buffer<std::byte>(on, bytes());
}

void CoreVector::take(Vec from) {
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

std::vector<PetscScalar> CoreVector::natural() {
  if (on_->is_device()) on_->download(host_data(), data(), bytes());
  std::vector<PetscScalar> values(static_cast<std::size_t>(blocks_ * block_size_));
  double* reals = reinterpret_cast<double*>(values.data());
  each([&](std::size_t natural, std::size_t stored) { reals[natural] = single_ ? floats_[stored] : doubles_[stored]; });
  return values;
}

}  // namespace compound::bench
