// Lines on stderr about what works, but slower than it could, or not as options ask.
#pragma once

#include <string>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Whether -mat_compound_warn, without a prefix, allows warnings. Matrices with a prefix also have Settings::warn.
bool warnings_are_on();

/// Whether this is the process that speaks for all: process 0 of PETSC_COMM_WORLD.
bool is_first_process();

/// Prints the line "petsc-compound: <text>", of this process.
PetscErrorCode warn(const std::string& text);

/// What is said once in a program.
enum class Once { block_size, assembly, device_tables };
bool was_said(Once topic);
/// warn(), by the first process and the first time only.
PetscErrorCode warn_once(Once topic, const std::string& text);

/// After PetscFinalize() a program begins anew.
void forget_warnings();

}  // namespace compound::plugin
