#include "backend_host.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "entry_registry.hpp"
#include "error.hpp"
#include "host/diagonals.hpp"
#include "host/instruction_set.hpp"
#include "host/kernels.hpp"
#include "host/processor.hpp"

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

/// Of a row of the plain or of a SIMD table: exactly its shape, or up to it.
template <class Row>
bool has_shape(const Row& row, const BlockShape& b) {
  return row.any_shape ? b.rows <= row.rows && b.cols <= row.cols : b.rows == row.rows && b.cols == row.cols;
}

}  // namespace

namespace {

// A user's kernels know plain structures only.

const host_kernels& kernels_in(const host_entry& e, Precision stored) {
  return stored == Precision::single ? e.in_float : e.in_double;
}

const host_kernels& kernels_for(const Plan& plan, const Problem& problem) {
  return kernels_in(*registered_host_entry(plan.entry, problem.scalar), plan.values);
}

/// Diagonals are told by their arguments alone: these functions are the kind's own.
std::optional<Kernels> registered_kernels(std::string_view entry, Precision stored, ScalarType scalar) {
  const host_entry* const e = registered_host_entry(entry, scalar);
  if (!e || !kernels_in(*e, stored).multiply) return {};
  const host_kernels& k = kernels_in(*e, stored);
  return Kernels{[](const ProductTask& t) { kernels_for(t.plan, t.problem).multiply(host_product_of(t)); },
                 [](const PackTask& t) { kernels_for(t.plan, t.problem).pack(host_packing_of(t)); }, e->first_misfit,
                 k.diagonal, k.invert_diagonal};
}

}  // namespace

std::optional<Kernels> find_kernels(std::string_view entry, Precision stored, const Problem& problem) {
  for (const TableRow& t : tables) {
    if (!(t.vectors == problem.scalar) || t.stored != stored) continue;
    for (const KernelRow& row : t.table())
      if (has_shape(row, problem.block) && row.entry == entry) return row.kernels;
  }
  return registered_kernels(entry, stored, problem.scalar);
}

std::optional<Kernels> find_kernels(const Plan& plan, const Problem& problem) {
  return find_kernels(plan.entry, plan.values, problem);
}

namespace {

/// Where the layout's slots and words are as a SIMD traversal of this form expects them.
bool has_form(const LayoutSpec& l, bool by_column, SimdForm form) {
  if (l.occupancy != Occupancy::lengths || l.vector_group != 1 || !by_column) return false;
  if (form == SimdForm::blocks) return l.slice == 1 && l.word_group == 1;
  const bool wide_slices = l.slice == whole || l.slice % 8 == 0;
  const bool wide_groups = l.word_group == group_all || l.word_group % 8 == 0;
  return wide_slices && wide_groups;
}

bool serves(const SimdKernel& k, const Plan& plan, const Problem& problem) {
  return has_shape(k, problem.block) && plan.entry == k.entry && (plan.values == Precision::single) == k.single &&
         (problem.scalar.field == Field::complex) == k.complex_scalars &&
         has_form(plan.layout, plan.entry != "dense" || plan.layout.word_order == WordOrder::column, k.form);
}

/// Null where the plain kernel multiplies.
const SimdKernel* find_simd(const Plan& plan, const Problem& problem) {
  if (!plan.schedule.simd || problem.scalar.precision != Precision::double_) return nullptr;
  const SimdTable table = simd_table(instruction_set_in_use());
  for (int i = 0; i < table.count; ++i)
    if (serves(table.first[i], plan, problem)) return &table.first[i];
  return nullptr;
}

SimdTask simd_task(const ProductTask& t) {
  const LayoutSpec& l = t.plan.layout;
  const LayoutArrays& a = t.layout;
  SimdTask s;
  s.layout = slices_from<decltype(s.layout)>(a);
  s.words = word_map_of(l.word_group, a.slots);
  s.rows = t.problem.block.rows;
  s.cols = t.problem.block.cols;
  s.fetch_x = t.plan.schedule.fetch_x;
  s.gathers = processor().fast_gathers;
  s.values = t.values;
  s.x = static_cast<const double*>(t.x);
  s.z = t.update == Update::add ? static_cast<const double*>(t.z) : nullptr;
  s.y = static_cast<double*>(t.y);
  return s;
}

/// Found once for a packed matrix, not at each product.
struct HostCode : Code {
  Kernels kernels;
  const SimdKernel* simd;  ///< null: products go by the plain kernel

  HostCode(const Plan& plan, const Problem& problem)
      : kernels(*find_kernels(plan, problem)), simd(find_simd(plan, problem)) {}
};

const HostCode& code_of(const ProductTask& t) { return static_cast<const HostCode&>(*t.code); }

/// y = [z +] A x by vector instructions.
void multiply_simd(const ProductTask& t, const HostCode& code) {
  SimdTask task = simd_task(t);
  if (t.plan.layout.row_list) {  // rows that are not listed are 0 or z, the others add to that
    const std::size_t scalars = std::size_t(t.rows) * t.problem.block.rows * (code.simd->complex_scalars ? 2 : 1);
    fill(task.y, task.z, scalars);
    task.z = task.y;
  }
  code.simd->run(task);
}

}  // namespace

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

/// A cache line, so that slices' groups of words start on one; a huge page for large arrays, which the kernel then maps
/// three times faster (docs/performance.md).
constexpr std::size_t cache_line = 64, huge_page = std::size_t{2} << 20;

void* allocate_aligned(std::size_t bytes) {
  const bool large = bytes >= 2 * huge_page;
  void* memory = nullptr;
  if (posix_memalign(&memory, large ? huge_page : cache_line, std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // advice: nothing is lost where it is not taken
#endif
  return memory;
}

class HostBackend final : public Backend {
 public:
  std::string_view name() const override { return "host"; }

  std::optional<std::string> applicable(const Plan& plan, const Problem& problem) const override {
    host::instruction_set_in_use();  // throws if the environment asks for what is not there: not first in a product
    if (plan.schedule.traversal != Traversal::rows) return "the host backend traverses by rows only";
    const Schedule& s = plan.schedule;
    if (s.of_device() || s.unroll != 1 || s.blocks != 0 || s.balance != Balance::grid || s.cache != Cache::keep)
      return "threads=, blocks=, unroll=, static, dynamic and stream are for devices";
    if (plan.schedule.lanes != 1) return "the host backend has one worker a row: lanes=1";
    if (host::find_kernels(plan, problem)) return {};
    if (entry_kind(plan.entry).user_defined)
      return "entry " + std::string(plan.entry) +
             " has no host kernels: register them (petsccompound/register_entry.hpp)";
    return "the host backend has dense blocks up to 32x32, the matrix has " + std::to_string(problem.block.rows) + "x" +
           std::to_string(problem.block.cols);
  }

  std::string_view code(const Plan& plan, const Problem& problem) const override {
    return name_of(host::find_simd(plan, problem) ? host::instruction_set_in_use() : host::InstructionSet::plain);
  }

  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) override {
    return std::make_unique<host::HostCode>(plan, problem);
  }

  void* allocate(std::size_t bytes) override { return allocate_aligned(bytes); }
  void release(void* memory) noexcept override { std::free(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

  void pack(const PackTask& t) override { host::find_kernels(t.plan, t.problem)->pack(t); }
  std::optional<count32> first_misfit(const FitTask& t) override {
    const BlockShape& b = t.problem.block;
    const auto kernels = host::find_kernels(t.entry, t.problem.scalar.precision, t.problem);
    const slot_t found = kernels->first_misfit(t.blocks, t.entries, b.rows, b.cols);
    if (found < 0) return {};
    return static_cast<count32>(found);
  }
  void multiply(const ProductTask& t) override {
    const host::HostCode& code = host::code_of(t);
    if (code.simd && t.op == Op::none)
      host::multiply_simd(t, code);
    else
      code.kernels.multiply(t);
  }

  void diagonal(const DiagonalTask& t) override { host::diagonal(t); }
  std::optional<idx> invert_diagonal(const DiagonalTask& t) override { return host::invert_diagonal(t); }
  void sum(const SumTask& t) override { host::sum(t); }
};

}  // namespace

Backend* host_backend() {
  static HostBackend backend;
  return &backend;
}

}  // namespace compound
