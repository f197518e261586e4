// Diagonals, inverses of diagonal blocks, and sums of scalars by lists on the host.
#pragma once

#include "backend/backend.hpp"
#include "kernels.hpp"

namespace compound::host {

void diagonal(const DiagonalTask& task, const Kernels& kernels);
void sum(const SumTask& task);

}  // namespace compound::host
