// Diagonals, inverses of diagonal blocks, and sums of scalars by lists on the host.
#pragma once

#include <optional>
#include <span>

#include "backend/backend.hpp"

namespace compound::host {

void diagonal(std::span<const DiagonalTask> parts);
std::optional<idx> invert_diagonal(std::span<const DiagonalTask> parts);
void sum(const SumTask& task);

}  // namespace compound::host
