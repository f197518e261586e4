// Lists of contributions on a device (backend/contributions.hpp).
#pragma once

#include <cuda_runtime.h>

#include "backend/contributions.hpp"

namespace compound::cuda {

std::optional<ContributionLists> list_contributions(Backend& on, const ContributionsTask& task, cudaStream_t queue);

/// What it launches for indices of so many bytes.
std::vector<std::string> contribution_sources(int index_bytes);

}  // namespace compound::cuda
