// Diagonals, inverses of diagonal blocks, and sums of scalars by lists on the host.
#pragma once

#include <optional>

#include "../backend.hpp"

namespace compound::host {

void diagonal(const DiagonalTask& task);
std::optional<idx> invert_diagonal(const DiagonalTask& task);
void sum(const SumTask& task);

}  // namespace compound::host
