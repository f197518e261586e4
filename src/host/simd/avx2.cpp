#include "vectors_avx2.hpp"

#include "table.hpp"

namespace compound::host {

SimdTable avx2_table() { return table; }

}  // namespace compound::host
