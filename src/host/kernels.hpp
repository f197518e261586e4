// The host's compiled kernels as a table: entry, vector scalar and precision of the stored words are types, the rest of
// a plan is run-time values.
#pragma once

#include <optional>

#include "../host_text/host_entry.hpp"
#include "backend/backend.hpp"

namespace compound::host {

/// Of a kind of entry and a precision of its stored words. What is null goes by the function above it, which serves any
/// plan.
struct Kernels {
  void (*in_lists)(const host_product&);
  /// Compressed rows of blocks that lie one after the other, by column: they may be PETSc's own.
  void (*in_rows)(const ProductTask&) = nullptr;
  /// Slices of 8 with words in groups of 8; A itself only.
  void (*gather_in_slices_of_8)(const ProductTask&) = nullptr;
  void (*pack)(const host_packing&);
  void (*pack_in_rows)(const host_packing&) = nullptr;
  void (*pack_in_groups_of_8)(const host_packing&) = nullptr;
  slot_t (*first_misfit)(const void* blocks, slot_t entries, int rows, int cols);  ///< -1: none
  void (*diagonal)(const host_diagonal&);
  void (*invert_diagonal)(const host_diagonal&);
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

/// All of it but the lists.
inline host_product host_product_of(const ProductTask& t) {
  const LayoutSpec& l = t.plan.layout;
  const bool gathers = t.op == Op::none;
  host_product p;
  p.rows = t.problem.block.rows;
  p.cols = t.problem.block.cols;
  p.words = matrix_word_map(t.plan, t.problem, t.layout.slots);
  p.x_words = word_map_of(l.vector_group, gathers ? t.cols : t.rows);
  p.y_words = word_map_of(l.vector_group, gathers ? t.rows : t.cols);
  p.words_by_row = l.word_order == WordOrder::row;
  p.op = t.op;
  p.update = t.update;
  p.half = t.plan.half != Half::none;
  p.values = t.values;
  p.x = t.x;
  p.z = t.z;
  p.y = t.y;
  return p;
}

/// Empty where nothing is compiled for the plan.
std::optional<Kernels> find_kernels(const Plan& plan, const Problem& problem);
std::optional<Kernels> find_kernels(std::string_view entry, Precision stored, const Problem& problem);

}  // namespace compound::host
