// A build whose CUDA toolkit has no header of cuSPARSE.
#include "cuda/cusparse.hpp"

namespace compound::cuda {

std::optional<std::string> why_no_cusparse(const LibraryProduct& product) {
  return std::string(product.word) +
         " needs cuSPARSE, and this build does not know it: there was no cusparse.h beside CUDA's headers";
}

std::optional<std::string> cusparse_version() { return {}; }

int cusparse_product_count() { return 0; }

std::unique_ptr<CusparseMatrix> cusparse_matrix(const LibraryProduct&, const Plan&, const Problem&) { return nullptr; }

}  // namespace compound::cuda
