#include "backend_host.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "host/kernels.hpp"

namespace compound {

namespace host {

namespace {

/// Which table serves which precisions.
struct TableRow {
  ScalarType vectors;
  Precision stored;
  std::span<const KernelRow> (*table)();
};

template <class S, class Real>
constexpr TableRow table_row() {
  return {scalar_type_of<S>(), sizeof(Real) == 4 ? Precision::single : Precision::double_, kernel_table<S, Real>};
}

constexpr TableRow tables[] = {
    table_row<float, float>(),
    table_row<double, double>(),
    table_row<double, float>(),
    table_row<complex_number<float>, float>(),
    table_row<complex_number<double>, double>(),
    table_row<complex_number<double>, float>(),
};

bool serves(const KernelRow& row, const Plan& plan, const BlockShape& b) {
  if (row.entry != plan.entry) return false;
  return row.any_shape ? b.rows <= row.rows && b.cols <= row.cols : b.rows == row.rows && b.cols == row.cols;
}

}  // namespace

const Kernels* find_kernels(const Plan& plan, const Problem& problem) {
  for (const TableRow& t : tables) {
    if (!(t.vectors == problem.scalar) || t.stored != plan.values) continue;
    for (const KernelRow& row : t.table())
      if (serves(row, plan, problem.block)) return &row.kernels;
  }
  return nullptr;
}

template <class S>
void fill(S* y, const S* z, std::size_t scalars) {
  if (y == z) return;
  if (z)
    std::copy_n(z, scalars, y);
  else
    std::fill_n(y, scalars, S{});
}

template void fill(float*, const float*, std::size_t);
template void fill(double*, const double*, std::size_t);
template void fill(complex_number<float>*, const complex_number<float>*, std::size_t);
template void fill(complex_number<double>*, const complex_number<double>*, std::size_t);

}  // namespace host

namespace {

/// A cache line, so that slices' groups of words start on one.
constexpr std::align_val_t alignment{64};

class HostBackend final : public Backend {
 public:
  std::string_view name() const override { return "host"; }

  std::optional<std::string> applicable(const Plan& plan, const Problem& problem) const override {
    if (plan.schedule.traversal != Traversal::rows) return "the host backend traverses by rows only";
    if (plan.schedule.lanes != 1) return "the host backend has one worker a row: lanes=1";
    if (!host::find_kernels(plan, problem))
      return "the host backend has dense blocks up to 32x32, the matrix has " + std::to_string(problem.block.rows) +
             "x" + std::to_string(problem.block.cols);
    return {};
  }

  void* allocate(std::size_t bytes) override { return ::operator new(bytes, alignment); }
  void release(void* memory) noexcept override { ::operator delete(memory, alignment); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

  void pack(const PackTask& t) override { host::find_kernels(t.plan, t.problem)->pack(t); }
  std::optional<count32> first_misfit(const PackTask& t, count32 entries) override {
    return host::find_kernels(t.plan, t.problem)->first_misfit(t, entries);
  }
  void multiply(const ProductTask& t) override { host::find_kernels(t.plan, t.problem)->multiply(t); }
};

}  // namespace

Backend* host_backend() {
  static HostBackend backend;
  return &backend;
}

}  // namespace compound
