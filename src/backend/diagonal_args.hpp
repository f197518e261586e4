// From a backend's tasks to the arguments of the device text.
#pragma once

#include <optional>
#include <span>

#include "backend/backend.hpp"
#include "device/diagonal.hpp"
#include "device/sum_lists.hpp"

namespace compound {

/// Throws `argument` unless the blocks are square. `inverted`: [rows], for inverses only.
DiagonalArgs diagonal_args(const DiagonalTask& task, unsigned char* inverted = nullptr);

/// The first row that invert_diagonal() left at 0; empty if none is.
std::optional<idx> first_not_inverted(std::span<const unsigned char> inverted);

SumArgs sum_args(const SumTask& task);

}  // namespace compound
