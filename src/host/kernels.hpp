// The host's compiled kernels as a table: entry, vector scalar and precision of the stored words are types, the rest of
// a plan is run-time values.
#pragma once

#include "../backend.hpp"
#include "../device/diagonal.hpp"

namespace compound::host {

struct Kernels {
  void (*multiply)(const ProductTask&);
  void (*pack)(const PackTask&);
  slot_t (*first_misfit)(const void* blocks, slot_t entries, int rows, int cols);  ///< -1: none
  void (*diagonal)(const DiagonalArgs&);
  void (*invert_diagonal)(const DiagonalArgs&);
};

/// One row of a scalar type's table.
struct KernelRow {
  std::string_view entry;
  bool any_shape;  ///< up to `rows` x `cols`
  int rows, cols;
  Kernels kernels;
};

/// The table of one (vector scalar, stored word) pair; each is compiled in a file of its own.
template <class S, class Real>
std::span<const KernelRow> kernel_table();

/// Null where nothing is compiled for the plan.
const Kernels* find_kernels(const Plan& plan, const Problem& problem);
const Kernels* find_kernels(std::string_view entry, Precision stored, const Problem& problem);

/// Fills y (blocks of n scalars in groups) with 0, or with z unless that is y itself.
template <class S>
void fill(S* y, const S* z, std::size_t scalars);

}  // namespace compound::host
