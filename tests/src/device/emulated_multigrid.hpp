// Kernels of multigrid's set-up by the device text on the host (emulated_multigrid.cpp). Steps are by their numbers in
// backend/multigrid.hpp, arguments the structures of the device text.
#pragma once

namespace emulated {

void run_graph_step(int step, const void* aggregate_args);
/// Blocks of `size`, 1 or 3, of doubles.
void run_strength_step(int step, int size, const void* strength_args);
/// Tables of a warp, or of a block of threads.
void collect_columns(bool of_warp, int inner, const void* product_pattern_args);
void run_transpose_step(int step, const void* transpose_args);
void orthonormalize(const void* basis_args);
void smooth_rows(const void* smooth_args);

}  // namespace emulated
