#include "vectors_avx512.hpp"

#include "table.hpp"

namespace compound::host {

SimdTable avx512_table() { return table; }

}  // namespace compound::host
