// Products and packing on the host: by vector instructions, by a form of the plain kernel that knows the layout, or
// over lists of its rows.
#pragma once

#include <optional>

#include "diagonals.hpp"
#include "kernels.hpp"
#include "simd/task.hpp"

namespace compound::host {

/// Found once for a packed matrix, not at each product.
struct HostCode : Code {
  using Run = void (*)(const ProductTask&, const HostCode&);
  Run gather;   ///< y = [z +] A x
  Run scatter;  ///< y = [z +] A^T x or A^H x

  const LayoutFamily& family;
  Plan read;  ///< plan_as_read()
  Kernels kernels;
  const SimdKernel* simd;                 ///< null: products go by the plain kernel
  void (*row_words)(const ProductTask&);  ///< the plain kernel of words by scalar rows; null where they lie otherwise
  bool in_rows, in_slices_of_8;           ///< which plain kernels know the layout
  bool by_pieces;                         ///< what knows the layout is given it by pieces

  HostCode(const Plan& plan, const Problem& problem);
  /// Whether there are kernels that know the layout's rows; otherwise it goes by lists.
  bool knows_rows(Op op) const;

  std::string_view name() const override;
  std::string remark(const Plan& plan, const Problem& problem) const override;
  std::size_t bytes() const override { return room_.bytes(); }
  void diagonal(const DiagonalTask& task) override { host::diagonal(task, kernels); }

  /// For x of products with several vectors: kept, since new memory costs more than a product.
  double* room_for(slot_t numbers) const;

 private:
  mutable Buffer<double> room_;
};

/// Null where the plain kernel multiplies.
const SimdKernel* find_simd(const Plan& plan, const Problem& problem);

/// The task has a HostCode.
inline void multiply(const ProductTask& t) {
  const auto& code = static_cast<const HostCode&>(*t.code);
  (t.op == Op::none ? code.gather : code.scatter)(t, code);
}
/// False where no kernel takes several vectors together.
bool multiply_vectors(const ProductTask& t, const VectorsTask& vectors);
/// It need not have one.
void pack(const PackTask& task);

}  // namespace compound::host
