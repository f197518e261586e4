#include "vectors_avx2.hpp"

#include "table.hpp"

namespace compound::host {

SimdKernels avx2_of_floats() { return kernels_of<float>; }

}  // namespace compound::host
