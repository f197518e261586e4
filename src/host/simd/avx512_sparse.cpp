#include "vectors_avx512.hpp"

#include "sparse_products.hpp"

namespace compound::host {

const SparseKernel* avx512_sparse() { return sparse_kernels.row; }

}  // namespace compound::host
