// The host's compiled kernels as a table: entry, vector scalar and precision of the stored words are types, the rest of
// a plan is run-time values.
#pragma once

#include <optional>

#include "../backend.hpp"
#include "../device/host_entry.hpp"

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

inline host_product host_product_of(const ProductTask& t) {
  const LayoutSpec& l = t.plan.layout;
  const BlockShape& b = t.problem.block;
  const bool gathers = t.op == Op::none;
  host_product p;
  p.layout = t.layout;
  p.rows = b.rows;
  p.cols = b.cols;
  p.words = word_map_of(l.word_group, t.layout.slots);
  p.x_words = word_map_of(l.vector_group, gathers ? t.cols : t.rows);
  p.y_words = word_map_of(l.vector_group, gathers ? t.rows : t.cols);
  p.words_by_row = l.word_order == WordOrder::row;
  p.row_list = l.row_list;
  p.y_scalars = static_cast<slot_t>(gathers ? vector_scalars(t.rows, b.rows, l.vector_group)
                                            : vector_scalars(t.cols, b.cols, l.vector_group));
  p.op = t.op;
  p.update = t.update;
  p.values = t.values;
  p.x = t.x;
  p.z = t.z;
  p.y = t.y;
  return p;
}

inline host_packing host_packing_of(const PackTask& t) {
  const LayoutSpec& l = t.plan.layout;
  host_packing p;
  p.layout = t.layout;
  p.rows = t.problem.block.rows;
  p.cols = t.problem.block.cols;
  p.words = word_map_of(l.word_group, t.layout.slots);
  p.words_by_row = l.word_order == WordOrder::row;
  p.first_entry = t.layout.first_entry;
  p.blocks = t.blocks;
  p.values = t.values;
  return p;
}

/// Empty where nothing is compiled for the plan.
std::optional<Kernels> find_kernels(const Plan& plan, const Problem& problem);
std::optional<Kernels> find_kernels(std::string_view entry, Precision stored, const Problem& problem);

/// Fills y (blocks of n scalars in groups) with 0, or with z unless that is y itself.
template <class S>
void fill(S* y, const S* z, std::size_t scalars);

}  // namespace compound::host
