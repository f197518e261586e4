// Kernels of products of sparse matrices compile by NVRTC, on machines without a GPU too.
#include <gtest/gtest.h>

#include "cuda/sparse_product.hpp"
#include "support/compiles.hpp"

namespace compound::test {
namespace {

class SparseProductSource : public ByNvrtc {};

TEST_F(SparseProductSource, Compiles) {
  struct Sizes {
    BlockShape a;
    int width;
  };
  for (const auto& [a, width] : {Sizes{{1, 1}, 1},
                                 {{2, 2}, 2},
                                 {{3, 3}, 3},
                                 {{3, 3}, 6},
                                 {{6, 3}, 6},
                                 {{6, 6}, 6},
                                 {{6, 6}, 3},
                                 {{9, 5}, 2},
                                 {{17, 1}, 33}})
    for (const ScalarType scalar : {scalar_type_of<double>(), scalar_type_of<complex_number<float>>()})
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(text_of(a) + " by " + std::to_string(width) + (transposed ? ", transposed" : ""));
        expect_compiles(cuda::sparse_product_kernel(scalar, a, width, transposed).source);
      }
}

}  // namespace
}  // namespace compound::test
