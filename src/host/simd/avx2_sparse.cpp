#include "vectors_avx2.hpp"

#include "sparse_products.hpp"

namespace compound::host {

const SparseKernel* avx2_sparse() { return sparse_kernels.row; }

}  // namespace compound::host
