#include "vectors_avx512.hpp"

#include "table.hpp"

namespace compound::host {

SimdKernels avx512_of_doubles() { return kernels_of<double>; }

}  // namespace compound::host
