// The options -mat_compound_*.
#pragma once

#include <span>
#include <string_view>

#include "options/settings.hpp"

namespace compound::plugin {

/// Sets one option by its name without the prefix `-mat_compound_`; throws `argument` listing what is allowed.
void set(Settings& settings, std::string_view option, const std::string& value);

/// The value of an option, as set() takes it.
std::string get(const Settings& settings, std::string_view option);

/// mat_compound_layout, ..., of all options.
std::span<const std::string_view> option_names();

/// Reads -<prefix>mat_compound_* into `settings` and lists them under -help.
PetscErrorCode read_options(Mat A, Settings& settings);

/// read_options() unless it was done: programs that never call MatSetFromOptions() get their options at first use.
inline PetscErrorCode read_options_once(Mat A, Settings& settings) {
  return settings.options_read ? PETSC_SUCCESS : read_options(A, settings);
}

}  // namespace compound::plugin
