#include "vectors_avx2.hpp"

#include "table.hpp"

namespace compound::host {

SimdKernels avx2_of_doubles() { return kernels_of<double>; }

}  // namespace compound::host
