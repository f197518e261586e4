#include "vectors_avx512.hpp"

#include "table.hpp"

namespace compound::host {

SimdKernels avx512_of_floats() { return kernels_of<float>; }

}  // namespace compound::host
