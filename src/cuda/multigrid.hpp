// Set-up of multigrid on a device (backend/multigrid.hpp), and patterns of products (backend/sparse_products.hpp).
#pragma once

#include <cuda_runtime.h>

#include "backend/multigrid.hpp"

namespace compound::cuda {

std::optional<PlacedRows> product_pattern(Backend& on, const PlacedRows& A, const PlacedRows& B, bool with_b,
                                          cudaStream_t queue);
std::optional<PlacedTransposed> transposed(Backend& on, const PlacedRows& A, cudaStream_t queue);

bool is_symmetric(Backend& on, const PlacedRows& graph, cudaStream_t queue);
PlacedRows strong_edges(Backend& on, const StrengthTask& task, cudaStream_t queue);
std::vector<idx> roots(Backend& on, const PlacedRows& graph, int distance, cudaStream_t queue);
void orthonormalize(Backend& on, ScalarType scalar, const basis_args& args, slot_t nodes, cudaStream_t queue);
void smooth(ScalarType scalar, const smooth_args& args, cudaStream_t queue);

}  // namespace compound::cuda
