#include "kernels.hpp"

#include "entry/registry.hpp"
#include "shape.hpp"

namespace compound::host {

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

// A user's kernels know plain structures only.

const host_kernels& kernels_in(const host_entry& e, Precision stored) {
  return stored == Precision::single ? e.in_float : e.in_double;
}

std::optional<Kernels> registered_kernels(std::string_view entry, Precision stored, ScalarType scalar) {
  const host_entry* const e = registered_host_entry(entry, scalar);
  if (!e || !kernels_in(*e, stored).multiply) return {};
  const host_kernels& k = kernels_in(*e, stored);
  return Kernels{.in_lists = k.multiply,
                 .pack = k.pack,
                 .first_misfit = e->first_misfit,
                 .diagonal = k.diagonal,
                 .invert_diagonal = k.invert_diagonal};
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

}  // namespace compound::host
