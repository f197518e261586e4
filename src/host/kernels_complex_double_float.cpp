#include "kernel_table.hpp"

namespace compound::host {

template std::span<const KernelRow> kernel_table<complex_number<double>, float>();

}  // namespace compound::host
