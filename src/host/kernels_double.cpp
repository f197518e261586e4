#include "kernel_table.hpp"

namespace compound::host {

template std::span<const KernelRow> kernel_table<double, double>();

}  // namespace compound::host
