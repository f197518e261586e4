// Kernels of products of sparse matrices compile by NVRTC, on machines without a GPU too.
#include <gtest/gtest.h>

#include <iostream>

#include "cuda/nvrtc.hpp"
#include "cuda/sparse_product.hpp"

namespace compound::test {
namespace {

TEST(SparseProductSource, Compiles) {
  if (!cuda::nvrtc_version()) {
    std::cout << "skipped: there is no NVRTC here" << std::endl;
    GTEST_SKIP();
  }
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
      for (const bool transposed : {false, true})
        EXPECT_NO_THROW(cuda::compile(cuda::sparse_product_kernel(scalar, a, width, transposed).source, 90))
            << text_of(a) << " by " << width << (transposed ? ", transposed" : "");
}

}  // namespace
}  // namespace compound::test
