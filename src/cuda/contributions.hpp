// Lists of contributions on a device (backend/contributions.hpp).
#pragma once

#include <cuda_runtime.h>

#include "backend/contributions.hpp"

namespace compound::cuda {

std::optional<ContributionLists> list_contributions(Backend& on, const ContributionsTask& task, cudaStream_t queue);

}  // namespace compound::cuda
