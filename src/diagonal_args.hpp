// From a backend's tasks to the arguments of the device text.
#pragma once

#include "backend.hpp"
#include "device/diagonal.hpp"
#include "device/sum_lists.hpp"

namespace compound {

/// Throws `argument` unless the blocks are square. `inverted`: [rows], for inverses only.
DiagonalArgs diagonal_args(const DiagonalTask& task, unsigned char* inverted = nullptr);

SumArgs sum_args(const SumTask& task);

}  // namespace compound
