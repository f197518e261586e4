// What is known of a compound matrix's packed copies: figures, and the plan in words.
#pragma once

#include <string>

#include "petsccompound.h"
#include "spmv/state.hpp"

namespace compound::plugin {

/// The copy that multiplies where matrix and vectors are as they were: the device's before the host's. Null if none is.
const PackedCopy* copy_in_use(const SeqState& st);

/// This process's figures.
PetscErrorCode collect_info(Mat A, MatCompoundInfo* info);

/// "<plan>" or "<plan> off: <plan>"; empty before the first product.
PetscErrorCode plan_line(Mat A, std::string* line);

}  // namespace compound::plugin
