// Options of this plugin that have no effect: misspelt, or with a prefix that no matrix or solver has. Each gets one
// line of process 0, once in a program.
#pragma once

#include <span>
#include <string_view>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// ksp_compound_loop, ..., of plugin/ksp and plugin/pc.
std::span<const std::string_view> solver_option_names();

/// Options whose names are none of this plugin's. `options`: a matrix's database; null: PETSc's own. `of_matrices`:
/// option_names().
PetscErrorCode report_unknown_options(PetscOptions options, std::span<const std::string_view> of_matrices);

/// A matrix with this prefix, or null, has read its options.
void note_prefix(const char* prefix);

/// At PetscFinalize(): the same, and options that nothing has read. Then forgets all.
PetscErrorCode report_unused_options(std::span<const std::string_view> of_matrices);

}  // namespace compound::plugin
