// From a backend's tasks to the arguments of the device text.
#pragma once

#include "backend/backend.hpp"
#include "device/diagonal.hpp"
#include "device/sum_lists.hpp"

namespace compound {

DiagonalArgs diagonal_args(const DiagonalTask& task);
inline SumArgs sum_args(const SumTask& t) {
  return {t.sums, t.first, t.index, t.place, t.from, t.to, t.side, t.offset, t.shape, t.stride};
}

}  // namespace compound
